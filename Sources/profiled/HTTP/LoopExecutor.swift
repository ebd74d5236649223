internal import NIOCore

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
