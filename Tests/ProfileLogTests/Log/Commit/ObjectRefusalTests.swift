import ProfileLog
import TestSupport
import Testing

@Suite("What requests left out")
struct LeftOutTests {
    let folder = TemporaryFolder()
    private let ana = UserID.externalID("ana")
    private let whole = ObjectRefusal(list: "events", index: 3, reason: "'time' is required")
    private let field = ObjectRefusal(list: "attributes", index: 0, field: "shoe", reason: "is too long")

    private func open(_ clock: TestClock = TestClock()) throws -> EventLog {
        try folder.open(
            options: .small(clock, indexLag: 3), projections: [ProfileProjection.self])
    }

    private func leaveOut(_ items: [ObjectRefusal], of user: UserID?, _ log: EventLog) throws {
        var builder = log.prepare()
        try builder.leaveOut(items, of: user)
        _ = try log.commit(builder.finish())
    }

    @Test(
        "A note about skipped objects belongs to their user, or to the system, without a name that could not be erased")
    func places() throws {
        let log = try open()
        var builder = log.prepare()
        try builder.add(
            .customEventLogged(CustomEvent(name: "e")), EventContext(source: .rest), to: ana)
        try builder.leaveOut([field, whole], of: ana)
        try builder.leaveOut([field], of: .externalID("nobody"))
        let receipt = try log.commit(builder.finish(idempotencyKey: "k", note: [1]))
        #expect(receipt.places.map(\.user.rawValue) == [1, 1, 1, 0])
        let all = try log.reader.items.leftOut()
        #expect(all.map(\.what) == [field, whole, field.anonymous])
        #expect(all.map(\.user.rawValue) == [1, 1, 0])
        let number = try #require(try log.find(ana)).number
        #expect(try log.reader.items.leftOut(of: number).map(\.what) == [field, whole])
        let again = try log.reader.events.append(underKey: "k")
        #expect(again?.places == receipt.places)
        #expect(try log.find(.externalID("nobody")) == nil)
        #expect(try log.reader.statistics().extent.users == 1)
    }

    @Test("An append that is cut in two leaves out once, after all its events")
    func split() throws {
        let log = try open()
        var builder = log.prepare()
        for _ in 0..<4 {
            try builder.add(.customEventLogged(CustomEvent(name: "e")), EventContext(source: .rest), to: ana)
        }
        try builder.leaveOut([whole], of: ana)
        let (beginning, rest) = try builder.finish(idempotencyKey: "k").split(at: 3, restKey: "k, the rest")
        #expect(try log.commit(beginning).places.count == 4)
        #expect(try log.reader.items.leftOut().isEmpty)
        #expect(try log.commit(rest).places.count == 2)
        #expect(try log.reader.items.leftOut().map(\.what) == [whole])
        #expect(try log.commit(beginning).isRepetition && log.commit(rest).isRepetition)
    }

    @Test("What a request skipped changes no profile, count or digest of a replay, whatever its size")
    func many() throws {
        let clock = TestClock()
        for step in 0..<60 {
            let log = try open(clock)
            try leaveOut([whole], of: step % 3 == 0 ? nil : ana, log)
            if step % 7 == 0 { _ = try log.append([.customEventLogged(CustomEvent(name: "e"))], to: ana) }
        }
        let log = try open(clock)
        try log.expectSound()
        let report = try log.replay(threads: 2, verify: true)
        #expect(report.isEqual && report.users == 1)
        #expect(try log.check().users == 1)
        #expect(try log.reader.items.leftOut().count == 60)
        let copy = TemporaryFolder()
        #expect(try log.replay(into: copy.path).isEqual)
        #expect(try EventLog(path: copy.path).reader.items.leftOut() == log.reader.items.leftOut())
    }

    @Test("What a request skipped is erased with the person, and follows a merge")
    func erased() throws {
        let log = try open()
        let bo = UserID.externalID("bo")
        for user in [ana, bo] {
            _ = try log.append([.customEventLogged(CustomEvent(name: "e"))], to: user)
            try leaveOut([field], of: user, log)
        }
        _ = try log.commit(.identity(.merge(source: bo, target: ana), context: .test))
        let number = try #require(try log.find(ana)).number
        #expect(try log.reader.items.leftOut(of: number).count == 2)
        _ = try log.erase([ana], actor: "a test", reason: "asked to")
        #expect(try log.reader.items.leftOut().isEmpty)
    }

    @Test("More than an event or an append holds is refused")
    func tooMuch() throws {
        let log = try open()
        var builder = log.prepare()
        let long = ObjectRefusal(list: "events", index: 0, reason: String(repeating: "x", count: 1 << 20))
        #expect(throws: AppendError.self) { try builder.leaveOut([long], of: nil) }
    }
}
