internal import Dispatch

/// Threads of their own for requests that take long to decide, so that short ones need not wait behind sixty of them.
final class LargeWork: TaskExecutor {
    /// A body of so many bytes makes a request a long one: some 50 objects, a third of a millisecond.
    static let bodyBytes = 8 << 10

    private let queue = DispatchQueue(label: "profiled-large", qos: .utility, attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
