import Foundation
import TestSupport

extension TemporaryFolder {
    /// The whole lines of the file `name`; a last line without an end is none.
    func lines(_ name: String) -> [String] {
        guard let text = try? String(contentsOfFile: self(name), encoding: .utf8) else { return [] }
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    func bytes(_ name: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: self(name))[.size] as? Int) ?? 0
    }
}

/// Runs `body` on a thread of its own: a test that blocks would hold one of the few threads on which all tests run.
func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        let thread = Thread { continuation.resume(with: Result { try body() }) }
        thread.stackSize = 8 << 20
        thread.start()
    }
}
