internal import ProfileLog

/// Runs each step of what prefers it on a thread of its own.
final class OwnThreads: TaskExecutor {
    static let shared = OwnThreads()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        startThread("long-decision") { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
