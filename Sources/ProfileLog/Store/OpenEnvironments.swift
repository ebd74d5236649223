internal import Glibc
internal import Synchronization

/// The environments that this process has open. LMDB's locks belong to the process: closing a second copy of a file
/// would drop the locks of the first.
final class OpenEnvironments: Sendable {
    static let shared = OpenEnvironments()

    private struct Entry: Sendable {
        weak var environment: Environment?
        /// The environment: released under the mutex, it could not be closed.
        let id: ObjectIdentifier
        let lockFile: FileIdentity
        /// The logs that use it.
        var uses = 0
        /// Tells whether the last one was closed, and the files are being closed.
        var isClosing = false
    }
    private let open = Mutex<[FileIdentity: Entry]>([:])

    private enum Look {
        case found(Environment)
        /// A conflicting opening. An environment of this process is released outside of the mutex, which its `deinit`
        /// needs.
        case busy(StorageError, Environment?)
        case failed(StorageError)
    }

    /// The environment of the store in the folder `path`, of this process or made by `make`.
    ///
    /// Waits for openings that have the store alone. To get it `alone`, waits for others a tenth of a second, then
    /// throws `inUse`, and as long for those by another path (`openElsewhere`): a program that another thread starts
    /// has all locks of this process until it runs (`exec`), also those of a store that was closed. For the same
    /// reason, and because another process may be creating the files, it retries for a second before it throws
    /// `filesChanged`.
    func environment(
        path: String, alone: Bool, orOpen make: () throws(StorageError) -> Environment
    ) throws(StorageError) -> Environment {
        var tries = 0
        while true {
            switch look(path, alone, make) {
            case .found(let environment): return environment
            case .failed(let error): throw error
            case .busy(let reason, _):
                tries += 1
                if case .filesChanged = reason, tries >= 500 { throw reason }
                if case .inUse = reason, alone, tries >= 50 { throw reason }
                if case .openElsewhere = reason, tries >= 50 { throw reason }
            }
            usleep(2_000)
        }
    }

    private func look(_ path: String, _ alone: Bool, _ make: () throws(StorageError) -> Environment) -> Look {
        open.withLock { open in
            if let identity = FileIdentity(Environment.dataFile(in: path)), let entry = open[identity] {
                let environment = entry.environment
                if let environment, !alone, !environment.isAlone, !entry.isClosing { return .found(environment) }
                return .busy(.inUse(path: path), environment)
            }
            // With another data file: this process must not open a lock file twice.
            if let lock = FileIdentity(Environment.lockFile(in: path)),
                open.values.contains(where: { $0.lockFile == lock })
            {
                return .busy(.filesChanged(path: path), nil)
            }
            do throws(StorageError) {
                let environment = try make()
                open[environment.files.data] = Entry(
                    environment: environment, id: ObjectIdentifier(environment), lockFile: environment.files.lock)
                return .found(environment)
            } catch {
                switch error {
                // Retried without this mutex, which the conflicting opening may need.
                case .inUse, .filesChanged, .openElsewhere: return .busy(error, nil)
                default: return .failed(error)
                }
            }
        }
    }

    /// Notes one more log that uses `environment`; false if its files are being closed.
    func beginUse(of environment: Environment) -> Bool {
        open.withLock { open in
            guard var entry = open[environment.files.data], entry.id == ObjectIdentifier(environment), !entry.isClosing
            else { return false }
            entry.uses += 1
            open[environment.files.data] = entry
            return true
        }
    }

    /// Notes that a log does not use `environment` any more. True if it was the last one and is `closing`: the caller
    /// closes the files, and until then they cannot be opened.
    func endUse(of environment: Environment, closing: Bool) -> Bool {
        open.withLock { open in
            guard var entry = open[environment.files.data], entry.id == ObjectIdentifier(environment) else {
                return false
            }
            entry.uses -= 1
            entry.isClosing = closing && entry.uses == 0
            open[environment.files.data] = entry
            return entry.isClosing
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
