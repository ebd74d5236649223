import Testing

@testable import ProfileLog

@Suite("The rows of a flush come in the order of their keys, some at a time")
struct TailRowsTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    @Test("All of them, once, however few are looked for", arguments: [1, 3, 64, Int.max])
    func inParts(limit: Int) throws {
        let log = try EventLog(path: folder.path, create: true, options: .small(clock, indexLag: 10_000))
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
            let all = log.tail.withReading { $0.rows(of: progress, snapshotInterval: 2, limit: .max) }
            #expect(!all.isEmpty)
            let keys = log.tail.withReading { tail in all.map { tail.key(of: $0, in: stage) } }
            #expect(zip(keys, keys.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
            var found: [Int] = []
            while true {
                let next = log.tail.withReading { $0.rows(of: progress, snapshotInterval: 2, limit: limit) }
                #expect(next.count <= limit)
                found += next
                guard let row = next.last else { break }
                progress.last = log.tail.withReading { $0.key(of: row, in: stage) }
            }
            #expect(found == all)
        }
    }
}
