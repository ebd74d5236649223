internal import Dispatch

#if canImport(Glibc)
    internal import Glibc
#endif

/// Threads of their own for requests that take long to decide, so that short ones need not wait behind sixty of them.
final class LargeWork: TaskExecutor {
    /// How far these threads stand behind all others where cores are few (nice(2)).
    private static let niceness: Int32 = 5

    private let queue = DispatchQueue(label: "profiled-large", qos: .utility, attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async {
            Self.stepBack()
            job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }

    /// Lets the other threads go first. Linux keeps a priority for each thread, and those of the utility class do nothing else.
    private static func stepBack() {
        #if canImport(Glibc)
            setpriority(.init(PRIO_PROCESS.rawValue), 0, niceness)
        #endif
    }
}
