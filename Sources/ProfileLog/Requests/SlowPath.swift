internal import Dispatch

#if canImport(Glibc)
    internal import Glibc
#endif

/// Threads for requests that take long to decide, so that short ones do not wait for them. One pool, bounded by the
/// system.
package final class SlowPath: TaskExecutor {
    /// The pool of this process.
    package static let shared = SlowPath()

    /// How much these threads yield to others where cores are few (nice(2)).
    private static let niceness: Int32 = 5

    private let queue = DispatchQueue(label: "slow-path", qos: .utility, attributes: .concurrent)

    /// Runs `work` on a thread of the pool.
    package static func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value
    {
        try await withTaskExecutorPreference(shared) { try await onPool(work) }
    }

    @concurrent
    private static func onPool<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value { try await work() }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async {
            Self.yieldToOthers()
            job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }

    /// Lowers this thread's priority. Linux keeps one for each thread, and threads of the utility class do nothing
    /// else.
    private static func yieldToOthers() {
        #if canImport(Glibc)
            setpriority(.init(PRIO_PROCESS.rawValue), 0, niceness)
        #endif
    }
}
