import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogFolds
@testable import ProfileLogLog

@Suite("A state that was long to fold is kept for the next reader")
struct KeptStateTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private let ana = UserID.externalID("ana")

    /// A log that another program wrote: there are no snapshots of the projection.
    private func filled(_ count: Int, indexLag: Int = 40) throws -> (log: EventLog, user: UserNumber) {
        let log = try folder.open(options: .small(clock, indexLag: indexLag))
        for _ in 0..<(count / 10) {
            _ = try log.append(
                Array(repeating: .customEventLogged(CustomEvent(name: "a")), count: 10), to: ana,
                context: EventContext(source: .rest, app: "shop"))
        }
        return (log, try #require(try log.find(ana)).number)
    }

    private func snapshots(_ log: EventLog) throws -> [[UInt8]: [UInt8]] {
        try log.rows(.snapshots).filter { $0.key.starts(with: KeyCoding.snapshotPrefix(UsageProjection.name, user: 1)) }
    }

    @Test("The first reader of a long fold writes one snapshot, and the next ones none")
    func written() throws {
        let (log, user) = try filled(1_100)
        let fresh = try log.state(UsageProjection.self, of: user)
        #expect(try snapshots(log).isEmpty)
        #expect(try log.states.keptState(UsageProjection.self, of: user) == fresh)
        let kept = try snapshots(log)
        #expect(kept.count == 1)
        _ = try log.append([.customEventLogged(CustomEvent(name: "a"))], to: ana)
        #expect(try log.states.keptState(UsageProjection.self, of: user) == fresh)
        #expect(try snapshots(log) == kept)
        try EventLog(path: folder.path, projections: [UsageProjection.self]).expectSound()
    }

    @Test("A kept state stays when the flush comes to the same version")
    func stays() throws {
        let user = try filled(1_100).user
        let log = try EventLog(
            path: folder.path, options: .small(clock, indexLag: 10_000), projections: [UsageProjection.self])
        _ = try log.append(Array(repeating: .customEventLogged(CustomEvent(name: "a")), count: 10), to: ana)
        _ = try log.states.keptState(UsageProjection.self, of: user)
        let kept = try snapshots(log)
        #expect(kept.count == 1)
        try log.writeIndex()
        #expect(try snapshots(log) == kept)
    }

    @Test("A short history is folded by each reader")
    func short() throws {
        let (log, user) = try filled(1_000)
        #expect(try log.states.keptState(UsageProjection.self, of: user).apps.count == 1)
        #expect(try snapshots(log).isEmpty)
    }

    @Test("A history that the index does not hold yet is left to its next flush")
    func ahead() throws {
        let (log, user) = try filled(1_200, indexLag: 10_000)
        #expect(try log.states.keptState(UsageProjection.self, of: user).apps.count == 1)
        #expect(try snapshots(log).isEmpty)
    }

    @Test("The state of a past version is kept as that of that version")
    func past() throws {
        let (log, user) = try filled(1_200)
        let version = Version(rawValue: 1_100)
        let past = try log.states.keptState(UsageProjection.self, of: user, asOf: version)
        clock.advance(1_000_000)
        _ = try log.append(
            [.customEventLogged(CustomEvent(name: "a"))], to: ana, context: EventContext(source: .rest, app: "late"))
        #expect(try log.states.keptState(UsageProjection.self, of: user).apps.keys.sorted() == ["late", "shop"])
        #expect(try log.states.keptState(UsageProjection.self, of: user, asOf: version) == past)
        try EventLog(path: folder.path, projections: [UsageProjection.self]).expectSound()
    }

    @Test("A state that was folded before an erasure is not kept after it")
    func erased() throws {
        let (log, user) = try filled(1_100)
        let seen = try log.lastPosition().rawValue
        let fold = try log.withView { view in
            try log.states.foldedState(UsageProjection.self, user.rawValue, version: 1_101, view)
        }
        _ = try log.erase([ana], actor: "a test", reason: "asked to")
        try log.states.keep(UsageProjection.self, fold, of: user, seen: seen)
        #expect(try snapshots(log).isEmpty)
        #expect(try log.states.keptState(UsageProjection.self, of: user) == UsageState())
    }
}
