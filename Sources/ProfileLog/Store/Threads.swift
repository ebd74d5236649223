internal import Foundation

#if canImport(Glibc)
    internal import Glibc
#endif

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

/// Sets this thread's niceness (nice(2)) to `niceness`, so that others come first where cores are few. Linux keeps one
/// for each thread, and a thread that it starts has the same. It stays: only a thread that does nothing else may call
/// this.
package func yieldToOtherThreads(niceness: Int32 = 5) {
    #if canImport(Glibc)
        setpriority(.init(PRIO_PROCESS.rawValue), 0, niceness)
    #endif
}

/// A value that another thread makes while the caller goes on.
package final class ValueAhead<Value: Sendable>: Sendable {
    private let made = Guarded<Result<Value, any Error>?>(nil)
    private let isMade = DispatchSemaphore(value: 0)

    /// Starts `make` on a thread of its own.
    package init(_ make: @escaping @Sendable () throws -> Value) {
        startThread("log-ahead") { [made, isMade] in
            let result = Result { try make() }
            made.withWriting { $0 = result }
            isMade.signal()
        }
    }

    /// Waits for the value. Throws the error of `make`.
    package func value() throws -> Value {
        isMade.wait()
        defer { isMade.signal() }
        guard let result = made.withReading({ $0 }) else { preconditionFailure("The value is set before the signal.") }
        return try result.get()
    }
}

/// The number of the machine's processors for this process.
package var processorCount: Int { ProcessInfo.processInfo.activeProcessorCount }

/// Runs `body` with 0 … `count` - 1, each on a thread of its own (one alone on the caller's), and returns when all
/// have returned. Throws the error of the first that failed. In a read of a service the threads have its budget, and
/// yield to others.
package func onThreads<Failure: Error>(
    _ count: Int, _ body: @escaping @Sendable (Int) throws(Failure) -> Void
) throws(Failure) {
    if count == 1 { return try body(0) }
    let done = DispatchSemaphore(value: 0)
    let failures = Guarded<[Int: Failure]>([:])
    let budget = ReadBudget.current
    for index in 0..<count {
        startThread("log-fold-\(index)", stackBytes: 8 << 20) {
            if budget != nil { yieldToOtherThreads() }
            ReadBudget.$current.withValue(budget) {
                do throws(Failure) { try body(index) } catch { failures.withWriting { $0[index] = error } }
            }
            done.signal()
        }
    }
    for _ in 0..<count { done.wait() }
    if let first = failures.withReading({ $0.min { $0.key < $1.key }?.value }) { throw first }
}
