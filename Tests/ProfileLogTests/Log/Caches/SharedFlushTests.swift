import ProfileLog
import Synchronization
import TestSupport
import Testing

@testable import ProfileLogLog

/// A flush belongs to no process: its progress is in table `checkpoints`.
///
///     one    begin ─ slice ─────────── slice ─────────
///     other                  slice ───────────  slice, checkpoint
@Suite("A flush is brought to its end by any writer")
struct SharedFlushTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private let played = ProfileEvent.customEventLogged(CustomEvent(name: "played"))

    private func open(indexLag: Int = 30, _ change: (inout LogOptions) -> Void = { _ in }) throws -> EventLog {
        var options = LogOptions.small(clock, indexLag: indexLag)
        change(&options)
        return try folder.open(options: options)
    }

    private func indexed(_ log: EventLog) throws -> UInt64 { try log.reader.statistics().extent.indexed.rawValue }

    /// Returns the greatest lag of the caches while `rounds` appends are made, each by the log that `opened` gives.
    private func greatestLag(rounds: Int, _ opened: (Int) throws -> EventLog) throws -> UInt64 {
        var greatest: UInt64 = 0
        for round in 0..<rounds {
            let log = try opened(round)
            _ = try log.append([played], to: .externalID("u\(round % 90)"), idempotencyKey: "k\(round)")
            greatest = max(greatest, try log.lastPosition().rawValue - indexed(log))
        }
        return greatest
    }

    @Test("Two writers in turn do not take a flush from each other")
    func two() throws {
        let logs = try [open(), open()]
        #expect(try greatestLag(rounds: 1_200) { logs[$0 % 2] } < 5 * 90)
        for log in logs { try log.expectSound() }
    }

    @Test("Writers that write once and leave, again and again, end a flush too")
    func leaving() throws {
        // `open` would keep all of them open to the end.
        let lag = try greatestLag(rounds: 1_200) { _ in
            try EventLog(path: folder.path, create: true, options: .small(clock, indexLag: 30))
        }
        #expect(lag < 5 * 90)
        try open().expectSound()
    }

    @Test("Closing, and what comes before an erasure, end while another process writes")
    func closing() throws {
        let (log, other) = try (open(), open())
        for round in 0..<200 { _ = try other.append([played], to: .externalID("u\(round % 90)")) }
        let end = try log.lastPosition().rawValue
        try log.caches.writeBeforeClosing()
        #expect(try indexed(log) == end)
        for round in 0..<200 { _ = try other.append([played], to: .externalID("u\(round % 90)")) }
        _ = try log.erase([.externalID("u3")], actor: "test", reason: "asked")
        #expect(try other.find(.externalID("u3")) == nil)
        for log in [log, other] { try log.expectSound() }
    }

    @Test("Who has written into the caches leaves the other one a short tail")
    func trimmed() throws {
        let (log, other) = try (open(indexLag: 10_000), open())
        for round in 0..<18 { _ = try other.append([played], to: .externalID("u\(round % 7)")) }
        try log.writeIndex()
        for _ in 0..<10 { _ = try other.append([played], to: .externalID("u1")) }
        #expect(other.store.tail.withReading { $0.entries.count } == 10)
        #expect(other.caches.flush.withLock { $0 == nil })
    }

    @Test("A tail that is rebuilt goes on with the flush")
    func rebuiltTail() throws {
        let log = try open()
        var round = 0
        while log.caches.flush.withLock({ $0 == nil }) {
            _ = try log.append([played], to: .externalID("u\(round)"))
            round += 1
        }
        // As after a commit that failed.
        try log.environment.withReadTransaction { try log.store.rebuildTail($0) }
        let last = try log.lastPosition().rawValue
        for _ in 0..<200 where try indexed(log) == 0 { _ = try log.append([played], to: .externalID("u0")) }
        #expect(try indexed(log) == last)
    }

    @Test("What was saved, handed on and sent occurs once, however far devices are ahead of the checkpoint")
    func devices() throws {
        var log = try open()
        var random = SeededGenerator(seed: 7)
        var slices = 0
        for round in 0..<400 {
            let device = "d\(random.next(below: 12))"
            let user = UserID.externalID("u\(random.next(below: 20))")
            switch random.next(below: 5) {
            case 0: _ = try log.launch(device: device)
            case 1: _ = try log.changeUser(device: device, to: user)
            default:
                _ = try log.append(
                    [.customEventSaved(CustomEvent(name: "saved"))], to: user, context: .saved(on: device))
            }
            guard log.caches.flush.withLock({ $0?.progress.stage == .devices }) else { continue }
            slices += 1
            try log.expectSound()
            #expect(try log.replay(verify: true).isEqual)
            if round % 3 == 0 { log = try open() }
        }
        #expect(slices > 5)
        try log.writeIndex()
    }

    @Test("A damaged row of a flush, and one that another program left, change no answer", arguments: [false, true])
    func strangeRow(isMark: Bool) throws {
        var log = try open()
        for round in 0..<300 {
            _ = try log.append([played], to: .externalID("u\(round % 60)"), idempotencyKey: "k\(round)")
            if try indexed(log) > 0, log.caches.flush.withLock({ $0 != nil }) { break }
        }
        try log.damage(.checkpoints, FlushProgress.key) { row in
            if isMark { row = Array(1...16) } else { row[14] ^= 1 }
        }
        log = try open()
        #expect(try log.append([played], to: .externalID("u1"), idempotencyKey: "k1").isRepetition)
        for round in 0..<200 { _ = try log.append([played], to: .externalID("u\(round % 60)")) }
        try log.expectSound()
        #expect(try log.replay(verify: true).isEqual)
    }
}
