import Foundation
import ProfileLog
import Synchronization
import TestSupport
import Testing

@testable import ProfileLogLog

@Suite("Between two slices of an index flush")
struct FlushSliceTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    private func open() throws -> EventLog {
        try folder.open(options: .small(clock, indexLag: 30))
    }

    @Test(
        "Every row is right or early, every ID and key is known, and who goes on elsewhere goes on", arguments: [1, 5])
    func between(slicesPerOpening: Int) throws {
        let played = ProfileEvent.customEventLogged(CustomEvent(name: "played"))
        var log = try open()
        var slices = 0
        for round in 0..<240 {
            let user = UserID.externalID("u\(round % 24)")
            let receipt = try log.append([played], to: user, idempotencyKey: "k\(round)")
            #expect(try log.find(user)?.version == receipt.places.last?.version)
            let earlier = round / 2
            let again = try log.append(
                [played], to: .externalID("u\(earlier % 24)"), idempotencyKey: "k\(earlier)")
            #expect(again.isRepetition)
            guard log.caches.flush.withLock({ $0 != nil }) else { continue }
            slices += 1
            try log.expectSound()
            // The flush is left unfinished, as by a process that died.
            if slices % slicesPerOpening == 0 { log = try open() }
        }
        #expect(slices > 20)
        #expect(try log.replay(verify: true).isEqual)
        try log.writeIndex()
    }

    ///     other   takes the lock ──────── a second passes ─ lets it go
    ///     log                     waits ───────────────────────────── slice
    @Test("The wait for another one's commit makes no slice smaller")
    func waited() throws {
        let log = try folder.open(options: .small(clock, indexLag: 10_000))
        let played = ProfileEvent.customEventLogged(CustomEvent(name: "played"))
        for user in 0..<150 { _ = try log.append([played], to: .externalID("u\(user)")) }
        let time = SharedInstant()
        log.caches.sliceSize.withLock { $0 = SliceSize(most: 256, now: { time.now }) }
        let (held, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            try? log.environment.withWriteTransaction { _ in
                held.signal()
                release.wait()
            }
        }
        held.wait()
        Thread.detachNewThread {
            _ = try? log.store.writing.withLock { _ in try log.caches.writeIndexSlice() }
            done.signal()
        }
        // Time to come to the lock; if it does not, nothing is wrong.
        usleep(100_000)
        time.advance(.seconds(1))
        release.signal()
        done.wait()
        #expect(log.caches.flush.withLock { $0 != nil })
        #expect(log.caches.sliceSize.withLock { $0.rows } == 256)
    }

    @Test("A slice that finds too much to search, and writes no row, makes no slice larger", .hits(.searchPutOff))
    func withoutRows() throws {
        let log = try folder.open(options: .small(clock, indexLag: 100_000))
        let played = ProfileEvent.customEventLogged(CustomEvent(name: "played"))
        _ = try log.append(Array(repeating: played, count: IndexFlush.quicklyFound), to: .externalID("ana"))
        let time = SharedInstant()
        var size = SliceSize(most: 256, now: { time.now })
        let begin = time.now
        time.advance(.seconds(1))
        size.learn(since: begin)
        log.caches.sliceSize.withLock { [size] in $0 = size }
        try log.store.writing.withLock { _ in
            try log.environment.withWriteTransaction { transaction in
                let view = try log.store.catchUpWriting(transaction)
                let progress = try log.caches.progress(from: view.checkpoint, to: view.last, transaction)
                var flush = try log.caches.flush(progress, view.tail, transaction)
                #expect(try log.caches.write(&flush, transaction) == false)
                #expect(flush.progress == progress)
            }
        }
        #expect(log.caches.sliceSize.withLock { $0.rows } == size.rows)
        #expect(size.rows == 128)
    }
}

/// A clock that does not move until it is told.
private final class SharedInstant: Sendable {
    private let instant = Mutex(ContinuousClock.now)

    var now: ContinuousClock.Instant { instant.withLock { $0 } }

    func advance(_ duration: Duration) { instant.withLock { $0 += duration } }
}
