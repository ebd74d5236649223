import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog

@Suite("The rows of a flush come in the order of their keys, some at a time")
struct TailRowsTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    @Test("A flush finds all rows once, however few are looked for", arguments: [1, 3, 64, Int.max])
    func inParts(limit: Int) throws {
        let log = try folder.open(options: .small(clock, indexLag: 10_000))
        var random = SeededGenerator(seed: 3)
        for round in 0..<120 {
            let name = "u\(random.next(below: 50))"
            _ = try log.append(
                [.customEventSaved(CustomEvent(name: "saved"))], to: .email("\(name)@example.com"),
                context: .saved(on: "d\(random.next(below: 30))"), idempotencyKey: "k\(round)")
        }
        let last = try log.lastPosition().rawValue
        let (begin, end) = (last / 4, last - 5)
        for stage in [FlushProgress.Stage.streams, .snapshots, .identifiers, .contacts, .keys, .users, .devices] {
            var progress = FlushProgress(checkpoint: begin, target: end)
            progress.stage = stage
            let all = log.store.tail.withReading { $0.rows(of: progress, snapshotInterval: 2, limit: .max) }
            #expect(!all.isEmpty)
            let keys = log.store.tail.withReading { tail in all.map { tail.key(of: $0, in: stage) } }
            #expect(zip(keys, keys.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
            var found: [Int] = []
            while true {
                let next = log.store.tail.withReading { $0.rows(of: progress, snapshotInterval: 2, limit: limit) }
                #expect(next.count <= limit)
                found += next
                guard let row = next.last else { break }
                progress.last = log.store.tail.withReading { $0.key(of: row, in: stage) }
            }
            #expect(found == all)
        }
    }

    @Test("A snapshot is due for users whose number of events crosses the interval, and for no others")
    func snapshots() throws {
        let log = try folder.open(options: .small(clock, indexLag: 10_000))
        func append(_ events: Int, _ user: String) throws {
            let played = ProfileEvent.customEventLogged(CustomEvent(name: "played"))
            _ = try log.append(Array(repeating: played, count: events), to: .externalID(user))
        }
        // With the event that makes each of them: 8, 9 and 7 of an interval of 8.
        try append(7, "reaches")
        try append(8, "passes")
        try append(6, "stays below")
        try log.writeIndex()
        let begin = try log.lastPosition().rawValue
        try append(2, "stays below")
        try append(6, "passes")
        try append(20, "reaches")
        let end = try log.lastPosition().rawValue
        func users(upTo target: UInt64, interval: Int = 8) -> [String] {
            var progress = FlushProgress(checkpoint: begin, target: target)
            progress.stage = .snapshots
            let rows = log.store.tail.withReading { $0.rows(of: progress, snapshotInterval: interval, limit: .max) }
            return rows.map { ["reaches", "passes", "stays below"][$0 - 1] }
        }
        #expect(users(upTo: end) == ["reaches", "stays below"])
        #expect(users(upTo: end - 13) == ["stays below"])
        #expect(users(upTo: end, interval: 0).isEmpty)
    }
}
