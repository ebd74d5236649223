internal import ProfileLogSnippets
internal import Synchronization

/// Runs the reads of a service on threads of their own, so that however long they take, no connection and no write
/// waits for them.
///
/// A read first has a moment, which is enough for most. A longer read begins again when it has one of a few places, and
/// then goes on until it is done, its time is up, or its client has gone. So short reads do not wait for long ones, and
/// long ones leave the cores to others.
package final class Reads: Sendable {
    /// The number of long reads.
    package struct Counts: Sendable {
        package var running = 0
        /// A caller that waits for a place.
        package var waiting = 0
    }

    private struct State {
        var timeout: Duration
        var running = 0
        /// Get a place, or false if there is none.
        var waiting: [CheckedContinuation<Bool, Never>] = []
    }

    private let moment: Duration
    private let places: Int
    private let mostWaiting: Int
    private let state: Mutex<State>

    /// - Parameters:
    ///   - timeout: how long a read may go on when it has a place.
    ///   - moment: how long it may go on without one.
    ///   - places: for long reads: as many as there are cores, less one for all else.
    ///   - mostWaiting: long reads that wait for a place; those beyond are refused.
    package init(
        timeout: Duration, moment: Duration = .milliseconds(25), places: Int = max(1, processorCount - 1),
        mostWaiting: Int = 64
    ) {
        (self.moment, self.places, self.mostWaiting) = (moment, places, mostWaiting)
        state = Mutex(State(timeout: timeout))
    }

    /// The time for which a read may go on when it has a place. A change holds for those that begin after it.
    package var timeout: Duration {
        get { state.withLock { $0.timeout } }
        set { state.withLock { $0.timeout = newValue } }
    }

    package var counts: Counts {
        state.withLock { Counts(running: $0.running, waiting: $0.waiting.count) }
    }

    /// Returns the answer of `read`, which may be called twice. `becomingLong` is called before the second time;
    /// `isWanted` tells whether the client is still there. Throws ``APIError``.
    package func answer(
        while isWanted: @escaping @Sendable () -> Bool, becomingLong: @Sendable () -> Void = {},
        _ read: @escaping @Sendable () async -> APIAnswer
    ) async throws -> APIAnswer {
        let short = ReadBudget(moment)
        let answer = await withTaskExecutorPreference(SlowPath.reads) {
            await ReadBudget.$current.withValue(short) { await read() }
        }
        if short.stopped == nil { return answer }
        becomingLong()
        guard await takePlace(mayWait: { $0 < mostWaiting }) else { throw APIError.tooManyReads }
        defer { freePlace() }
        let long = ReadBudget(timeout, while: isWanted)
        let longAnswer = await withTaskExecutorPreference(SlowPath.shared) {
            await ReadBudget.$current.withValue(long) { await read() }
        }
        // Also where a part of the answer was missed in silence.
        if let error = long.stopped { throw APIError(error) }
        return longAnswer
    }

    /// Runs `read`: a part of an answer that is under way, which has a place for each part.
    package func part<Value: Sendable>(
        while isWanted: @escaping @Sendable () -> Bool, _ read: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        _ = await takePlace(mayWait: { _ in true })
        defer { freePlace() }
        let budget = ReadBudget(timeout, while: isWanted)
        return try await SlowPath.run { try ReadBudget.$current.withValue(budget) { try read() } }
    }

    /// Takes a place, or waits for one; false if all are taken and `mayWait` refuses to wait after so many others.
    private func takePlace(mayWait: (Int) -> Bool) async -> Bool {
        await withCheckedContinuation { continuation in
            let hasPlace = state.withLock { state -> Bool? in
                if state.running < places {
                    state.running += 1
                    return true
                }
                guard mayWait(state.waiting.count) else { return false }
                state.waiting.append(continuation)
                return nil
            }
            if let hasPlace { continuation.resume(returning: hasPlace) }
        }
    }

    private func freePlace() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            state.running -= 1
            return nil
        }
        next?.resume(returning: true)
    }
}

extension APIError {
    fileprivate static let tooManyReads = APIError(
        status: 503, code: "too_many_reads", error: "As many long reads wait as the service allows.",
        remedy: "Ask again in a while, one after the other, or for less.", headers: [("Retry-After", "5")])
}
