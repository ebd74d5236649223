internal import CLMDB
internal import Glibc
internal import Synchronization

/// LMDB's open file. One per file and process: `open` gives the same one again, as LMDB demands.
///
/// `@unchecked Sendable`: the handle and the tables never change after `open`, LMDB's environment may be used by any thread, and what
/// does change is atomic or behind a lock.
package final class Environment: @unchecked Sendable {
    /// Address space that is reserved; the file grows into it as needed.
    package static let mapSizeBytes = 1 << 40
    /// Reader slots in the lock file.
    static let maxReaders: UInt32 = 4096

    let path: String
    let handle: OpaquePointer
    package let tables: Tables
    let identity: FileIdentity
    /// Whether nobody else has the store open, in this process or another.
    let isAlone: Bool
    private let folder: FolderLock
    private let failed = Atomic<Bool>(false)
    /// When somebody last looked for readers that died.
    let readersChecked = Mutex(ContinuousClock.now)
    /// The last commit that is known to be on the disk, whoever made it.
    private let synced: Atomic<Int>

    init(
        path: String, handle: OpaquePointer, tables: Tables, identity: FileIdentity, folder: consuming FolderLock,
        isAlone: Bool, synced: Int
    ) {
        self.folder = folder
        self.path = path
        self.handle = handle
        self.tables = tables
        self.identity = identity
        self.isAlone = isAlone
        self.synced = Atomic(synced)
    }

    deinit { OpenEnvironments.shared.close(identity) { mdb_env_close(handle) } }

    /// Readers of processes that died keep old pages in use until their slots are freed (`mdb_reader_check`).
    func clearStaleReaders() {
        var dead: Int32 = 0
        _ = mdb_reader_check(handle, &dead)
    }

    /// As `clearStaleReaders`, once a minute. To be called behind commits: nobody else takes new pages.
    func clearStaleReadersIfDue() {
        let now = ContinuousClock.now
        let isDue = readersChecked.withLock { last in
            if now - last < .seconds(60) { return false }
            last = now
            return true
        }
        if isDue { clearStaleReaders() }
    }

    /// Runs `body`, which may put a file of the same file system in the place of the store's own. From then on this environment, which
    /// still has the old one, takes nothing more. Needs the store `alone`, until this environment is closed: both files have the same
    /// lock file.
    package func replacingFile<Result>(_ body: ((_ replace: String) throws -> Void) throws -> Result) throws -> Result {
        precondition(isAlone, "others have the file open that is to be replaced")
        return try withWriteTransaction { _ in try body(replaceFile) }
    }

    private func replaceFile(with file: String) throws(StorageError) {
        // Whoever put another one there knows nothing of our locks.
        guard FileIdentity(Self.dataFile(in: path)) == identity else { throw .inUse(path: path) }
        guard rename(file, Self.dataFile(in: path)) == 0 else { throw .system(operation: "rename", code: errno) }
        markFailed()
        try FolderSync.sync(path)
    }

    /// Makes sure that what `transaction` found is on the disk (`mdb_env_sync`): another process may have died between a commit and its last
    /// sync. Throws `CommitFailure.unknown` if it cannot be said.
    package func syncWhatIsSeen(by transaction: borrowing WriteTransaction) throws {
        let seen = mdb_txn_id(transaction.handle) - 1
        if seen <= synced.load(ordering: .relaxed) { return }
        let code = mdb_env_sync(handle, 1)
        if code != 0 {
            markFailed()
            throw CommitFailure.unknown(code: code)
        }
        synced.store(seen, ordering: .relaxed)
    }

    /// From now on, refuse to write: after a failed sync nobody can say what the disk holds.
    func markFailed() { failed.store(true, ordering: .relaxed) }

    /// Why the store takes no writes now; nil if it does.
    package var writeRefusal: StorageError? { failed.load(ordering: .relaxed) ? .closedAfterFailure : nil }

    func refuseAfterFailure() throws(StorageError) {
        if let writeRefusal { throw writeRefusal }
    }

    /// Bytes of the file that hold something, free pages included.
    package var usedBytes: UInt64 { MetaPages.usedBytes(handle) }
}
