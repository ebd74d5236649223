internal import CLMDB
internal import Glibc

extension Environment {
    /// The rule for a folder that holds no store yet.
    package enum Missing: Sendable { case refuse, create }

    /// LMDB's files in the folder of a store.
    static func dataFile(in path: String) -> String { path + "/data.mdb" }
    static func lockFile(in path: String) -> String { path + "/lock.mdb" }

    /// Opens the store in the folder `path`, or gives the environment that this process has open already. New files get
    /// `mode`.
    ///
    /// Throws `inUse` if it is to be opened `alone` and is open already; otherwise waits for openings that have it
    /// alone. Throws `filesChanged` if one of its files is missing, or is another one, while it is in use.
    package static func open(
        path: String, missing: Missing, alone: Bool = false, mode: UInt32 = 0o600
    ) throws(StorageError) -> Environment {
        // Before LMDB opens it, which leaves a lock file in every folder.
        if missing == .create {
            let found = try StoreFolder(path: path)
            if found == .foreign { throw .notAStore(path: path) }
        }
        if FileIdentity(dataFile(in: path)) == nil {
            guard missing == .create else { throw .noStore(path: path) }
            try makeFolder(path, mode)
        }
        try refuseNetworkFileSystem(path)
        let path = try absolute(path)
        return try OpenEnvironments.shared.environment(path: path, alone: alone) { () throws(StorageError) in
            try openFresh(path, alone: alone, mode: mode)
        }
    }

    private static func openFresh(_ path: String, alone: Bool, mode: UInt32) throws(StorageError) -> Environment {
        if access(path, W_OK) != 0 { throw .notWritable(path) }
        // Before the files are read: a compaction replaces them.
        let folder = try FolderLock(path, alone: alone)
        let areComplete = StoreFiles(path)?.areComplete ?? false
        if !areComplete {
            // Only while it has the store alone, no process can use a file that is missing here.
            do throws(StorageError) {
                try folder.take(alone: true)
            } catch .inUse {
                throw .filesChanged(path: path)
            }
        }
        let known = FileIdentity(dataFile(in: path)).map { $0.mode & 0o666 }
        if known == nil, isDiskFull(path) { throw .diskFull }
        try refuseCutHead(path)
        let lock = try StoreLock(
            path, alone: alone || !areComplete, mode: known ?? mode, isDiskFull: isDiskFull(path))
        if !areComplete { try removeUnfinished(path) }
        let handle: OpaquePointer
        do throws(StorageError) {
            handle = try openFile(path, UInt32(MDB_NOTLS), known ?? mode)
        } catch .notAStore {
            throw lock.isHeadless ? .filesChanged(path: path) : notAStore(path)
        }
        var opened = false
        defer {
            if !opened {
                mdb_env_close(handle)
                lock.close()
            }
        }
        if !areComplete {
            if known == nil { chmod(dataFile(in: path), mode) }
            chmod(lockFile(in: path), known ?? mode)
        }
        guard let files = StoreFiles(path), try files.data == identity(handle),
            try isLockFile(of: handle, isOld: areComplete)
        else { throw .filesChanged(path: path) }
        // The process that committed last may have died before its last sync. If it fails, the store can be read, not
        // written.
        let synced = MetaPages.newestCommit(handle)
        let isSynced = mdb_env_sync(handle, 1) == 0
        var dead: Int32 = 0
        try StorageError.check(mdb_reader_check(handle, &dead), "reader check")
        let tables = try openTables(handle, path: path)
        // Until the second commit, which stores the ID, the file's name may not be on the disk yet.
        if synced < 2 { try FolderSync.syncNew(path) }
        if !areComplete, !alone {
            lock.share()
            try folder.take(alone: false)
        }
        let heads = try lock.heads(pageBytes: MetaPages.pageBytes(handle))
        // Another process may have had the lock in between, and replaced a file.
        if !files.areInPlace { throw .inUse(path: path) }
        opened = true
        let environment = Environment(
            path: path, handle: handle, tables: tables, files: files, folder: folder, lock: lock, heads: heads,
            isAlone: alone, synced: synced)
        if !isSynced { environment.refuseWrites(.closedAfterFailure) }
        return environment
    }

