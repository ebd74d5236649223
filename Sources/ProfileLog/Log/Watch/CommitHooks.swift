internal import Synchronization

/// Tells an embedder's closures of the commits of a log: in their order, and on no committing thread.
///
/// A commit adds its receipt to the queue of each closure and goes on. A closure that is slower than the commits loses
/// the oldest receipts, and is told how many.
final class CommitHooks: Sendable {
    typealias Body = @Sendable (AppendReceipt, Int) async -> Void

    /// The events of receipts that wait for one closure, at most; a single receipt may have more.
    private static let mostEvents = 1 << 14

    private struct Hook: Sendable {
        /// The closure; nil when nothing will be told any more.
        var body: Body?
        /// The receipts from `next` on wait.
        var receipts: [AppendReceipt] = []
        var next = 0
        var events = 0
        /// Receipts that were dropped since the last call.
        var missed = 0
        var isRunning = false

        mutating func add(_ receipt: AppendReceipt) {
            receipts.append(receipt)
            events += receipt.places.count
            while events > CommitHooks.mostEvents, next < receipts.count - 1 {
                events -= receipts[next].places.count
                next += 1
                missed += 1
            }
            forgetOld()
        }

        /// The next receipt, and how many were dropped before it; nil if none waits.
        mutating func take() -> (receipt: AppendReceipt, missed: Int)? {
            guard next < receipts.count else { return nil }
            let receipt = receipts[next]
            next += 1
            events -= receipt.places.count
            forgetOld()
            defer { missed = 0 }
            return (receipt, missed)
        }

        /// Frees the receipts before `next` when they are half of all, so that each is moved once on average.
        private mutating func forgetOld() {
            guard next * 2 >= receipts.count else { return }
            receipts.removeFirst(next)
            next = 0
        }
    }

    private struct State: Sendable {
        var hooks: [Hook] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let hasHooks = Atomic(false)

    func add(_ body: @escaping Body) {
        state.withLock { state in
            if state.isClosed { return }
            state.hooks.append(Hook(body: body))
            hasHooks.store(true, ordering: .relaxed)
        }
    }

    /// Tells of a batch that was committed. Without hooks it costs one atomic load.
    func committed(_ batch: CommitBatch) {
        guard hasHooks.load(ordering: .relaxed) else { return }
        let receipt = AppendReceipt(of: batch)
        let idle = state.withLock { state in
            var idle: [Int] = []
            if state.isClosed { return idle }
            for index in state.hooks.indices {
                state.hooks[index].add(receipt)
                if !state.hooks[index].isRunning { idle.append(index) }
                state.hooks[index].isRunning = true
            }
            return idle
        }
        for index in idle { Task.detached { await self.run(index) } }
    }

    /// Calls a closure as long as something waits for it.
    private func run(_ index: Int) async {
        while let call = next(of: index) { await call.body(call.told.receipt, call.told.missed) }
    }

    private typealias Call = (body: Body, told: (receipt: AppendReceipt, missed: Int))

    /// The next call of a closure; nil if nothing waits for it: in a closed log it is released then.
    private func next(of index: Int) -> Call? {
        let (call, released) = state.withLock { state -> (Call?, Body?) in
            if let body = state.hooks[index].body, let told = state.hooks[index].take() { return ((body, told), nil) }
            state.hooks[index].isRunning = false
            return (nil, state.isClosed ? state.hooks[index].body.take() : nil)
        }
        // Not under the lock: a closure may hold the log, which holds this.
        return withExtendedLifetime(released) { call }
    }

    /// There are no commits any more. What waits is told; each closure is released when nothing waits for it.
    func close() {
        let released = state.withLock { state in
            state.isClosed = true
            hasHooks.store(false, ordering: .relaxed)
            return state.hooks.indices.filter { !state.hooks[$0].isRunning }.map { state.hooks[$0].body.take() }
        }
        withExtendedLifetime(released) {}
    }
}

extension AppendReceipt {
    /// The receipt of all that one commit appended.
    fileprivate init(of batch: CommitBatch) {
        var places: [Place] = []
        places.reserveCapacity(batch.count)
        batch.forEachRecord { record in
            guard let header = RecordHeader(record) else { preconditionFailure("A commit has a record of no form.") }
            places.append(
                Place(user: UserNumber(rawValue: header.user), version: Version(rawValue: header.version)))
        }
        self.init(first: Position(rawValue: batch.firstPosition), places: places, isRepetition: false, note: [])
    }
}

extension EventLog {
    /// Calls `body` after each commit of this log that stored events, with where they are and whose: to forget what a
    /// cache has of these users, or to wake a worker.
    ///
    /// ```swift
    /// log.onCommit { receipt, missed in
    ///     if missed > 0 { print("\(missed) commits before this one were not told") }
    ///     print("committed up to \(receipt.last), of \(receipt.users.count) users")
    /// }
    /// ```
    ///
    /// It is told of appends, launches and erasures by this `EventLog`, in the order of the commits; appends that a
    /// `LogWriter` committed together are one receipt. What other processes append it is not told: for everything, and
    /// for what must not be missed, take `events(after:)`. A merge names its target, and an erasure the user who was
    /// left of a merge: forget what resolves to them too.
    ///
    /// No commit waits for `body`, which runs on a task of its own, one call after the other, perhaps before the append
    /// returns. Its reads see the commit. If receipts of more than 16,384 events wait, the oldest are dropped, and
    /// `missed` says how many were since the last call. It cannot be taken back: `close()` ends it, and until then the
    /// log keeps what `body` captures.
    public func onCommit(_ body: @escaping @Sendable (_ receipt: AppendReceipt, _ missed: Int) async -> Void) {
        store.hooks.add(body)
    }
}
