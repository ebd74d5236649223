internal import Dispatch
internal import NIOCore

#if canImport(Glibc)
    internal import Glibc
#endif

/// Runs the tasks of a connection on the event loop that reads and writes it, so that a short request changes no thread
/// but for its commit.
///
/// Work that takes long or blocks must go elsewhere (`withTaskExecutorPreference`): it would hold up the loop's other
/// connections.
final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Threads for requests that take long to decide, so that short ones do not wait for sixty of them.
final class LargeWork: TaskExecutor {
    /// By how much these threads yield to all others where cores are few (nice(2)).
    private static let niceness: Int32 = 5

    private let queue = DispatchQueue(label: "profiled-large", qos: .utility, attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async {
            #if canImport(Glibc)
                // Linux keeps a priority for each thread, and threads of the utility class do nothing else.
                setpriority(.init(PRIO_PROCESS.rawValue), 0, Self.niceness)
            #endif
            job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}