    /// Opens the file again, read-only. Throws if it is not the file `data`, or its tables differ.
    static func openForReading(
        _ path: String, as data: FileIdentity, _ tables: Tables
    ) throws(StorageError) -> OpaquePointer {
        let handle = try openFile(path, UInt32(MDB_NOTLS | MDB_RDONLY), 0)
        do throws(StorageError) {
            guard try identity(handle) == data, try openTables(handle, path: path, making: false) == tables else {
                throw StorageError.filesChanged(path: path)
            }
        } catch {
            mdb_env_close(handle)
            throw error
        }
        return handle
    }

    /// LMDB's handle of the file, whose length was checked.
    private static func openFile(
        _ path: String, _ flags: UInt32, _ mode: UInt32
    ) throws(StorageError) -> OpaquePointer {
        let used = MetaPages.usedBytes(file: dataFile(in: path))
        try refuseCutHead(path)
        let handle = try StorageError.handle("open") { mdb_env_create(&$0) }
        var opened = false
        defer { if !opened { mdb_env_close(handle) } }
        BrokenPage.watch(handle)
        try StorageError.check(mdb_env_set_mapsize(handle, mapSizeBytes), "open")
        try StorageError.check(mdb_env_set_maxdbs(handle, 32), "open")
        try StorageError.check(mdb_env_set_maxreaders(handle, maxReaders), "open")
        let code = mdb_env_open(handle, path, flags | UInt32(MDB_NORDAHEAD), mode)
        switch code {
        case 0: break
        case MDB_INVALID, MDB_VERSION_MISMATCH: throw .notAStore(path: path)
        case EACCES, EROFS: throw .notWritable(path, dataFile(in: path), lockFile(in: path))
        case ENOENT: throw .noStore(path: path)
        case ENOMEM:
            // The pages that the file counts do not fit into memory: a truncated file, or a limit of the system.
            try refuseTruncated(path, neededBytes: used)
            throw .from(code, "open")
        default: throw .from(code, "open")
        }
        let descriptor = try descriptor(handle)
        try refuseTruncated(path, neededBytes: MetaPages.usedBytes(handle)) { () throws(StorageError) in
            try ShortFile.isWhole(handle, descriptor: descriptor)
        }
        opened = true
        return handle
    }

    private static func descriptor(_ handle: OpaquePointer) throws(StorageError) -> Int32 {
        var descriptor: Int32 = -1
        try StorageError.check(mdb_env_get_fd(handle, &descriptor), "open")
        return descriptor
    }

    private static func identity(_ handle: OpaquePointer) throws(StorageError) -> FileIdentity? {
        FileIdentity(descriptor: try descriptor(handle))
    }

    /// Tells whether the lock file is that of this data file: the last commit that it knows is one of the two that the
    /// data file knows. Another lock file would lead to an old meta page, and a commit would be lost.
    private static func isLockFile(of handle: OpaquePointer, isOld: Bool) throws(StorageError) -> Bool {
        let descriptor = try descriptor(handle)
        var stat = MDB_stat()
        mdb_env_stat(handle, &stat)
        // LMDB makes a new one from the data file; an impossible page size is damage and found later.
        if !isOld || stat.ms_psize < 256 { return true }
        // Two commits later another process may have written over the meta page.
        for _ in 0..<10 {
            // Inside an expression the transaction would end before its handle is used.
            let transaction = try ReadTransaction(handle)
            let commit = withExtendedLifetime(transaction) { mdb_txn_id($0.handle) }
            if MetaPages.page(ofCommit: UInt64(commit), descriptor, pageBytes: UInt64(stat.ms_psize)) != nil {
                return true
            }
        }
        return false
    }

