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

    private enum Look {
        case found(Environment)
        case failed(StorageError)
        /// Somebody has the store, or is closing it. Whose environment that is is let go of outside of the lock, which its end needs.
        case busy(Environment?)
    }

    /// The environment of the store in the folder `path`, of this process or made by `make`.
    ///
    /// Whoever has the store alone is waited for. To get it `alone`, others are waited for no longer than a tenth of a second, and then
    /// it is `inUse`: a program that another thread starts has all locks of this process until it runs (`exec`), also those of a store
    /// that was closed.
    func environment(
        path: String, alone: Bool, orOpen make: () throws(StorageError) -> Environment
    ) throws(StorageError) -> Environment {
        var tries = 0
        while true {
            switch look(Environment.dataFile(in: path), alone, make) {
            case .found(let environment): return environment
            case .failed(let error): throw error
            case .busy: tries += 1
            }
            if alone, tries == 50 { throw .inUse(path: path) }
            usleep(2_000)
        }
    }

    private func look(_ file: String, _ alone: Bool, _ make: () throws(StorageError) -> Environment) -> Look {
        open.withLock { open in
            if let identity = FileIdentity(file), let entry = open[identity] {
                let environment = entry.environment
                if let environment, !alone, !environment.isAlone { return .found(environment) }
                return .busy(environment)
            }
            do throws(StorageError) {
                let environment = try make()
                open[environment.identity] = Weak(environment: environment)
                return .found(environment)
            } catch {
                // Without this lock, which whoever has the store may need.
                if case .inUse = error { return .busy(nil) }
                return .failed(error)
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
