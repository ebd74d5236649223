internal import Synchronization

/// Lets tasks wait for the next event of a log, whichever process appends it.
///
/// Commits of this process wake them. While a task waits, another one looks for those of other processes, every two
/// milliseconds; no other polls. While none waits, it costs a commit one atomic load.
package final class PositionWatch: Sendable {
    private struct Waiter: Sendable {
        let position: Position
        let deadline: ContinuousClock.Instant?
        let continuation: CheckedContinuation<Position?, any Error>
    }

    private struct State: Sendable {
        var waiters: [UInt64: Waiter] = [:]
        var nextID: UInt64 = 0
        var isPolling = false
        var isClosed = false
    }

    private let state = Mutex(State())
    private let isAwaited = Atomic(false)
    private static let pollInterval = Duration.milliseconds(2)

    /// Returns the last position as soon as it is after `position`; nil at `deadline`. `last` reads it.
    ///
    /// Throws `CancellationError` at once if the task is cancelled, `StorageError.closed` when the log is closed, and
    /// what `last` throws.
    func wait(
        after position: Position, until deadline: ContinuousClock.Instant?,
        last: @escaping @Sendable () throws -> Position
    ) async throws -> Position? {
        try Task.checkCancellation()
        let now = try last()
        if now > position { return now }
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waiter = Waiter(position: position, deadline: deadline, continuation: continuation)
                let (isClosed, mustPoll) = state.withLock { state in
                    if state.isClosed { return (true, false) }
                    state.waiters[id] = waiter
                    isAwaited.store(true, ordering: .relaxed)
                    defer { state.isPolling = true }
                    return (false, !state.isPolling)
                }
                if isClosed { return continuation.resume(throwing: StorageError.closed) }
                // It was cancelled before there was a waiter.
                if Task.isCancelled { end(id) }
                if mustPoll { Task.detached { await self.poll(last) } }
            }
        } onCancel: {
            end(id)
        }
    }

    /// Tells those who wait that the log has reached `position`.
    func advanced(to position: Position) {
        guard isAwaited.load(ordering: .relaxed) else { return }
        resume { $0.position < position ? .success(position) : nil }
    }

    /// Ends all waits with `StorageError.closed`, also those that begin later.
    func close() {
        state.withLock { $0.isClosed = true }
        resume { _ in .failure(StorageError.closed) }
    }

    private func end(_ id: UInt64) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
        waiter?.continuation.resume(throwing: CancellationError())
    }

    /// Resumes the waiters that `answer` has a result for.
    private func resume(_ answer: (Waiter) -> Result<Position?, any Error>?) {
        let ended = state.withLock { state in
            var ended: [(Waiter, Result<Position?, any Error>)] = []
            for (id, waiter) in state.waiters {
                guard let answer = answer(waiter) else { continue }
                ended.append((waiter, answer))
                state.waiters[id] = nil
            }
            return ended
        }
        for (waiter, answer) in ended { waiter.continuation.resume(with: answer) }
    }

    /// Looks at the log for as long as a task waits.
    private func poll(_ last: @Sendable () throws -> Position) async {
        while true {
            do {
                let (position, now) = (try last(), ContinuousClock.now)
                resume { waiter in
                    if waiter.position < position { return .success(position) }
                    return waiter.deadline.map { $0 <= now } == true ? .success(nil) : nil
                }
            } catch {
                resume { _ in .failure(error) }
            }
            let isDone = state.withLock { state in
                state.isPolling = !state.waiters.isEmpty
                isAwaited.store(state.isPolling, ordering: .relaxed)
                return !state.isPolling
            }
            if isDone { return }
            try? await Task.sleep(for: Self.pollInterval)
        }
    }
}

extension EventLog {
    /// Returns the last position as soon as it is after `position`; nil at `deadline`. Throws as ``wait(for:)``.
    package func wait(
        after position: Position, until deadline: ContinuousClock.Instant? = nil
    ) async throws -> Position? {
        try await store.watch.wait(after: position, until: deadline) { [store] in try store.lastPosition() }
    }
}
