internal import Synchronization

/// The time that a read may take, and the question whether its answer is still wanted.
///
/// A service gives one to each read. Every view of the log takes that of its task, and looks at it now and then while
/// it reads records; loops over other things look at it by themselves. A program that reads for itself has none, and
/// its reads go on to their end.
///
/// ```swift
/// let budget = ReadBudget(.seconds(30)) { connection.isOpen }
/// try ReadBudget.$current.withValue(budget) { try log.blame(of: user) }
/// ```
package final class ReadBudget: Sendable {
    /// The budget of the running task.
    @TaskLocal package static var current: ReadBudget?

    private struct State {
        var begin = ContinuousClock.now
        var stopped: ReadError?
        var checks = 0
        var views = 0
    }

    private let limit: Duration
    private let isWanted: @Sendable () -> Bool
    private let onView: @Sendable () -> Void
    private let state = Mutex(State())

    /// A read may go on for `limit` and as long as `isWanted` answers true. `onView` is called before each view of a
    /// store that it opens.
    package init(
        _ limit: Duration, while isWanted: @escaping @Sendable () -> Bool = { true },
        onView: @escaping @Sendable () -> Void = {}
    ) {
        (self.limit, self.onView, self.isWanted) = (limit, onView, isWanted)
    }

    /// The reason why a read with it was stopped; nil if none was.
    package var stopped: ReadError? { state.withLock { $0.stopped } }

    /// The number of times that a read looked at it: a measure of what the read costs that is the same on every
    /// machine.
    package var checks: Int { state.withLock { $0.checks } }

    /// The number of views of a store that the read has opened: an answer is of one moment if all its reads are.
    package var views: Int { state.withLock { $0.views } }

    func noteView() {
        state.withLock { $0.views += 1 }
        onView()
    }

    /// The time begins again: until now the read only waited for news.
    package func restart() { state.withLock { $0.begin = .now } }

    /// Throws if the read is to end.
    package func check() throws(ReadError) {
        let isWanted = isWanted()
        let stop = state.withLock { state -> ReadError? in
            state.checks += 1
            if !isWanted { state.stopped = .abandoned }
            if isWanted, ContinuousClock.now - state.begin > limit { state.stopped = .tooLong(limit) }
            return state.stopped
        }
        if let stop { throw stop }
    }

    /// As `check()`, at one of 32 positions: for loops with short steps.
    @inlinable
    @inline(__always)
    package func check(at position: UInt64) throws(ReadError) {
        // Every 32nd would miss a user whose events are all at odd positions.
        if (position &* 0x9E37_79B9_7F4A_7C15) >> 59 == 0 { try check() }
    }
}

/// The reason why a read was stopped before its end.
package enum ReadError: Error, Hashable {
    /// The read took longer than this.
    case tooLong(Duration)
    /// Its client has gone.
    case abandoned
    /// The read would keep more bytes in memory than this.
    case tooLarge(bytes: Int)
    /// The read would put more events than this in the order of occurrence.
    case tooManyToOrder(most: Int)
}
