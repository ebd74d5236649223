import ProfileLog
import TestSupport
import Testing

@Suite("Watching the log")
struct WatchTests {
    let folder = TemporaryFolder()

    private func append(_ count: Int, _ log: EventLog) throws {
        try log.append { append in
            for index in 0..<count { try append.add(.happened("e\(index)"), to: .ana) }
        }
    }

    /// All events of a sequence that ends.
    private func all(_ events: EventSequence) async throws -> [RecordedEvent] {
        var all: [RecordedEvent] = []
        for try await event in events { all.append(event) }
        return all
    }

    @Test("A sequence of the past has every event once, in order, however many pages that takes")
    func past() async throws {
        let log = try folder.open()
        #expect(try await all(log.events(live: false)).isEmpty)
        try append(2_500, log)
        let events = try await all(log.events(live: false))
        #expect(events.map(\.position.rawValue) == Array(1...2_501))
        #expect(events[2_000] == (try log.event(at: Position(rawValue: 2_001))))
        let last = try log.lastPosition()
        #expect(try await all(log.events(after: last, live: false)).isEmpty)
    }

    @Test("A live sequence has each event when it is recorded")
    func live() async throws {
        let log = try folder.open()
        let reader = Task {
            var names: [String] = []
            for try await event in log.events() {
                if let name = event.event.customName { names.append(name) }
                if names.count == 50 { break }
            }
            return names
        }
        for index in 0..<50 { try log.append([.happened("e\(index)")], to: .ana) }
        #expect(try await reader.value == (0..<50).map { "e\($0)" })
    }

    @Test("What another process appends is in a live sequence, without a gap")
    func otherProcess() async throws {
        let log = try folder.open()
        let reader = Task {
            var positions: [UInt64] = []
            for try await event in log.events() {
                positions.append(event.position.rawValue)
                if event.event.customName == "the end" { break }
            }
            return positions
        }
        let child = try ChildProcess(
            ChildProcess.built("profilelog-crashchild"), ["script", folder.path, "1"], output: .nothing)
        #expect(child.waitForEnd() == 0)
        let end = try log.append([.happened("the end")], to: .ana).last.rawValue
        #expect(try await reader.value == Array(1...end))
    }

    @Test("A filter skips the other events, also where many lie between")
    func filtered() async throws {
        let log = try folder.open()
        for _ in 0..<3 {
            try append(1_500, log)
            try log.append([.customAttributesChanged([AttributeChange("plan", .set(.int(1)))])], to: .ana)
        }
        let filter = EventFilter(kinds: [.customAttributesChanged])
        #expect(try await all(log.events(where: filter, live: false)).count == 3)
        var live = log.events(where: filter).makeAsyncIterator()
        for _ in 0..<3 { #expect(try await live.next()?.event.kind == .customAttributesChanged) }
    }

    @Test("A consumer that notes a cursor goes on after it, wherever it stopped")
    func resumed() async throws {
        let log = try folder.open()
        try append(30, log)
        let events = try await all(log.events(live: false))
        for cut in 0...events.count {
            let noted = try log.cursor(at: Position(rawValue: UInt64(cut))).description
            let cursor = try #require(HistoryCursor(noted))
            #expect(try await all(log.events(after: cursor, live: false)) == Array(events[cut...]))
        }
    }

    @Test("A reader who is slow loses nothing of what is recorded meanwhile")
    func slowReader() async throws {
        let log = try folder.open()
        try append(10, log)
        var iterator = log.events().makeAsyncIterator()
        var count: UInt64 = 0
        while count < 5_000 {
            if count == 5 { try append(5_000, log) }
            count += 1
            #expect(try await iterator.next()?.position.rawValue == count)
        }
    }

    @Test("A cursor of another history is refused before the first event")
    func otherHistory() async throws {
        let folder = try TemporaryFolder.made(prefix: "histories")
        let log = try folder.open("a")
        let other = try folder.open("b")
        for log in [log, other] { try append(3, log) }
        let cursor = try log.cursor(at: Position(rawValue: 3))
        #expect(
            throws: StorageError.otherHistory(position: Position(rawValue: 3), last: try other.lastPosition())
        ) {
            _ = try other.events(after: cursor)
        }
        #expect(HistoryCursor("three") == nil)
    }

    @Test("A wait ends when the log has the position, and at once if it has")
    func wait() async throws {
        let log = try folder.open()
        try await log.wait(for: Position(rawValue: 0))
        let waiters = (1...3).map { (position: UInt64) in
            Task {
                try await log.wait(for: Position(rawValue: position))
                return try log.lastPosition()
            }
        }
        try append(2, log)
        for waiter in waiters { #expect(try await waiter.value == Position(rawValue: 3)) }
        try await log.wait(for: Position(rawValue: 2))
    }

    @Test("A cancelled task neither waits nor reads on")
    func cancelled() async throws {
        let log = try folder.open()
        try append(1, log)
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        let reader = Task {
            for try await _ in log.events() { continuation.yield() }
        }
        let waiter = Task { try await log.wait(for: Position(rawValue: 1_000)) }
        var seen = 0
        for await _ in stream {
            seen += 1
            if seen == 2 { break }
        }
        reader.cancel()
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        await #expect(throws: CancellationError.self) { try await waiter.value }
        try append(1, log)
    }

    @Test("A sequence and a wait end when the log is closed")
    func closed() async throws {
        let log = try folder.open()
        try append(1, log)
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        let reader = Task {
            for try await event in log.events() where event.event.customName != nil { continuation.yield() }
        }
        let waiter = Task { try await log.wait(for: Position(rawValue: 1_000)) }
        for await _ in stream { break }
        log.close()
        await #expect(throws: StorageError.closed) { try await reader.value }
        await #expect(throws: StorageError.closed) { try await waiter.value }
        await #expect(throws: StorageError.closed) { try await log.wait(for: Position(rawValue: 1_000)) }
    }
}
