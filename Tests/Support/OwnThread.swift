internal import Foundation
internal import ProfileLog

/// Runs `body` on a thread of its own: a test that blocks would hold one of the few threads on which all tests run.
/// Who listens to the task hears the coverage marks of `body`.
package func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        let work = CoverageMark.carried { continuation.resume(with: Result { try body() }) }
        let thread = Thread { work() }
        thread.stackSize = 8 << 20
        thread.start()
    }
}
