import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogFolds
@testable import ProfileLogLog

@Suite("Replaying")
struct ReplayTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    private func filled(_ seed: UInt64, count: Int) throws -> EventLog {
        var random = SeededGenerator(seed: seed)
        let log = try folder.open(options: .small(clock))
        for _ in 0..<count {
            clock.advance(1_000_000)
            let user = UserID.externalID("u\(random.next() % 7)")
            switch random.next() % 4 {
            case 0:
                let saved = ProfileEvent.customEventSaved(CustomEvent(name: Name("e\(random.next() % 3)")))
                _ = try log.append([saved], to: user, context: .saved(on: "d\(random.next() % 2)"))
            case 1: _ = try log.launch(device: "d\(random.next() % 2)")
            default:
                let change = AttributeChange(Name("a\(random.next() % 5)"), .increment(1))
                _ = try log.append([.customAttributesChanged([change])], to: user)
            }
        }
        return log
    }

    @Test("Stopping anywhere and resuming changes nothing", arguments: UInt64(0)..<16)
    func resume(seed: UInt64) throws {
        let log = try filled(seed, count: 60)
        let whole = Replayer<ProfileProjection>(log)
        try whole.run()
        let halted = Replayer<ProfileProjection>(log, threads: 2)
        let cut = Position(rawValue: seed * 5 % (try log.lastPosition().rawValue))
        try halted.run(to: cut)
        #expect(halted.position == cut)
        try halted.run()
        #expect(halted.digest() == whole.digest())
    }

    @Test("A replay with progress that says stop ends early, and says so")
    func stop() throws {
        let log = try filled(1, count: 20)
        // The log is shorter than a slice, so the stop comes with its end.
        let report = try log.replay { _ in false }
        #expect(report.isComplete)
        #expect(report.events == (try log.lastPosition().rawValue))
    }

    @Test("A replay that is stopped during an erasure reports no false differences")
    func stopBesideErasure() throws {
        let log = try filled(1, count: 40)
        let report = try log.replay(verify: true) { progress in
            if progress.stage == "replay" {
                for number in 0..<7 {
                    _ = try? log.erase([.externalID("u\(number)")], actor: "a test", reason: "asked to")
                }
            }
            return progress.stage != "proof"
        }
        #expect(!report.isComplete && report.isEqual, "\(report.differences)")
        #expect(try log.replay(verify: true).isEqual)
    }

    @Test("Live equals replay, at the end and after every launch; a changed snapshot is found")
    func proof() throws {
        folder.expectDamage()
        let log = try filled(3, count: 120)
        try log.writeIndex()
        #expect(try log.replay(verify: true).isEqual)
        // The newest snapshot of the last user: reads of now begin with it.
        let (key, row) = try #require(
            try log.rows(.snapshots).max { $0.key.lexicographicallyPrecedes($1.key) })
        var state = try #require(row.dropFirst(4).dropLast(4).withUnsafeBytes { ProfileProjection.decode($0) })
        state.launches.count += 1
        let forged = SnapshotRow.bytes(
            revision: ProfileProjection.revision, state: ProfileProjection.encode(state))
        try log.damage(.snapshots, key) { $0 = forged }
        #expect(try !log.replay(verify: true).isEqual)
    }

    @Test("A copy into a fresh store is identical, also when it was stopped half-way")
    func copy() throws {
        let log = try filled(5, count: 100)
        let target = TemporaryFolder()
        let half = Position(rawValue: try log.lastPosition().rawValue / 2)
        _ = try log.replay(into: target.path, until: half)
        let report = try log.replay(into: target.path)
        #expect(report.isComplete && report.isEqual)
        let copy = try EventLog(path: target.path, options: .small(clock))
        #expect(try copy.rows(.log) == log.rows(.log))
        #expect(try copy.rows(.names) == log.rows(.names))
        #expect(copy.storeID == log.storeID)
        #expect(try copy.replay().digest == log.replay().digest)
    }

    @Test("A folder with another log is refused as the target of a copy")
    func foreignTarget() throws {
        let log = try filled(5, count: 10)
        let target = TemporaryFolder()
        let other = try target.open(options: .small(clock))
        _ = try other.append([.customEventLogged(CustomEvent(name: "a"))], to: .externalID("x"))
        #expect(throws: AppendError.self) { try log.replay(into: target.path) }
    }

    @Test("Replaying as of a version, a position and a time")
    func asOf() throws {
        let log = try folder.open(options: .small(clock))
        for value in 1...50 {
            clock.advance(1_000_000)
            _ = try log.append(
                [.customAttributesChanged([AttributeChange("n", .set(.int(Int64(value))))])], to: .externalID("ana"))
        }
        let ana = try #require(try log.find(.externalID("ana")))
        for version in [2, 9, 26, 51] as [UInt64] {
            let state = try log.profile(of: ana.number, asOf: Version(rawValue: version))
            #expect(log.named(state).customAttributes.first?.value == .int(Int64(version) - 1))
        }
        let time = Timestamp(rawValue: clock.now.rawValue - 20_500_000)
        let position = try log.reader.past.lastPosition(recordedBy: time)
        #expect(position.rawValue == 30)
        #expect(try log.reader.past.version(of: ana.number, at: position).rawValue == 30)
    }

    @Test("An embedder's own projection gets snapshots, reads, replay and its proof")
    func ownProjection() throws {
        folder.expectDamage()
        let log = try folder.open(
            options: .small(clock),
            projections: [ProfileProjection.self, SourceProjection.self])
        for index in 0..<60 {
            let source: EventSource = index % 3 == 0 ? .rest : .app
            _ = try log.append(
                [.customEventLogged(CustomEvent(name: "a"))], to: .externalID("ana"),
                context: EventContext(source: source))
        }
        try log.writeIndex()
        let ana = try #require(try log.find(.externalID("ana")))
        let live = try log.state(SourceProjection.self, of: ana.number)
        #expect(live.counts[.rest] == 20 && live.counts[.app] == 40 && live.counts[.system] == 1)
        let replayer = Replayer<SourceProjection>(log)
        try replayer.run()
        replayer.forEachUser { _, _, state in #expect(SourceProjection.encode(state) == SourceProjection.encode(live)) }
        try log.expectSound()
        #expect(try log.replay(SourceProjection.self, verify: true).isEqual)
        let (key, _) = try #require(
            try log.rows(.snapshots).filter { $0.key.dropFirst().starts(with: Array("sources".utf8)) }.max {
                $0.key.lexicographicallyPrecedes($1.key)
            })
        let forged = SnapshotRow.bytes(revision: 1, state: SourceProjection.encode(.init(counts: [.cli: 1])))
        try log.damage(.snapshots, key) { $0 = forged }
        #expect(try !log.replay(SourceProjection.self, verify: true).isEqual)
    }
}
