internal import CLMDB
internal import Glibc

extension Environment {
    /// What to do when the folder holds no store yet.
    package enum Missing: Sendable { case refuse, create }

    /// LMDB's file in the folder of a store.
    static func dataFile(in path: String) -> String { path + "/data.mdb" }

    /// Opens the store in the folder `path`, or gives the environment that this process has open already. Throws `inUse` if it is to be
    /// had `alone` and somebody else has the store open; otherwise whoever has it alone is waited for.
    package static func open(path: String, missing: Missing, alone: Bool = false) throws(StorageError) -> Environment {
        // Before LMDB is asked, which leaves its lock file wherever it looks.
        if missing == .create {
            let found = try StoreFolder(path: path)
            if found == .foreign { throw .notAStore(path: path) }
        }
        if FileIdentity(dataFile(in: path)) == nil {
            guard missing == .create else { throw .noStore(path: path) }
            try makeFolder(path)
        }
        try refuseNetworkFileSystem(path)
        return try OpenEnvironments.shared.environment(path: path, alone: alone) { () throws(StorageError) in
            try openFresh(path: path, alone: alone)
        }
    }

    private static func openFresh(path: String, alone: Bool) throws(StorageError) -> Environment {
        if access(path, W_OK) != 0 { throw .notWritable(path: path) }
        // Before the file is looked at, which a compaction replaces.
        let folder = try FolderLock(path, alone: alone)
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
        case ENOMEM:
            // As many pages as the file counts have no room in memory: the system's fault only if it has them.
            try refuseTruncated(path, neededBytes: MetaPages.usedBytes(file: dataFile(in: path)))
            throw .from(code, "open")
        default: throw .from(code, "open")
        }
        var descriptor: Int32 = -1
        try StorageError.check(mdb_env_get_fd(handle, &descriptor), "open")
        guard let identity = FileIdentity(descriptor: descriptor) else { throw .noStore(path: path) }
        try refuseTruncated(path, neededBytes: MetaPages.usedBytes(handle)) { () throws(StorageError) in
            try ShortFile.isWhole(handle, descriptor: descriptor)
        }
        // Whoever committed last may have died before their last sync. If it fails, what is there can be read, and nothing be built on it.
        let synced = lastCommit(handle)
        let isSynced = mdb_env_sync(handle, 1) == 0
        var dead: Int32 = 0
        try StorageError.check(mdb_reader_check(handle, &dead), "reader check")
        let tables = try openTables(handle, path: path)
        // A store is its maker's until the second commit, its ID; nobody makes that before the file's name is on the disk.
        if synced < 2 { try FolderSync.syncNew(path) }
        opened = true
        let environment = Environment(
            path: path, handle: handle, tables: tables, identity: identity, folder: folder, isAlone: alone,
            synced: synced)
        if !isSynced { environment.markFailed() }
        return environment
    }

    /// Opens every table. Only where one is missing does it take the write lock, which a process that stands still may hold.
    private static func openTables(_ handle: OpaquePointer, path: String) throws(StorageError) -> Tables {
        do {
            return try openTables(handle, path: path, making: false)
        } catch .notAStore {
            return try openTables(handle, path: path, making: true)
        }
    }

    /// As above, in one transaction: a reading one, or one that makes all tables of a new file, or those of caches that an older program
    /// did not know. A file with other tables than ours is left as it is.
    private static func openTables(
        _ handle: OpaquePointer, path: String, making: Bool
    ) throws(StorageError) -> Tables {
        var transaction: OpaquePointer?
        try StorageError.check(mdb_txn_begin(handle, nil, making ? 0 : UInt32(MDB_RDONLY), &transaction), "open")
        guard let transaction else { throw .system(operation: "open", code: 0) }
        var committed = false
        defer { if !committed { mdb_txn_abort(transaction) } }
        var main: UInt32 = 0
        var stat = MDB_stat()
        try StorageError.check(mdb_dbi_open(transaction, nil, 0, &main), "open")
        try StorageError.check(mdb_stat(transaction, main, &stat), "open")
        let tables = try Tables { (name) throws(StorageError) in
            var table: UInt32 = 0
            let isMade = making && (stat.ms_entries == 0 || !name.isTruth)
            let code = mdb_dbi_open(transaction, name.rawValue, isMade ? UInt32(MDB_CREATE) : 0, &table)
            if code == MDB_NOTFOUND || code == MDB_INCOMPATIBLE { throw .notAStore(path: path) }
            try StorageError.check(code, "open")
            return Table(handle: table)
        }
        committed = true
        // Also a reading one: only so do the handles stay.
        try StorageError.check(mdb_txn_commit(transaction), "open")
        return tables
    }

    private static func makeFolder(_ path: String) throws(StorageError) {
        if mkdir(path, 0o755) == 0 { return }
        switch errno {
        case EEXIST: return
        case EACCES, EROFS: throw .notWritable(path: path)
        case let code: throw .unreachable(path: path, code: code)
        }
    }

    /// The number of the last commit; 0 in a new file.
    private static func lastCommit(_ handle: OpaquePointer) -> Int {
        var info = MDB_envinfo()
        mdb_env_info(handle, &info)
        return info.me_last_txnid
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

    /// A page beyond the file's end would be a crash (SIGBUS) when it is read through the map; one that is free is not read.
    private static func refuseTruncated(
        _ path: String, neededBytes: UInt64, unless isWhole: () throws(StorageError) -> Bool = { false }
    ) throws(StorageError) {
        // Asked last: others may write.
        let bytes = FileIdentity(dataFile(in: path))?.bytes ?? 0
        guard bytes > 0, bytes < neededBytes else { return }
        // Nothing can be written behind the reserved map's end.
        if neededBytes <= UInt64(mapSizeBytes), try isWhole() { return }
        throw .truncated(path: path, bytes: bytes, neededBytes: neededBytes)
    }
}
