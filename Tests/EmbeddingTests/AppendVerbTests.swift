import ProfileLog
import TestSupport
import Testing

@Suite("Appending, as an embedder does")
struct AppendVerbTests {
    let folder = TemporaryFolder()

    @Test("A receipt has the places of the events, and the version to expect next of each user")
    func receipt() throws {
        let log = try folder.open()
        let first = try log.append { append in
            append.expect(.ana, at: .noUser)
            for user in [UserID.ana, .bo, .ana] { try append.add(.happened("seen"), to: user) }
        }
        // Each first event of a user follows that of the user.
        #expect(first.first == Position(rawValue: 1))
        #expect(first.last == Position(rawValue: 5))
        #expect(!first.isRepetition)
        for user in [UserID.ana, .bo] {
            let found = try #require(try log.find(user))
            #expect(first.users[found.number] == found.version)
        }
        let ana = try #require(try log.find(.ana))
        let version = try #require(first.users[ana.number])
        let second = try log.append([.happened("seen")], to: .ana, expecting: .exactly(version))
        #expect(second.users == [ana.number: Version(rawValue: version.rawValue + 1)])
        #expect(throws: AppendError.self) {
            try log.append { append in
                try append.add(.happened("seen"), to: .bo)
                append.expect(.ana, at: .exactly(version))
            }
        }
        #expect(try log.lastPosition() == second.last)
    }

    @Test("An append under a key is stored once, and what its closure throws stores nothing")
    func keys() throws {
        let log = try folder.open()
        struct Refused: Error {}
        #expect(throws: Refused.self) {
            try log.append { append in
                try append.add(.happened("seen"), to: .ana)
                throw Refused()
            }
        }
        #expect(try log.userCount() == 0)
        let receipts = try (0..<2).map { _ in
            try log.append(idempotencyKey: "k") { try $0.add(.happened("seen"), to: .ana, context: .server) }
        }
        #expect(receipts.map(\.isRepetition) == [false, true])
        #expect(receipts[0].last == receipts[1].last)
        #expect(receipts[0].users == receipts[1].users)
    }

    @Test("Every receipt under a key has the note of the first append; a note without a key is refused")
    func notes() async throws {
        let log = try folder.open()
        let writer = LogWriter(log)
        let note = Array("order 4711".utf8)
        let first = try log.append([.happened("a")], to: .ana, idempotencyKey: "k", note: note)
        let again = try await writer.append([.happened("a")], to: .ana, idempotencyKey: "k", note: [1])
        #expect(first.note == note && again.note == note)
        #expect(again.isRepetition && again.first == first.first)
        let other = try log.append(idempotencyKey: "l", note: note) { try $0.add(.happened("b"), to: .ana) }
        let repeated = try await writer.append(idempotencyKey: "l") { try $0.add(.happened("b"), to: .ana) }
        #expect(other.note == note && repeated.note == note && repeated.isRepetition)
        #expect(try log.append([.happened("c")], to: .ana, idempotencyKey: "m").note.isEmpty)
        let last = try log.lastPosition()
        #expect(throws: AppendError.self) { try log.append([.happened("d")], to: .ana, note: note) }
        #expect(throws: AppendError.self) {
            try log.append([.happened("d")], to: .ana, idempotencyKey: "n", note: Array(repeating: 0, count: 1_025))
        }
        #expect(try log.lastPosition() == last)
        await writer.close()
        log.close()
        let reopened = try folder.open()
        #expect(try reopened.append([.happened("a")], to: .ana, idempotencyKey: "k").note == note)
    }

    @Test("An event has the source of its context")
    func contexts() throws {
        let log = try folder.open()
        try log.append([.happened("a")], to: .ana)
        try log.append([.happened("b")], to: .ana, context: .server)
        try log.append([.saved("c")], to: .ana, context: .push(on: "phone"))
        let events = try log.history(of: .ana).filter { $0.event.customName != nil }
        #expect(events.map(\.context.source) == [.app, .rest, .extension])
        #expect(events.last?.context.device == "phone")
    }

    @Test("A writer takes the same appends, and none of a task that is cancelled")
    func writer() async throws {
        let log = try folder.open()
        let writer = LogWriter(log)
        try await writer.append([.happened("seen")], to: .ana, expecting: .noUser)
        try await writer.append { append in
            for user in [UserID.ana, .bo] { try append.add(.happened("seen"), to: user) }
        }
        let last = try log.lastPosition()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await writer.append([.happened("late")], to: .ana)
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await writer.close()
        #expect(try log.lastPosition() == last)
    }
}
