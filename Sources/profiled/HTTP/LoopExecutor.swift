internal import NIOCore

/// Runs the tasks of a connection on the event loop that reads and writes it: a request that is answered there changes no thread on
/// its way in, and one on its way out, behind its commit.
///
/// What takes long, or waits in a call, must go elsewhere (`withTaskExecutorPreference`), for it holds up the loop's other connections.
final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
