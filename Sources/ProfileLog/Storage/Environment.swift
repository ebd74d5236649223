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

    /// What to do when the folder holds no store yet.
    enum Missing: Sendable { case refuse, create }

    private init(
        path: String, handle: OpaquePointer, tables: Tables, identity: FileIdentity, folder: consuming FolderLock
    ) {
        self.folder = folder
        self.path = path
        self.handle = handle
        self.tables = tables
        self.identity = identity
    }

    deinit { OpenEnvironments.shared.close(identity) { mdb_env_close(handle) } }

    /// Opens the store in the folder `path`, or gives the one that this process has open already. Whoever gets it uses it until they `leave` it.
    static func open(path: String, missing: Missing) throws(StorageError) -> Environment {
        let file = path + "/data.mdb"
        // Before LMDB is asked, which leaves its lock file wherever it looks.
        if missing == .create {
            let found = try StoreFolder(path: path)
            if found == .foreign { throw .notAStore(path: path) }
        }
        if FileIdentity(file) == nil {
            guard missing == .create else { throw .noStore(path: path) }
            try makeFolder(path)
        }
        try refuseNetworkFileSystem(path)
        return try OpenEnvironments.shared.environment(file: file) { () throws(StorageError) in
            try openFresh(path: path)
        }
    }

    private static func openFresh(path: String) throws(StorageError) -> Environment {
        if access(path, W_OK) != 0 { throw .notWritable(path: path) }
        // Before the file is looked at, which a compaction replaces.
        let folder = try FolderLock(path)
        let file = path + "/data.mdb"
        let isNew = FileIdentity(file) == nil
        var handle: OpaquePointer?
        try StorageError.check(mdb_env_create(&handle), "open")
        guard let handle else { throw .system(operation: "open", code: 0) }
        var opened = false
        defer { if !opened { mdb_env_close(handle) } }
        BrokenPage.watch(handle)
        try StorageError.check(mdb_env_set_mapsize(handle, mapSizeBytes), "open")
        try StorageError.check(mdb_env_set_maxdbs(handle, 32), "open")
        try StorageError.check(mdb_env_set_maxreaders(handle, maxReaders), "open")
        try refuseFullDisk(path)
        let code = mdb_env_open(handle, path, UInt32(MDB_NOTLS), 0o644)
        switch code {
        case 0: break
        case MDB_INVALID, MDB_VERSION_MISMATCH: throw .notAStore(path: path)
        case EACCES, EROFS: throw .notWritable(path: path)
        case ENOENT: throw .noStore(path: path)
        default: throw .from(code, "open")
        }
        try refuseTruncated(handle, path: path, file: file)
        var dead: Int32 = 0
        try StorageError.check(mdb_reader_check(handle, &dead), "reader check")
        let tables = try openTables(handle, path: path, isNew: isNew)
        if isNew { syncFolder(path) }
        guard let identity = FileIdentity(file) else { throw .noStore(path: path) }
        opened = true
        return Environment(path: path, handle: handle, tables: tables, identity: identity, folder: folder)
    }

    /// Opens every table; in a new file, makes them. A file with other tables than ours is left as it is. One that was written before
    /// there was some cache gets its table.
    private static func openTables(
        _ handle: OpaquePointer, path: String, isNew: Bool
    ) throws(StorageError) -> Tables {
        var transaction: OpaquePointer?
        try StorageError.check(mdb_txn_begin(handle, nil, 0, &transaction), "open")
        guard let transaction else { throw .system(operation: "open", code: 0) }
        var committed = false
        defer { if !committed { mdb_txn_abort(transaction) } }
        var isEmpty = isNew
        if !isEmpty {
            var main: UInt32 = 0
            var stat = MDB_stat()
            try StorageError.check(mdb_dbi_open(transaction, nil, 0, &main), "open")
            try StorageError.check(mdb_stat(transaction, main, &stat), "open")
            isEmpty = stat.ms_entries == 0
        }
        let tables = try Tables { (name) throws(StorageError) in
            var table: UInt32 = 0
            let flags = isEmpty || !name.isTruth ? UInt32(MDB_CREATE) : 0
            let code = mdb_dbi_open(transaction, name.rawValue, flags, &table)
            if code == MDB_NOTFOUND || code == MDB_INCOMPATIBLE { throw .notAStore(path: path) }
            try StorageError.check(code, "open")
            return Table(handle: table)
        }
        committed = true
        try StorageError.check(mdb_txn_commit(transaction), "open")
        return tables
    }

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

