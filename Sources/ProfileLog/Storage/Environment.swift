internal import CLMDB
internal import Glibc
internal import Synchronization

/// LMDB's open file. One per file and process: `open` gives the same one again, as LMDB demands.
///
/// `@unchecked Sendable`: the handle and the tables never change after `open`, LMDB's environment may be used by any thread, and
/// `failed` is atomic.
final class Environment: @unchecked Sendable {
    /// Address space that is reserved; the file grows into it as needed.
    static let mapSizeBytes = 1 << 40
    /// Reader slots in the lock file.
    static let maxReaders: UInt32 = 4096

    let path: String
    let handle: OpaquePointer
    let tables: Tables
    private let identity: FileIdentity
    private let folder: FolderLock
    private let failed = Atomic<Bool>(false)
    /// How many logs of this process use it; negative while its file is replaced.
    private let users = Atomic<Int>(0)

    init(
        path: String, handle: OpaquePointer, tables: Tables, identity: FileIdentity, folder: consuming FolderLock
    ) {
        self.folder = folder
        self.path = path
        self.handle = handle
        self.tables = tables
        self.identity = identity
    }

    deinit { OpenEnvironments.shared.close(identity) { mdb_env_close(handle) } }

    /// Readers of processes that died keep old pages in use until their slots are freed (`mdb_reader_check`).
    func clearStaleReaders() {
        var dead: Int32 = 0
        _ = mdb_reader_check(handle, &dead)
    }

    /// Runs `body` while no other process has the store open, and nobody writes; `body` may put a file of the same file system in the
    /// place of the store's own. From then on this environment, which still has the old one, takes nothing more. Throws `inUse` if
    /// another log of this process, or another process, has the store open.
    func replacingFile<Result>(_ body: ((_ replace: String) throws -> Void) throws -> Result) throws -> Result {
        guard users.compareExchange(expected: 1, desired: Self.isReplacing, ordering: .acquiringAndReleasing).exchanged
        else { throw StorageError.inUse(path: path) }
        guard folder.takeAlone() else {
            users.store(1, ordering: .releasing)
            throw StorageError.inUse(path: path)
        }
        var isReplaced = false
        // Once the file is another one, nobody may open it before this environment is closed: both have the same lock file.
        defer {
            if !isReplaced {
                folder.share()
                users.store(1, ordering: .releasing)
            }
        }
        return try withWriteTransaction { _ in
            try body { file in
                guard rename(file, path + "/data.mdb") == 0 else {
                    throw StorageError.system(operation: "rename", code: errno)
                }
                isReplaced = true
                Self.syncFolder(path)
                markFailed()
            }
        }
    }

    /// Begins to use the environment; false while its file is replaced.
    func enter() -> Bool {
        var known = users.load(ordering: .acquiring)
        while known >= 0 {
            let (exchanged, original) = users.weakCompareExchange(
                expected: known, desired: known + 1, ordering: .acquiringAndReleasing)
            if exchanged { return true }
            known = original
        }
        return false
    }

    /// Ends to use the environment.
    func leave() { users.subtract(1, ordering: .acquiringAndReleasing) }

    private static let isReplacing = Int.min / 2

    /// From now on, refuse to write: after a failed sync nobody can say what the disk holds.
    func markFailed() { failed.store(true, ordering: .relaxed) }

    func refuseAfterFailure() throws(StorageError) {
        if failed.load(ordering: .relaxed) { throw .closedAfterFailure }
    }

    /// Bytes of the file that hold something: last used page and page size (`mdb_env_info`).
    var usedBytes: UInt64 {
        var info = MDB_envinfo()
        var stat = MDB_stat()
        mdb_env_info(handle, &info)
        mdb_env_stat(handle, &stat)
        return UInt64(info.me_last_pgno + 1) * UInt64(stat.ms_psize)
    }
}
