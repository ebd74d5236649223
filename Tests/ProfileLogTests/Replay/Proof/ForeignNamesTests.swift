import ProfileLog
import TestSupport
import Testing

/// Each open log has its own table of names; what another instance or process adds, it learns when it begins to read.
@Suite("Names that another instance added")
struct ForeignNamesTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    private func open() throws -> EventLog {
        try folder.open(options: .small(clock), projections: [Names.self])
    }

    private func append(_ names: Range<Int>, to log: EventLog) throws {
        for name in names {
            _ = try log.append([.customEventLogged(CustomEvent(name: Name("event \(name)")))], to: .externalID("ana"))
        }
    }

    /// The names of all events; a name that the fold does not know is "?".
    private enum Names: UserProjection {
        static let name = "names"
        static let revision: UInt32 = 1
        static var initial: [String] { [] }

        static func apply(_ event: borrowing EventView, to state: inout [String]) {
            if event.kind == .customEventLogged { state.append(event.name?.text ?? "?") }
        }

        static func encode(_ state: [String]) -> [UInt8] { Array(state.joined(separator: "\n").utf8) }

        static func decode(_ bytes: UnsafeRawBufferPointer) -> [String]? {
            String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }

    private func expected(_ count: Int) -> [String] { (0..<count).map { "event \($0)" } }

    private func states(_ replayer: Replayer<Names>) -> [[String]] {
        var states: [[String]] = []
        replayer.forEachUser { _, _, state in if !state.isEmpty { states.append(state) } }
        return states
    }

    @Test("A replay that began before knows them when it goes on", arguments: [1, 3])
    func replay(threads: Int) throws {
        let (log, other) = (try open(), try open())
        try append(0..<3, to: log)
        let replayer = Replayer<Names>(log, threads: threads)
        try replayer.run()
        #expect(states(replayer) == [expected(3)])
        try append(3..<6, to: other)
        try replayer.run()
        #expect(states(replayer) == [expected(6)])
    }

    @Test("A replay of a log that has read nothing yet knows all of them")
    func freshReplay() throws {
        let (log, other) = (try open(), try open())
        try append(0..<4, to: other)
        let replayer = Replayer<Names>(log)
        try replayer.run()
        #expect(states(replayer) == [expected(4)])
    }

    @Test("What is added while a replay runs does not disturb it, and is known to the next")
    func meanwhile() throws {
        let (log, other) = (try open(), try open())
        try append(0..<2, to: other)
        let replayer = Replayer<Names>(log)
        try replayer.run { _ in (try? append(2..<4, to: other)) != nil }
        #expect(states(replayer) == [expected(2)])
        try replayer.run()
        #expect(states(replayer) == [expected(4)])
    }

    @Test("A state, a profile, a history, a copy")
    func reads() throws {
        let (log, other) = (try open(), try open())
        try append(0..<1, to: log)
        let ana = try #require(try log.find(.externalID("ana"))).number
        try append(1..<5, to: other)
        #expect(try log.state(Names.self, of: ana) == expected(5))
        try append(5..<6, to: other)
        let profile = try log.profile(of: ana)
        #expect(log.named(profile).customEvents.map(\.name.text) == expected(6))
        try append(6..<7, to: other)
        let last = try #require(try log.history(of: ana, direction: .backward, limit: 1).first)
        #expect(last.event == .customEventLogged(CustomEvent(name: "event 6")))
        try append(7..<8, to: other)
        let target = TemporaryFolder()
        _ = try log.replay(into: target.path)
        #expect(try EventLog(path: target.path).rows(.names) == other.rows(.names))
    }
}