    /// Refuses a store that was cut within its first pages, before anything is written there.
    private static func refuseCutHead(_ path: String) throws(StorageError) {
        let data = dataFile(in: path)
        guard let bytes = FileIdentity(data)?.bytes, bytes > 0, bytes < MetaPages.bytes,
            !MetaPages.areUnfinished(file: data)
        else { return }
        throw .truncated(path: path, bytes: bytes, neededBytes: max(MetaPages.usedBytes(file: data), MetaPages.bytes))
    }

    /// Empties a data file that was not completely created, so that LMDB creates it again. Needs the store alone.
    private static func removeUnfinished(_ path: String) throws(StorageError) {
        let data = dataFile(in: path)
        guard MetaPages.areUnfinished(file: data) else { return }
        if truncate(data, 0) != 0 { throw .system(operation: "opening", code: errno) }
    }

    private static func absolute(_ path: String) throws(StorageError) -> String {
        if path.hasPrefix("/") { return path }
        guard let folder = getcwd(nil, 0) else { throw .unreachable(path: path, code: errno) }
        defer { free(folder) }
        return String(cString: folder) + "/" + path
    }

    /// Opens every table. Takes the write lock, which a stopped process may hold, only if a table is missing.
    private static func openTables(_ handle: OpaquePointer, path: String) throws(StorageError) -> Tables {
        do {
            return try openTables(handle, path: path, making: false)
        } catch .notAStore {
            do {
                return try openTables(handle, path: path, making: true)
            } catch .notAStore {
                throw notAStore(path)
            }
        }
    }

    /// Describes a file without ProfileLog's tables: another program's, or a store that lost them.
    private static func notAStore(_ path: String) -> StorageError {
        guard MetaPages.areOurs(file: dataFile(in: path)) else { return .notAStore(path: path) }
        return .brokenPage(operation: "look-up of its tables")
    }

    /// As above, in one transaction: a read transaction, or one that creates all tables of a new file, or caches that
    /// an older program did not know. A file with other tables is not changed.
    private static func openTables(
        _ handle: OpaquePointer, path: String, making: Bool
    ) throws(StorageError) -> Tables {
        let transaction = try StorageError.handle("open") {
            mdb_txn_begin(handle, nil, making ? 0 : UInt32(MDB_RDONLY), &$0)
        }
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
        // A read transaction too: otherwise the handles are closed.
        try StorageError.check(mdb_txn_commit(transaction), "open")
        return tables
    }

    /// Users who may read the files may enter the folder.
    private static func makeFolder(_ path: String, _ mode: UInt32) throws(StorageError) {
        let mode = mode | (mode & 0o444) >> 2
        if mkdir(path, mode) == 0 {
            chmod(path, mode)
            return
        }
        switch errno {
        case EEXIST: return
        case EACCES, EROFS: throw .notWritable(path)
        case let code: throw .unreachable(path: path, code: code)
        }
    }

    private static func refuseNetworkFileSystem(_ path: String) throws(StorageError) {
        var stat = statfs()
        guard statfs(path, &stat) == 0 else { throw .unreachable(path: path, code: errno) }
        if FileSystem(number: Int(stat.f_type) & 0xFFFF_FFFF).kind == .network { throw .networkFileSystem(path: path) }
    }

    /// Tells whether the file system of `path` has too little space for a new store.
    static func isDiskFull(_ path: String) -> Bool {
        var stat = statfs()
        guard statfs(path, &stat) == 0 else { return false }
        return UInt64(stat.f_bavail) * UInt64(stat.f_bsize) < 1 << 20
    }

    /// A page beyond the file's end would be a crash (SIGBUS) when it is read through the map; a free page is not read.
    private static func refuseTruncated(
        _ path: String, neededBytes: UInt64, unless isWhole: () throws(StorageError) -> Bool = { false }
    ) throws(StorageError) {
        // Read last: other processes may write.
        let bytes = FileIdentity(dataFile(in: path))?.bytes ?? 0
        guard bytes > 0, bytes < neededBytes else { return }
        // Nothing can be written after the end of the reserved map.
        if neededBytes <= UInt64(mapSizeBytes), try isWhole() { return }
        throw .truncated(path: path, bytes: bytes, neededBytes: neededBytes)
    }
}
