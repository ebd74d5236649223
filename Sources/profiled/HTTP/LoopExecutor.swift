internal import HummingbirdCore
internal import Logging
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

/// Connections as `Base` has them, each on the event loop of its channel.
struct OnEventLoop<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        base.setup(channel: channel, logger: logger)
    }

    func handle(value: Base.Value, logger: Logger) async {
        await withTaskExecutorPreference(LoopExecutor(value.channel.eventLoop)) {
            await base.handle(value: value, logger: logger)
        }
    }
}
