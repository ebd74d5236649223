internal import Glibc
internal import Synchronization

/// The environments that this process has open. LMDB's locks belong to the process: closing a second copy of a file would drop
/// the locks of the first.
final class OpenEnvironments: Sendable {
    static let shared = OpenEnvironments()

    private struct Weak: Sendable {
        weak var environment: Environment?
    }
    private let open = Mutex<[FileIdentity: Weak]>([:])

    func environment(
        file: String, orOpen make: () throws(StorageError) -> Environment
    ) throws(StorageError) -> Environment {
        while true {
            if let result = environmentOrNil(file: file, orOpen: make) { return try result.get() }
            usleep(2_000)
        }
    }

    /// An environment that the caller has entered: nobody replaces its file from here on. Nil while somebody does, or the last user of it is
    /// closing it: two openings of one file in a process would share its locks.
    private func environmentOrNil(
        file: String, orOpen make: () throws(StorageError) -> Environment
    ) -> Result<Environment, StorageError>? {
        open.withLock { open in
            if let identity = FileIdentity(file), let entry = open[identity] {
                return entry.environment.flatMap { $0.enter() ? .success($0) : nil }
            }
            do throws(StorageError) {
                let environment = try make()
                guard environment.enter() else { return nil }
                if let identity = FileIdentity(file) { open[identity] = Weak(environment: environment) }
                return .success(environment)
            } catch {
                // Whoever replaces the file is waited for without this lock, which they may need.
                if case .inUse = error { return nil }
                return .failure(error)
            }
        }
    }

    /// Closes the file of `identity`, and only then lets it be opened again.
    func close(_ identity: FileIdentity, _ close: () -> Void) {
        open.withLock { open in
            close()
            open[identity] = nil
        }
    }
}
