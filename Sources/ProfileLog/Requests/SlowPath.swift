internal import Dispatch
internal import ProfileLogSnippets

/// Threads for requests that take long, so that short ones do not wait for them. Each pool is bounded by the system.
package final class SlowPath: TaskExecutor {
    /// The pool for what takes long. Its threads yield to others where cores are few.
    package static let shared = SlowPath(label: "slow-path", qos: .utility, yields: true)

    /// The pool for the first moment of reads, and for parts of streams: no write waits for them.
    package static let reads = SlowPath(label: "reads", qos: .background, yields: false)

    private let queue: DispatchQueue
    private let yields: Bool

    /// Threads of one class do nothing but the work of one pool.
    private init(label: String, qos: DispatchQoS, yields: Bool) {
        queue = DispatchQueue(label: label, qos: qos, attributes: .concurrent)
        self.yields = yields
    }

    /// Runs `work` on a thread of the pool, from its first line on: a `@concurrent` closure begins by leaving the
    /// caller's thread. A forwarded one would not: the optimiser drops a hop that only a call follows.
    package static func run<Value: Sendable>(
        _ work: @concurrent @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withTaskExecutorPreference(shared, operation: work)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async {
            if self.yields { yieldToOtherThreads() }
            job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}
