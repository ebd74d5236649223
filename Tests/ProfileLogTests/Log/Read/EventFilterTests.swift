import ProfileLog
import TestSupport
import Testing

@Suite("Filters of events")
struct EventFilterTests {
    private let folder = TemporaryFolder()
    private let clock = TestClock(1_000)

    /// Events at the times 1000, 1001, 1002, … µs, the first of which is the user's creation, at the time of the
    /// second.
    private func filled() throws -> EventLog {
        let log = try folder.open(options: .small(clock))
        for name in ["a", "b", "c", "d"] as [Name] {
            _ = try log.append([.customEventLogged(CustomEvent(name: name))], to: .externalID("ana"))
            clock.advance(1)
        }
        return log
    }

    @Test(
        "Recorded at or after `since`, and before `before`: in the log and in a history, forwards and backwards",
        arguments: [
            (nil, nil, "abcd"), (1_001, nil, "bcd"), (nil, 1_001, "a"), (1_001, 1_003, "bc"), (1_002, 1_003, "c"),
            (1_002, 1_002, ""), (1_003, 1_001, ""), (1_004, nil, ""), (nil, 1_000, ""), (0, 2_000, "abcd"),
        ] as [(Int64?, Int64?, String)])
    func times(since: Int64?, before: Int64?, names: String) throws {
        let log = try filled()
        let filter = EventFilter(
            kinds: [.customEventLogged], since: since.map(Timestamp.init(rawValue:)),
            before: before.map(Timestamp.init(rawValue:)))
        func text(_ events: [RecordedEvent]) -> String {
            events.map { event in
                guard case .customEventLogged(let event) = event.event else { return "?" }
                return event.name.text
            }.joined()
        }
        #expect(text(try log.events(from: .start.next, limit: 100, where: filter).events) == names)
        let ana = try #require(try log.find(.externalID("ana"))).number
        #expect(text(try log.history(of: ana, limit: 100, where: filter)) == names)
        let backward = try log.history(of: ana, direction: .backward, limit: 100, where: filter)
        #expect(text(backward) == String(names.reversed()))
    }
}