// MARK: - Opening

extension Environment {
    private static func makeFolder(_ path: String) throws(StorageError) {
        if mkdir(path, 0o755) == 0 {
            syncFolder(path + "/..")
            return
        }
        switch errno {
        case EEXIST: return
        case EACCES, EROFS: throw .notWritable(path: path)
        case let code: throw .unreachable(path: path, code: code)
        }
    }

    /// LMDB never syncs the folder of a file that it makes.
    private static func syncFolder(_ path: String) {
        let folder = Glibc.open(path, O_RDONLY | O_DIRECTORY)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    private static func refuseNetworkFileSystem(_ path: String) throws(StorageError) {
        var stat = statfs()
        guard statfs(path, &stat) == 0 else { throw .unreachable(path: path, code: errno) }
        let network: Set<Int> = [0x6969, 0xFF53_4D42, 0x517B, 0x0102_1997, 0xFE53_4D42, 0x0BD0_0BD0]
        if network.contains(Int(stat.f_type)) { throw .networkFileSystem(path: path) }
    }

    /// LMDB makes its lock file without asking for its blocks, and writes to it through a map: with no space left that is a crash (SIGBUS).
    private static func refuseFullDisk(_ path: String) throws(StorageError) {
        var lock = stat()
        let hasLock = stat(path + "/lock.mdb", &lock) == 0 && lock.st_blocks > 0
        if !hasLock, isDiskFull(path) { throw .diskFull }
    }

    /// Whether the file system of `path` has less left than a store needs to begin.
    static func isDiskFull(_ path: String) -> Bool {
        var stat = statfs()
        guard statfs(path, &stat) == 0 else { return false }
        return UInt64(stat.f_bavail) * UInt64(stat.f_bsize) < 1 << 20
    }

    /// A page beyond the file's end would be a crash (SIGBUS) when it is read through the map.
    ///
    /// LMDB does not write a page that it took from the file's end and gave back in the same transaction, and yet counts it. Measured with
    /// 0.9.24: that needs a value with pages of its own (beyond 2 KB) that is put and deleted, or put again, in one transaction. No
    /// transaction of ours does that (`CheckpointTests.fileLength`); one that did would have to touch the file's end.
    private static func refuseTruncated(
        _ handle: OpaquePointer, path: String, file: String
    ) throws(StorageError) {
        var info = MDB_envinfo()
        var stat = MDB_stat()
        try StorageError.check(mdb_env_info(handle, &info), "open")
        try StorageError.check(mdb_env_stat(handle, &stat), "open")
        let needed = UInt64(info.me_last_pgno + 1) * UInt64(stat.ms_psize)
        let bytes = FileIdentity(file)?.bytes ?? 0
        if bytes > 0, bytes < needed { throw .truncated(path: path, bytes: bytes, neededBytes: needed) }
    }
}

/// Which file it is, whatever path leads to it.
struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
    let bytes: UInt64

    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        bytes = UInt64(status.st_size)
    }

    static func == (left: FileIdentity, right: FileIdentity) -> Bool {
        left.device == right.device && left.inode == right.inode
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(device)
        hasher.combine(inode)
    }
}

/// The environments that this process has open. LMDB's locks belong to the process: closing a second copy of a file would drop
/// the locks of the first.
private final class OpenEnvironments: Sendable {
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
