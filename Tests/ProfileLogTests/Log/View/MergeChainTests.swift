import ProfileLog
import TestSupport
import Testing

@Suite("Users merged one into the next")
struct MergeChainTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    private func user(_ number: Int) -> UserID { .externalID("user \(number)") }

    /// Users `0 ..< count`, with an event each, each merged into the next.
    private func chain(_ count: Int, options: LogOptions = LogOptions()) throws -> EventLog {
        let log = try folder.open(options: options)
        var builder = log.prepare(capacity: count)
        for number in 0..<count {
            try builder.add(.customEventLogged(CustomEvent(name: "a")), .test, to: user(number))
        }
        _ = try log.commit(builder.finish())
        let merges = try (1..<count).map {
            try PreparedAppend.identity(.merge(source: user($0 - 1), target: user($0)), context: .test)
        }
        for merge in log.commit(merges) { _ = try merge.get() }
        return log
    }

    /// The events named `a` of `user`.
    private func events(of user: UserID, _ log: EventLog) throws -> UInt64? {
        guard let number = try log.find(user)?.number else { return nil }
        return try log.named(log.profile(of: number)).customEvents.first?.occurrences.count
    }

    @Test("All of a chain of merges counts, and all of it is erased, however long it is")
    func long() throws {
        let count = 20_000
        let log = try chain(count)
        #expect(try events(of: user(count - 1), log) == UInt64(count))
        let erasure = try log.erase([user(count - 1)], actor: "a test", reason: "asked to")
        // Each was created, had an event, and all but the first took one over.
        #expect(erasure.users.count == 1 && erasure.events == 3 * count - 1)
        #expect(try log.find(user(count - 1)) == nil && log.find(user(0)) == nil)
        #expect(try log.history(of: UserNumber(rawValue: 1)).allSatisfy(\.isErased))
    }

    @Test("A tree of merges gives the same state as a replay, snapshot or not", arguments: [1, 3, 100])
    func tree(snapshotInterval: Int) throws {
        var options = LogOptions.small(clock, indexLag: 9)
        options.snapshotInterval = snapshotInterval
        let log = try chain(12, options: options)
        for number in 12..<20 {
            _ = try log.append([.customEventLogged(CustomEvent(name: "a"))], to: user(number))
        }
        for (source, target) in [(12, 13), (14, 15), (13, 15), (15, 11), (16, 17), (17, 11), (18, 19)] {
            _ = try log.commit(.identity(.merge(source: user(source), target: user(target)), context: .test))
            _ = try log.append([.customEventLogged(CustomEvent(name: "a"))], to: user(target))
        }
        #expect(try events(of: user(11), log) == 18 + 6)
        #expect(try events(of: user(19), log) == 3)
        #expect(try log.replay(threads: 2, verify: true).isEqual)
        try log.writeIndex()
        #expect(try log.replay(verify: true).isEqual)
    }
}
