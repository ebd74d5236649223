internal import Foundation
internal import Synchronization

/// Commits for many concurrent callers: a thread of its own takes all appends that wait, and they share one sync.
///
/// No timer and no minimum: while one commit is on its way to the disk, the next batch gathers by itself. If several
/// callers came last time, those who are about to come are let go first.
public final class LogWriter: Sendable {
    /// The log that it writes.
    package let log: EventLog
    private let queue: WriterQueue

    /// Starts the writer's thread. At most `capacity` appends of together `capacityBytes` wait, besides those of the
    /// commit under way; further ones are refused as `overloaded`. A single append may always wait, however large.
    public init(_ log: EventLog, capacity: Int = 65_536, capacityBytes: Int = 256 << 20) {
        self.log = log
        let queue = WriterQueue(capacity: capacity, capacityBytes: capacityBytes)
        self.queue = queue
        startThread("log-writer", CoverageMark.carried { Self.run(log, queue) })
    }

    /// A writer that is not referenced any more ends by itself, as after `close()`, but no one waits for it.
    deinit { queue.close {} }

    // MARK: - Appending

    /// Appends events of one user; they are on the disk when it returns.
    ///
    /// Throws `AppendError`, or `CancellationError` if the task is cancelled before the append waits for the disk. Once
    /// it waits it is not taken back: whether it is stored could not be said.
    ///
    /// ```swift
    /// try await writer.append([.customEventLogged(CustomEvent(name: "played song"))], to: user)
    /// ```
    @discardableResult
    public func append(
        _ events: [ProfileEvent], to user: UserID, expecting expected: ExpectedVersion = .any,
        context: EventContext = .app, idempotencyKey key: String? = nil, note: [UInt8] = []
    ) async throws -> AppendReceipt {
        try Task.checkCancellation()
        return try await commit(
            log.prepared(events, to: user, expecting: expected, context: context, idempotencyKey: key, note: note))
    }

    /// Appends the events that `build` adds, of any users: all of them or none. `build` runs on the caller's thread.
    /// Throws what it throws, and as ``append(_:to:expecting:context:idempotencyKey:note:)``.
    @discardableResult
    public func append(
        idempotencyKey key: String? = nil, note: [UInt8] = [], _ build: (inout AppendBuilder) throws -> Void
    ) async throws -> AppendReceipt {
        try Task.checkCancellation()
        return try await commit(log.prepared(idempotencyKey: key, note: note, build))
    }

    /// Commits `append`; durable when it returns.
    package func commit(_ append: PreparedAppend) async throws(AppendError) -> AppendReceipt {
        try await answer(append).result.get()
    }

    /// As ``commit(_:)``, with the times of the commit for all who took part in it.
    package func answer(_ append: PreparedAppend) async -> WrittenAppend {
        // Unchecked: it is resumed here or by the writer, who answers each append once.
        await withUnsafeContinuation { continuation in
            if let refusal = queue.add(append, continuation) {
                continuation.resume(returning: WrittenAppend(result: .failure(refusal)))
            }
        }
    }

    /// Runs `work` on the writer's thread, between two commits, for work that commits several times (a launch).
    ///
    /// With `evenIfFull` it is never refused as `overloaded`: for what goes on with something of which a part is
    /// stored. How many such wait is for the callers to bound.
    package func perform<Value: Sendable>(
        evenIfFull: Bool = false, _ work: @escaping @Sendable (EventLog) throws -> Value
    ) async throws -> Value {
        let log = log
        return try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
            let refusal = queue.add(evenIfFull: evenIfFull) { continuation.resume(with: Result { try work(log) }) }
            if let refusal { continuation.resume(throwing: refusal) }
        }
    }

    /// Takes nothing more, commits what waits, writes the caches, and returns when the thread has ended. The log stays
    /// open.
    public func close() async {
        await withCheckedContinuation { continuation in queue.close { continuation.resume() } }
    }

    private static func run(_ log: EventLog, _ queue: WriterQueue) {
        while let batch = queue.next() {
            var done = 0
            while done < batch.appends.count {
                let begin = ContinuousClock.now
                var report: CommitReport?
                let results = log.committer.commitOnly(batch.appends[done...], reporting: { report = $0 })
                for (caller, result) in zip(batch.callers[done...], results) {
                    caller.resume(returning: WrittenAppend(result: result, begin: begin, report: report))
                }
                done += results.count
            }
            for work in batch.work { work() }
            log.caches.writeIndexIfDue()
        }
        try? log.caches.writeBeforeClosing()
        queue.ended()
    }
}

/// The answer to an append that a ``LogWriter`` took.
package struct WrittenAppend: Sendable {
    /// The receipt, or why it was not stored.
    package let result: Result<AppendReceipt, AppendError>
    /// The time at which its commit began; nil if it had none.
    package var begin: ContinuousClock.Instant?
    /// The times of the commit; nil if nothing was stored.
    package var report: CommitReport?
}

/// Appends that wait for the writer.
private final class WriterQueue: Sendable {
    typealias Caller = UnsafeContinuation<WrittenAppend, Never>

