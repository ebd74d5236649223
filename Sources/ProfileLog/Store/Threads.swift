internal import Foundation

/// Starts a thread that runs `body` under `name`, of which Linux takes 15 bytes, with a stack of `stackBytes` (0: the
/// system's default).
package func startThread(_ name: String, stackBytes: Int = 0, _ body: @escaping @Sendable () -> Void) {
    let hasBegun = DispatchSemaphore(value: 0)
    let thread = Thread {
        // Foundation can name a thread only after `start` has returned.
        hasBegun.wait()
        Thread.current.name = name
        body()
    }
    if stackBytes > 0 { thread.stackSize = stackBytes }
    thread.start()
    hasBegun.signal()
}

/// How many processors the machine has for this process.
package var processorCount: Int { ProcessInfo.processInfo.activeProcessorCount }

/// Runs `body` with 0 … `count` - 1, each on a thread of its own, and returns when all have returned.
package func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let done = DispatchSemaphore(value: 0)
    for index in 0..<count {
        startThread("log-fold-\(index)", stackBytes: 8 << 20) {
            body(index)
            done.signal()
        }
    }
    for _ in 0..<count { done.wait() }
}
