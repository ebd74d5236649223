import ProfileLog
import TestSupport
import Testing

@Suite("A closure is told of commits")
struct CommitHookTests {
    let folder = TemporaryFolder()

    private struct Told: Equatable, Sendable {
        var first: Position
        var last: Position
        var users: [UserNumber: Version]
        var missed: Int

        init(_ receipt: AppendReceipt, missed: Int = 0) {
            (first, last, users, self.missed) = (receipt.first, receipt.last, receipt.users, missed)
        }
    }

    /// Lets a closure wait until the test opens it.
    private actor Gate {
        private var isOpen = false
        private var waiting: [CheckedContinuation<Void, Never>] = []

        func pass() async {
            if !isOpen { await withCheckedContinuation { waiting.append($0) } }
        }

        func open() {
            isOpen = true
            for one in waiting { one.resume() }
            waiting = []
        }
    }

    @Test("Each commit is told in order with its places and users; what stores nothing is not told")
    func order() async throws {
        let log = try folder.open()
        try log.append([.happened("before")], to: .ana)
        let (stream, told) = AsyncStream.makeStream(of: Told.self)
        log.onCommit { receipt, missed in told.yield(Told(receipt, missed: missed)) }
        var expected = [
            Told(try log.append([.happened("a")], to: .ana, idempotencyKey: "k")),
            Told(
                try log.append { append in
                    for user in [UserID.bo, .ana] { try append.add(.happened("b"), to: user) }
                }),
        ]
        #expect(try log.append([.happened("a")], to: .ana, idempotencyKey: "k").isRepetition)
        #expect(throws: AppendError.self) { try log.append([.happened("c")], to: .ana, expecting: .noUser) }
        let writer = LogWriter(log)
        expected.append(Told(try await writer.append([.happened("d")], to: .bo)))
        await writer.close()
        try log.erase([.bo], actor: "a test", reason: "a test")
        let end = try log.lastPosition()
        var iterator = stream.makeAsyncIterator()
        for one in expected { #expect(await iterator.next() == one) }
        let erasure = try #require(await iterator.next())
        #expect(erasure.last == end && erasure.users.count == 1 && erasure.missed == 0)
    }

    @Test("The reads of a closure see the commit, and a commit of another log on the store is not told")
    func reads() async throws {
        let log = try folder.open()
        let other = try folder.open()
        let (stream, seen) = AsyncStream.makeStream(of: Position.self)
        log.onCommit { [weak log] receipt, _ in
            // The next commit may be there too.
            if let version = try? log?.find(.ana)?.version, let told = receipt.users.values.first, version >= told {
                seen.yield(receipt.last)
            }
        }
        let first = try log.append([.happened("a")], to: .ana)
        try other.append([.happened("b")], to: .bo)
        let last = try log.append([.happened("c")], to: .ana)
        var iterator = stream.makeAsyncIterator()
        #expect(await iterator.next() == first.last)
        #expect(await iterator.next() == last.last)
    }

    @Test("No commit waits for a slow closure, which loses the oldest receipts and is told how many")
    func slow() async throws {
        let log = try folder.open()
        let (stream, told) = AsyncStream.makeStream(of: Told.self)
        let (began, begins) = AsyncStream.makeStream(of: Void.self)
        let gate = Gate()
        log.onCommit { receipt, missed in
            begins.yield()
            await gate.pass()
            told.yield(Told(receipt, missed: missed))
        }
        let first = try log.append([.happened("a")], to: .ana)
        var beginning = began.makeAsyncIterator()
        _ = await beginning.next()
        for name in ["b", "c"] { try log.append([.happened(name)], to: .ana) }
        // With these more than 16,384 events wait.
        let many = try log.append(Array(repeating: .happened("d"), count: 16_384), to: .ana)
        let last = try log.append([.happened("e")], to: .ana)
        await gate.open()
        var iterator = stream.makeAsyncIterator()
        #expect(await iterator.next() == Told(first))
        let end = try #require(await iterator.next())
        #expect(end == Told(last, missed: 3))
        #expect(end.first > many.last)
    }

    @Test("A closed log tells what waits, and then keeps no closure")
    func closed() async throws {
        let log = try folder.open()
        let (stream, told) = AsyncStream.makeStream(of: Told.self)
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        do {
            let kept = Kept(ended)
            log.onCommit { receipt, missed in
                withExtendedLifetime(kept) { _ = told.yield(Told(receipt, missed: missed)) }
            }
        }
        let receipt = try log.append([.happened("a")], to: .ana)
        log.close()
        var iterator = stream.makeAsyncIterator()
        #expect(await iterator.next() == Told(receipt))
        var released = ends.makeAsyncIterator()
        let end: Void? = await released.next()
        #expect(end != nil)
    }

    @Test("A closed log keeps no closure that has been told all, while another one still runs")
    func idle() async throws {
        let log = try folder.open()
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        let (began, begins) = AsyncStream.makeStream(of: Void.self)
        let gate = Gate()
        do {
            let kept = Kept(ended)
            log.onCommit { _, _ in withExtendedLifetime(kept) {} }
        }
        log.onCommit { _, _ in
            begins.yield()
            await gate.pass()
        }
        try log.append([.happened("a")], to: .ana)
        var beginning = began.makeAsyncIterator()
        _ = await beginning.next()
        log.close()
        var released = ends.makeAsyncIterator()
        let end: Void? = await released.next()
        #expect(end != nil)
        await gate.open()
    }

    /// Tells when nothing refers to it any more.
    private final class Kept: Sendable {
        private let ended: AsyncStream<Void>.Continuation

        init(_ ended: AsyncStream<Void>.Continuation) { self.ended = ended }

        deinit { ended.yield() }
    }
}