    struct Batch: Sendable {
        var appends: [PreparedAppend] = []
        /// The callers that wait for the appends.
        var callers: [Caller] = []
        var work: [@Sendable () -> Void] = []
        var isEmpty: Bool { appends.isEmpty && work.isEmpty }
    }

    private struct State: Sendable {
        var batch = Batch()
        /// Bytes of the appends in `batch`.
        var bytes = 0
        var isClosed = false
        var hasEnded = false
        var whenEnded: [@Sendable () -> Void] = []
        var isIdle = false
        /// The number of callers of the last batch.
        var lastCallers = 0

        /// Takes the first appends of together at most `limit` bytes, one at least, and all other work.
        mutating func take(_ limit: Int) -> Batch {
            var taken = Batch()
            swap(&taken, &batch)
            guard bytes > limit else {
                bytes = 0
                return taken
            }
            CoverageMark.hit(.writerTookPart)
            var count = 0
            var takenBytes = 0
            for append in taken.appends {
                let more = append.byteCount
                if count > 0, takenBytes + more > limit { break }
                count += 1
                takenBytes += more
            }
            batch.appends = Array(taken.appends[count...])
            batch.callers = Array(taken.callers[count...])
            taken.appends.removeSubrange(count...)
            taken.callers.removeSubrange(count...)
            bytes -= takenBytes
            return taken
        }
    }

    private let capacity: Int
    private let capacityBytes: Int
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    init(capacity: Int, capacityBytes: Int) {
        self.capacity = capacity
        self.capacityBytes = capacityBytes
    }

    func add(_ append: PreparedAppend, _ caller: Caller) -> AppendError? {
        enter(bytes: append.byteCount, evenIfFull: false) { batch in
            batch.appends.append(append)
            batch.callers.append(caller)
        }
    }

    func add(evenIfFull: Bool, _ work: @escaping @Sendable () -> Void) -> AppendError? {
        enter(bytes: 0, evenIfFull: evenIfFull) { $0.work.append(work) }
    }

    private func enter(bytes: Int, evenIfFull: Bool, _ add: (inout Batch) -> Void) -> AppendError? {
        let (refusal, mustWake) = state.withLock { state -> (AppendError?, Bool) in
            if state.isClosed {
                CoverageMark.hit(.writerClosed)
                return (.closed, false)
            }
            let waiting = state.batch.appends.count + state.batch.work.count
            let isFull = waiting >= capacity || state.bytes > 0 && state.bytes + bytes > capacityBytes
            if isFull, !evenIfFull {
                CoverageMark.hit(.writerFull)
                return (.overloaded(waiting: waiting), false)
            }
            add(&state.batch)
            state.bytes += bytes
            defer { state.isIdle = false }
            return (nil, state.isIdle)
        }
        if mustWake { wake.signal() }
        return refusal
    }

    /// Takes waiting appends, as many as one commit holds; sleeps while there is nothing. Nil when the queue is closed
    /// and empty.
    func next() -> Batch? {
        while true {
            letCallersCome()
            let (batch, isClosed) = state.withLock { state -> (Batch, Bool) in
                let taken = state.take(Limits.bytesPerCommit)
                state.isIdle = taken.isEmpty && !state.isClosed
                if !taken.isEmpty { state.lastCallers = taken.appends.count }
                return (taken, state.isClosed)
            }
            if !batch.isEmpty { return batch }
            if isClosed { return nil }
            wake.wait()
        }
    }

    /// Turns without a new caller after which no more are expected.
    private static let fruitlessTurns = 3
    /// The turns before one commit, at most: callers who do not wait for each other come in each of them.
    private static let mostTurns = 16

    /// Lets the callers of the last batch go first, if there were several: they often come again at once, and each
    /// commit costs a sync. Otherwise two groups of callers would wait for each other's commits.
    private func letCallersCome() {
        let (before, lastCallers) = state.withLock { ($0.batch.appends.count, $0.lastCallers) }
        guard lastCallers > 1 else { return }
        let most = before + lastCallers
        var (waiting, fruitless, turns, isFull) = (before, 0, 0, false)
        while waiting < most, fruitless < Self.fruitlessTurns, turns < Self.mostTurns, !isFull {
            sched_yield()
            turns += 1
            let now = state.withLock { state in
                isFull =
                    state.batch.appends.count + state.batch.work.count >= capacity
                    || state.bytes >= min(capacityBytes, Limits.bytesPerCommit)
                return state.batch.appends.count
            }
            fruitless = now == waiting ? fruitless + 1 : 0
            waiting = now
        }
    }

    func close(_ whenEnded: @escaping @Sendable () -> Void) {
        let (mustWake, hasEnded) = state.withLock { state in
            state.isClosed = true
            if !state.hasEnded { state.whenEnded.append(whenEnded) }
            defer { state.isIdle = false }
            return (state.isIdle, state.hasEnded)
        }
        if mustWake { wake.signal() }
        if hasEnded { whenEnded() }
    }

    func ended() {
        let waiting = state.withLock { state in
            state.hasEnded = true
            return state.whenEnded
        }
        for whenEnded in waiting { whenEnded() }
    }
}
