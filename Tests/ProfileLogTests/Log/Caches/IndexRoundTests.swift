import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog

@Suite("Caches that lack much are written in rounds")
struct IndexRoundTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    private func open(greatestLag: UInt64 = 1 << 20) throws -> EventLog {
        var options = LogOptions.small(clock, indexLag: 100_000)
        options.usersPerIndexSlice = 16
        options.greatestLag = greatestLag
        return try folder.open(options: options)
    }

    private func fill(_ log: EventLog) throws {
        for round in 0..<500 {
            let saved = ProfileEvent.customEventSaved(CustomEvent(name: "saved"))
            _ = try log.append(
                [saved], to: .externalID("u\(round % 60)"), context: .saved(on: "d\(round % 9)"),
                idempotencyKey: "k\(round)")
        }
    }

    @Test("Opening a store without a checkpoint, and one whose checkpoint cannot be used", arguments: [false, true])
    func opened(isDamaged: Bool) throws {
        var log = try open()
        try fill(log)
        if isDamaged {
            try log.writeIndex()
            try log.damage(.checkpoints, IndexCheckpoint.key) { $0[9] ^= 1 }
        }
        log = try open(greatestLag: 50)
        #expect(log.store.tail.withReading { $0.entries.count } <= 100)
        try log.expectSound()
        try log.writeIndex()
        try log.expectSound()
        #expect(try log.replay(verify: true).isEqual)
    }

    @Test("Caches written in rounds are the caches written at once")
    func same() throws {
        var log = try open()
        try fill(log)
        try log.writeIndex()
        let tables = Table.Name.allCases.filter { !$0.isTruth && $0 != .snapshots }
        let atOnce = try tables.map { try log.rows($0) }
        log = try open(greatestLag: 50)
        try log.rebuildCaches()
        #expect(try tables.map { try log.rows($0) } == atOnce)
    }

    @Test("A damaged log keeps its caches, and opens without them")
    func damaged() throws {
        folder.expectDamage()
        var log = try open()
        try fill(log)
        try log.writeIndex()
        try log.damage(.log, withNumberKey(70) { Array($0) }) { $0[5] ^= 1 }
        log = try open(greatestLag: 50)
        #expect(throws: StorageError.damaged(place: "the record at position 70 fails its checksum")) {
            try log.rebuildCaches()
        }
        #expect(try log.reader.statistics().extent.indexed == log.lastPosition())
        try log.remove(.checkpoints, IndexCheckpoint.key)
        log = try open(greatestLag: 50)
        #expect(try log.lastPosition().rawValue == log.store.tail.withReading { $0.last })
    }
}
