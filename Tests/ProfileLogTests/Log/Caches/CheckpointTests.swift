import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog
@testable import ProfileLogStore

@Suite("Caches that are damaged, stale or of another program are rebuilt from the log")
struct CheckpointTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private let played = ProfileEvent.customEventLogged(CustomEvent(name: "played"))

    private func open(_ projections: [any Projection.Type] = [ProfileProjection.self]) throws -> EventLog {
        try folder.open(options: .small(clock, indexLag: 10), projections: projections)
    }

    private func fill(_ log: EventLog, _ count: Int = 30) throws {
        for round in 0..<count {
            _ = try log.append([played], to: .externalID(round % 2 == 0 ? "ana" : "bo"), idempotencyKey: "k\(round)")
        }
    }

    @Test("A damaged checkpoint", arguments: [0, 3, 11, 19, 23])
    func damaged(index: Int) throws {
        var log = try open()
        try fill(log)
        try log.writeIndex()
        try log.damage(.checkpoints, IndexCheckpoint.key) { $0[min(index, $0.count - 1)] ^= 0x81 }
        log = try open()
        #expect(try log.find(.externalID("ana"))?.version.rawValue == 16)
        try fill(log, 1)
    }

    @Test("A checkpoint of the wrong size, and one that is ahead of the log")
    func strange() throws {
        var log = try open()
        try fill(log)
        try log.writeIndex()
        try log.damage(.checkpoints, IndexCheckpoint.key) { $0.removeLast(7) }
        log = try open()
        try log.expectSound()
        try log.damage(.checkpoints, IndexCheckpoint.key) { $0 = IndexCheckpoint(position: 99, users: 9).bytes }
        log = try open()
        #expect(try log.userCount() == 2)
    }

    /// The row of the checkpoint, or the one of a flush, without which the first one cannot be read.
    ///
    ///     first    ──────────────── rebuilds the caches ────────
    ///     second   finds the row ───────────────────────── drops?
    @Test("Caches that another process has just rebuilt are not dropped", arguments: [false, true])
    func repairedMeanwhile(isFlush: Bool) throws {
        let (first, second) = try (open(), open())
        try fill(first)
        try first.writeIndex()
        try first.damage(.checkpoints, isFlush ? FlushProgress.key : IndexCheckpoint.key) { $0 = Array($0.dropLast()) }
        let found = try second.environment.withReadTransaction { try second.caches.checkpointRow($0) }
        #expect(!found.isUsable)
        try first.rebuildCaches()
        let indexed = try first.reader.extent().indexed
        try second.caches.dropCaches(ifStill: found)
        #expect(try second.reader.extent().indexed == indexed)
        let now = try second.environment.withReadTransaction { try second.caches.checkpointRow($0) }
        try second.caches.dropCaches(ifStill: now)
        #expect(try second.reader.extent().indexed.rawValue == 0)
        try first.writeIndex()
    }

    @Test("A checkpoint of another revision, written while the log is open", .timeLimit(.minutes(15)))
    func otherRevision() throws {
        let log = try open()
        try fill(log)
        try log.writeIndex()
        // The other program has a layout of its own.
        for table in [Table.Name.users, .keys, .pending, .devices] { try log.damage(table, [1, 2, 3]) { $0 = [9] } }
        try log.damage(.checkpoints, IndexCheckpoint.key) { row in
            row = IndexCheckpoint(revision: 77, position: 32, users: 2).bytes
        }
        #expect(try log.find(.externalID("bo"))?.version.rawValue == 16)
        #expect(try log.append([played], to: .externalID("ana"), idempotencyKey: "k0").isRepetition)
        try fill(log, 12)
        try log.writeIndex()
    }

    @Test("The snapshots that another process has written stay, though the events are still in this one's tail")
    func othersSnapshots() throws {
        func open() throws -> EventLog {
            try folder.open(options: .small(clock, indexLag: 10_000))
        }
        let (log, other) = try (open(), open())
        _ = try log.append(Array(repeating: played, count: 7), to: .externalID("ana"))
        #expect(try other.find(.externalID("ana"))?.version.rawValue == 8)
        try log.writeIndex()
        let written = try log.rows(.snapshots)
        #expect(written.count == 1)
        _ = try other.append([played], to: .externalID("bo"))
        try other.writeIndex()
        #expect(try log.rows(.snapshots) == written)
    }

    @Test("Snapshots of another revision go when the writer meets them; check does not count them")
    func snapshots() throws {
        let log = try open()
        try fill(log)
        try log.writeIndex()
        let old = try log.rows(.snapshots)
        #expect(!old.isEmpty)
        for (key, row) in old {
            let state = Array(row[4..<(row.count - 4)])
            try log.damage(.snapshots, key) { $0 = SnapshotRow.bytes(revision: 99, state: state) }
        }
        let report = try log.check()
        #expect(report.isSound && report.snapshots == 0)
        for _ in 0..<20 { try fill(log, 2) }
        for _ in 0..<20 {
            for user in ["ana", "bo"] { _ = try log.append([played], to: .externalID(user)) }
        }
        try log.writeIndex()
        let rows = try log.rows(.snapshots)
        #expect(rows.values.allSatisfy { Array($0.prefix(4)) != [0, 0, 0, 99] })
        #expect(rows.count == old.count)
    }

    @Test("A pending row goes with its item, although the record of the save is unreadable")
    func pendingRow() throws {
        folder.expectDamage()
        var log = try open()
        let saved = ProfileEvent.customEventSaved(CustomEvent(name: "saved"))
        let place = try log.append([saved], to: .externalID("ana"), context: .saved(on: "d")).last
        try log.writeIndex()
        try log.damage(.log, withNumberKey(place.rawValue) { Array($0) }) { $0[5] = 0xFF }
        _ = try log.launch(device: "d")
        try log.writeIndex()
        #expect(try log.rows(.pending).isEmpty)
        log = try open()
        #expect(try log.launch(device: "d").flushed.isEmpty)
        #expect(try log.check().problems.map(\.place).contains("log \(place.rawValue)"))
    }

    @Test("The file reaches to the last page that LMDB says is in use")
    func fileLength() throws {
        let log = try open([ProfileProjection.self, SourceProjection.self])
        // States that take pages of their own, and are replaced again and again.
        for round in 0..<300 {
            let name = Name("a\(round % 90)")
            let change = AttributeChange(name, .set(.string(String(repeating: "x", count: 40 * (round % 70)))))
            _ = try log.append([.customAttributesChanged([change])], to: .externalID("u\(round % 3)"))
            if round % 50 == 0 { try log.rebuildCaches() }
            let bytes = try #require(FileIdentity(folder.path + "/data.mdb")).bytes
            #expect(bytes >= log.environment.usedBytes)
        }
    }
}
