import ProfileLog
import Synchronization
import TestSupport
import Testing

@testable import ProfileLogFolds
@testable import ProfileLogLog

@Suite("A flush goes on where its row says, and at no other's")
struct IndexFlushTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private let played = ProfileEvent.customEventLogged(CustomEvent(name: "played"))

    private func open() throws -> EventLog {
        try folder.open(options: .small(clock, indexLag: 100_000))
    }

    private func key(_ user: UInt64) -> [UInt8] {
        var key: [UInt8] = []
        key.appendBigEndian(user)
        return key
    }

    @Test("Rows that another one has not written yet are looked for again", .hits(.flushContinued))
    func back() throws {
        let log = try open()
        for user in 1...60 { _ = try log.append([played], to: .externalID("u\(user)")) }
        var here = FlushProgress(checkpoint: 0, target: try log.lastPosition().rawValue)
        here.last = key(50)
        var flush = IndexFlush(here, log.store.tail, recordedAt: 0, snapshotInterval: 8)
        flush.findRows(3)
        var there = here
        there.last = key(10)
        flush.moveOn(to: there)
        if !flush.hasRows { flush.findRows(3) }
        #expect(Array(flush.takeRows(3)) == [11, 12, 13])
        there.last = key(20)
        flush.moveOn(to: there)
        #expect(Array(flush.takeRows(2)) == [21, 22])
        there.last = nil
        flush.moveOn(to: there)
        if !flush.hasRows { flush.findRows(3) }
        #expect(Array(flush.takeRows(2)) == [1, 2])
    }

    /// Two flushes at the streams of (0, 120).
    ///
    ///     slow    begin ─ slices up to user 20 ──────────────────────────────────── slice
    ///     other                                 drops the caches ─ begins ─ slice
    @Test("A flush that began again is another one, though it has the same checkpoint and the same target")
    func begunAnew() throws {
        let (log, other) = try (open(), open())
        for user in 1...60 { _ = try log.append([played], to: .externalID("u\(user)")) }
        for _ in 0..<10 { _ = try log.store.writing.withLock { _ in try log.caches.writeIndexSlice() } }
        try other.caches.dropCaches()
        _ = try other.store.writing.withLock { _ in try other.caches.writeIndexSlice() }
        try log.caches.writeIndexInSlices()
        try log.expectSound()
        let progress = FlushProgress(checkpoint: 0, target: 120)
        #expect(!progress.isSameFlush(as: FlushProgress(checkpoint: 0, target: 120)))
    }

    @Test("A row of the revision before is not read: the caches are rebuilt")
    func earlierRevision() throws {
        var log = try open()
        for user in 1...60 { _ = try log.append([played], to: .externalID("u\(user)")) }
        try log.writeIndex()
        let checkpoint = try log.lastPosition().rawValue
        for user in 1...60 { _ = try log.append([played], to: .externalID("u\(user)"), idempotencyKey: "k\(user)") }
        for _ in 0..<40 { _ = try log.store.writing.withLock { _ in try log.caches.writeIndexSlice() } }
        let progress = try #require(log.caches.flush.withLock { $0?.progress })
        var row: [UInt8] = []
        row.appendBigEndian(UInt32(1))
        row.appendBigEndian(checkpoint)
        row.appendBigEndian(progress.target)
        row += [progress.stage.rawValue, 1] + (progress.last ?? [])
        let checksum = row.withUnsafeBytes { crc32c($0) }
        withUnsafeBytes(of: checksum.littleEndian) { row.append(contentsOf: $0) }
        try log.damage(.checkpoints, FlushProgress.key) { $0 = row }
        log = try open()
        #expect(try log.find(.externalID("u7"))?.version.rawValue == 3)
        #expect(try log.append([played], to: .externalID("u7"), idempotencyKey: "k7").isRepetition)
        try log.writeIndex()
    }

    @Test("A first flush that an earlier program began is begun again: what its rows say is not what they say today")
    func earlierFirstFlush() throws {
        var log = try open()
        for device in ["a", "b", "c"] {
            let saved = ProfileEvent.customEventSaved(CustomEvent(name: "saved"))
            _ = try log.append([saved], to: .externalID("ana"), context: .saved(on: device))
            _ = try log.launch(device: device)
        }
        var progress: FlushProgress?
        repeat {
            let isFinished = try log.store.writing.withLock { _ in try log.caches.writeIndexSlice(rows: 1) }
            try #require(!isFinished)
            progress = log.caches.flush.withLock { $0?.progress }
        } while progress?.stage != .devices || progress?.last == nil
        let device = try #require(progress?.last)
        // A device as the program before wrote it: without the chunks of its last launch.
        try log.damage(.devices, device) { row in
            var status = row.withUnsafeBytes { DeviceRow.status($0) } ?? DeviceStatus()
            #expect(!status.chunks.isEmpty)
            status.chunks = [:]
            var writer = WireWriter()
            DeviceRow.write(status, to: &writer)
            row = Array(writer.bytes)
        }
        try log.damage(.checkpoints, FlushProgress.key) { row in
            row.replaceSubrange(0..<4, with: [0, 0, 0, 2])
            row.removeLast(4)
            let checksum = row.withUnsafeBytes { crc32c($0) }
            withUnsafeBytes(of: checksum.littleEndian) { row.append(contentsOf: $0) }
        }
        log = try open()
        try log.writeIndex()
    }
}
