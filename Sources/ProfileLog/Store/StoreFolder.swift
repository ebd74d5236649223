internal import CLMDB
internal import Glibc

/// The content of a folder. It changes nothing there, while LMDB leaves a lock file in every folder that it opens.
package enum StoreFolder: Hashable, Sendable {
    /// No folder, or an empty one. The first write makes a store of it.
    case vacant
    /// Incomplete files of a first write that was stopped. The next write creates them again.
    case unfinished
    /// A store, as far as this is known without opening it.
    case store
    /// Files of other programs.
    case foreign

    /// Looks into the folder at `path`; it need not exist.
    package init(path: String) throws(StorageError) {
        let data = Environment.dataFile(in: path)
        if let file = FileIdentity(data) {
            self = Self.with(file, path)
            return
        }
        switch try Self.names(path) {
        case []: self = .vacant
        case ["lock.mdb"]: self = .unfinished
        case let names where names.contains("data.mdb"):
            // The store was made since the first look, or the folder may be listed and not entered.
            guard let file = FileIdentity(data) else { throw .unreachable(path: path, code: errno) }
            self = Self.with(file, path)
        default: self = .foreign
        }
    }

    /// The folder in a store's folder with what a node copies from another one: it may be there before the store.
    package static let joining = "joining"

    /// Names that do not tell what a folder is for: of every folder, of a fresh file system, of files that a service or a
    /// restore keeps next to the store, and of a node that was stopped while it joined its cluster.
    private static let neutral: Set = [
        "lost+found", "keys.json", "keys.json.lock", "workspace.yaml", "profiled.yaml", "erasures.jsonl", joining,
    ]

    /// The names in the folder by which it is known; empty if there is no folder.
    private static func names(_ path: String) throws(StorageError) -> [String] {
        try FolderNames.read(path).filter { !neutral.contains($0) }
    }

    // MARK: - What is in data.mdb

    private static func with(_ data: FileIdentity, _ path: String) -> StoreFolder {
        if MetaPages.areUnfinished(file: Environment.dataFile(in: path)) { return .unfinished }
        guard hasMagic(path + "/data.mdb") else { return .foreign }
        // With a lock file, another process may be writing, and without the lock only half of it could be visible.
        // Opening leaves nothing new there and reports a truncated file.
        if data.bytes < MetaPages.bytes || FileIdentity(Environment.lockFile(in: path)) != nil { return .store }
        if MetaPages.areOurs(file: path + "/data.mdb") { return .store }
        return hasOtherTables(path, bytes: data.bytes) ? .foreign : .store
    }

    /// Tells whether the file begins as LMDB's files do.
    private static func hasMagic(_ file: String) -> Bool {
        MetaPages.withFile(file) { descriptor in
            var magic: UInt32 = 0
            return pread(descriptor, &magic, 4, 16) == 4 && magic == MetaPages.magic
        } ?? true  // opening it reports that it cannot be read
    }

    /// Tells whether it is another program's LMDB file. False if it cannot be read: opening it reports why.
    private static func hasOtherTables(_ path: String, bytes: UInt64) -> Bool {
        withMeta(path, bytes: bytes, flags: MDB_NOLOCK) { _, _, code in
            code == MDB_NOTFOUND || code == MDB_INCOMPATIBLE
        } ?? false
    }

    /// The ID of the store in the folder at `path`; nil if there is none, or it cannot be read. Changes nothing there.
    /// Not for a store that this process has open: closing the file again would take its locks.
    package static func storeID(in path: String) -> [UInt8]? {
        guard case .store? = try? StoreFolder(path: path), let data = FileIdentity(Environment.dataFile(in: path))
        else { return nil }
        // With a lock file, another process may be writing: the lock keeps the pages that are read here.
        let isLocked = FileIdentity(Environment.lockFile(in: path)) != nil
        return withMeta(path, bytes: data.bytes, flags: isLocked ? 0 : MDB_NOLOCK) {
            transaction, table, code -> [UInt8]? in
            guard code == 0 else { return nil }
            let name = Array("uuid".utf8)
            return name.withUnsafeBytes { name -> [UInt8]? in
                var key = MDB_val(mv_size: name.count, mv_data: UnsafeMutableRawPointer(mutating: name.baseAddress))
                var value = MDB_val()
                guard mdb_get(transaction, table, &key, &value) == 0, value.mv_size == 16 else { return nil }
                return Array(UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
            }
        }
    }

    /// Calls `body` with a read transaction, table `meta`, and the code of opening that table. Nil if the file cannot
    /// be read.
    private static func withMeta<Result>(
        _ path: String, bytes: UInt64, flags: Int32, _ body: (OpaquePointer, UInt32, Int32) -> Result?
    ) -> Result? {
        var handle: OpaquePointer?
        guard mdb_env_create(&handle) == 0, let handle else { return nil }
        defer { mdb_env_close(handle) }
        BrokenPage.watch(handle)
        mdb_env_set_maxdbs(handle, 1)
        // The first process that opens the store makes the table of readers.
        mdb_env_set_maxreaders(handle, Environment.maxReaders)
        guard mdb_env_open(handle, path, UInt32(MDB_RDONLY | flags), 0) == 0 else { return nil }
        var stat = MDB_stat()
        guard MetaPages.usedBytes(handle) <= bytes, mdb_env_stat(handle, &stat) == 0, stat.ms_entries > 0
        else { return nil }
        var transaction: OpaquePointer?
        guard mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction) == 0, let transaction else { return nil }
        defer { mdb_txn_abort(transaction) }
        var table: UInt32 = 0
        let code = mdb_dbi_open(transaction, Table.Name.meta.rawValue, 0, &table)
        return body(transaction, table, code)
    }
}
