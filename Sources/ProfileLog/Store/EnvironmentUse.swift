internal import Synchronization

/// The use of an environment by one log. Several logs of a process may have the same file open: it is closed when the
/// last of them is closed, or with the last reference to the environment.
package final class EnvironmentUse: Sendable {
    package let environment: Environment
    private let hasEnded = Atomic(false)

    private init(of environment: Environment) { self.environment = environment }

    /// As `Environment.open`.
    package static func open(
        path: String, missing: Environment.Missing, alone: Bool, mode: UInt32
    ) throws(StorageError) -> EnvironmentUse {
        while true {
            let environment = try Environment.open(path: path, missing: missing, alone: alone, mode: mode)
            // Unless it was closed in between.
            if OpenEnvironments.shared.beginUse(of: environment) { return EnvironmentUse(of: environment) }
        }
    }

    deinit {
        if !hasEnded.load(ordering: .relaxed) { _ = OpenEnvironments.shared.endUse(of: environment, closing: false) }
    }

    /// Ends it, and closes the files if it was the last: it waits for transactions that run. Must not be called within
    /// one.
    package func end() {
        if hasEnded.exchange(true, ordering: .relaxed) { return }
        if OpenEnvironments.shared.endUse(of: environment, closing: true) { environment.close() }
    }
}
