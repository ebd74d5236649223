internal import CLMDB
internal import Glibc
internal import Synchronization

/// LMDB's open file. One per file and process: `open` returns the same one again, as LMDB demands.
///
/// `@unchecked Sendable`: LMDB's environment may be used by any thread, and what changes is atomic or under a lock.
package final class Environment: @unchecked Sendable {
    /// Address space that is reserved; the file grows into it as needed.
    package static let mapSizeBytes = 1 << 40
    /// Reader slots in the lock file.
    static let maxReaders: UInt32 = 4096

    /// The folder, as an absolute path: a program may change its current folder.
    let path: String
    package let tables: Tables
    /// The files that were opened. Every commit compares them with those in the folder.
    let files: StoreFiles
    /// Tells whether no other program, and no other part of this one, has the store open.
    let isAlone: Bool
    private let folder: Guarded<FolderLock?>
    private let lock: StoreLock
    private let heads: FileHeads
    /// Tells whether the data file is a mix of two when it is opened: it was overwritten while a program wrote. Its
    /// whole part can be read.
    package let isMixed: Bool
    /// LMDB's handle. Each transaction holds this lock for reading; `reopenForReading` replaces the handle. Nil if that
    /// failed.
    private let handle: Guarded<OpaquePointer?>
    private let refusal = Mutex<StorageError?>(nil)
    /// The time at which this process last looked for readers that died.
    let readersChecked = Mutex(ContinuousClock.now)
    /// The last commit that is known to be on the disk, whichever process made it.
    private let synced: Atomic<Int>
    /// The newest commit that this process has seen.
    private let seen: Atomic<Int>
    /// The number of times that the file was opened again: each time it is mapped elsewhere. Does not change during a
    /// transaction.
    package var reopenings: Int { reopened.load(ordering: .relaxed) }
    private let reopened = Atomic(0)

    init(
        path: String, handle: OpaquePointer, tables: Tables, files: StoreFiles, folder: consuming FolderLock,
        lock: StoreLock, heads: FileHeads, isAlone: Bool, synced: Int
    ) {
        self.folder = Guarded(folder)
        self.lock = lock
        self.heads = heads
        isMixed = heads.areMixed
        self.path = path
        self.handle = Guarded(handle)
        self.tables = tables
        self.files = files
        self.isAlone = isAlone
        self.synced = Atomic(synced)
        // Another process may have written its commit into the data file, and wait for the disk before it says so in
        // the lock file, from which the first transaction takes the number.
        seen = Atomic(max(synced - 1, 0))
        _ = lock.isCut  // notes the lengths
        if isMixed { refuseWrites(.filesChanged(path: path)) }
    }

    deinit { handle.withWriting { closeFiles(&$0) } }

    // MARK: - Closing

    private let isClosed = Atomic(false)
    private let hasClosedFiles = Atomic(false)

    /// Refuses all transactions from now on, waits for those that run, and closes the files.
    func close() {
        precondition(
            ThreadTransaction.environment != Unmanaged.passUnretained(self).toOpaque(),
            "A log must not be closed within a read of it: that would wait for itself.")
        // Before it waits: a stream of reads could keep it from the lock for ever.
        isClosed.store(true, ordering: .relaxed)
        handle.withWriting { closeFiles(&$0) }
    }

    /// Closes the files once. The caller has `handle` for writing.
    private func closeFiles(_ handle: inout OpaquePointer?) {
        if hasClosedFiles.exchange(true, ordering: .relaxed) { return }
        OpenEnvironments.shared.close(files.data) {
            lock.mendLength()
            if let handle { mdb_env_close(handle) }
            handle = nil
            lock.close()
        }
        folder.withWriting { $0 = nil }
    }

    /// Bytes of the file that hold something, free pages included.
    package var usedBytes: UInt64 { handle.withReading { handle in handle.map { MetaPages.usedBytes($0) } ?? 0 } }

    // MARK: - Who may write

    /// The reason why the store takes no writes now; nil if it does. Costs four system calls, of about a microsecond
    /// together.
    package var writeRefusal: StorageError? {
        if let reason = knownRefusal { return reason }
        // Closed files must not be looked at: other files may have their numbers.
        return handle.withReading { _ in
            if hasClosedFiles.load(ordering: .relaxed) { return .closed }
            if lock.isCut { return refuseOverwritten() }
            return files.areInPlace ? nil : .filesChanged(path: path)
        }
    }

    private var knownRefusal: StorageError? { refusal.withLock { $0 } }

    /// Refuses to write from now on, for the first `reason` that was given.
    package func refuseWrites(_ reason: StorageError) { refusal.withLock { $0 = $0 ?? reason } }

    // MARK: - Files that are overwritten in place

    private let isOverwritten = Atomic(false)

    /// Refuses all transactions from now on: a file was cut or overwritten, so this process's knowledge of it is wrong.
    package func refuseOverwritten() -> StorageError {
        CoverageMark.hit(.filesOverwritten)
        isOverwritten.store(true, ordering: .relaxed)
        refuseWrites(.filesChanged(path: path))
        return .filesChanged(path: path)
    }

    /// Checks the files before a transaction begins: that reads both files through their maps.
    private func refuseCut() throws(StorageError) {
        if isOverwritten.load(ordering: .relaxed) || lock.isCut { throw refuseOverwritten() }
    }

    /// A read transaction, of the newest commit; nil if LMDB refuses everything.
    ///
    /// A commit writes its number into `data.mdb`, and then into `lock.mdb`, where a transaction finds it. So the data
    /// file knows that commit, and at most one more. If others have committed since, it looks again.
    private func beginReading(_ handle: OpaquePointer) throws(StorageError) -> ReadTransaction? {
        for _ in 0..<1_000 {
            try refuseCut()
            let least = seen.load(ordering: .acquiring)
            guard let transaction = try Self.read(handle) else { return nil }
            // The number of the commit was read from the lock file, the newest one is read from the data file after it.
            atomicMemoryFence(ordering: .acquiring)
            let (commit, pages) = (mdb_txn_id(transaction.handle), heads.commits)
            let newest = isMixed ? max(pages.0, pages.1) : heads.newest
            if commit < least || max(pages.0, pages.1) < commit || heads.areLocksRemade { throw refuseOverwritten() }
            guard let newest, newest - commit <= 1 else { continue }
            if commit > least { seen.store(commit, ordering: .releasing) }
            return transaction
        }
        throw refuseOverwritten()
    }

    /// A write transaction, which follows the newest commit of the data file.
    private func beginWriting(_ handle: OpaquePointer) throws(StorageError) -> WriteTransaction {
        try refuseCut()
        let transaction = try WriteTransaction(handle)
        // Under the lock: its last owner may have failed, or replaced a file.
        if let reason = knownRefusal { throw reason }
        if !files.areInPlace {
            CoverageMark.hit(.filesReplaced)
            throw .filesChanged(path: path)
        }
        let (follows, pages) = (mdb_txn_id(transaction.handle) - 1, heads.pages)
        let isSame = known.withLock { $0.map(pages.agree) ?? true }
        guard pages.newest == follows, follows >= seen.load(ordering: .acquiring), isSame, !heads.areLocksRemade else {
            throw refuseOverwritten()
        }
        seen.store(follows, ordering: .releasing)
        known.withLock { $0 = pages }
        return transaction
    }

    /// Tells whether the data file has `commit`, over what it had when the transaction began, and nothing else changed
    /// it.
    ///
    /// Under the lock, after the commit. A transaction that put nothing has no number.
    private func isInFile(_ commit: Int) -> Bool {
        if lock.isCut || heads.areLocksRemade { return false }
        let pages = heads.pages
        return known.withLock { known in
            guard let before = known else { return false }
            known = pages
            return pages.are(before, and: commit) || (pages == before && heads.commitOfLock != commit)
        }
    }

    /// The meta pages after the last commit that this process saw under the write lock.
    private let known = Mutex<FileHeads.Pages?>(nil)

    // MARK: - Transactions

    /// Runs `body` on one frozen view of the store.
    package func withReadTransaction<Result>(_ body: (borrowing ReadTransaction) throws -> Result) throws -> Result {
        ReadBudget.current?.noteView()
        let outer = ThreadTransaction.begin(in: self)
        defer { ThreadTransaction.environment = outer }
        for _ in 0..<2 {
            if isClosed.load(ordering: .relaxed) { throw StorageError.closed }
            let result: Result? = try handle.withReading { handle in
                guard let handle, let transaction = try beginReading(handle) else { return nil }
                let result: Result
                do {
                    result = try body(transaction)
                } catch {
                    end(transaction)
                    throw error
                }
                end(transaction)
                return result
            }
            if let result { return result }
            try reopenForReading()
        }
        throw StorageError.closedAfterFailure
    }

    /// Ends a read. If the lock file was cut since it began, the reader's slot there is gone, and LMDB must not touch
    /// it: the next transaction finds the cut.
    private func end(_ transaction: consuming ReadTransaction) {
        if lock.isLockFileCut { transaction.abandon() }
    }

    /// Returns nil if LMDB refuses everything (`MDB_PANIC`).
    private static func read(_ handle: OpaquePointer) throws(StorageError) -> ReadTransaction? {
        do throws(StorageError) {
            return try ReadTransaction(handle)
        } catch .closedAfterFailure {
            return nil
        } catch .readersFull {
            clearStaleReaders(handle)
            return try ReadTransaction(handle)
        }
    }

    /// Runs `body`, then makes all of its work durable or none of it, with one sync.
    ///
    /// Call it on one thread at a time; it waits for another process's write transaction. Throws what `body` throws,
    /// with nothing written; a `StorageError` if the commit wrote nothing; or `AppendError.outcomeUnknown`, after which
    /// every later write is refused until the store is opened again.
    package func withWriteTransaction<Result>(_ body: (borrowing WriteTransaction) throws -> Result) throws -> Result {
        if let reason = knownRefusal { throw reason }
        if isClosed.load(ordering: .relaxed) { throw StorageError.closed }
        let outer = ThreadTransaction.begin(in: self)
        defer { ThreadTransaction.environment = outer }
        return try handle.withReading { handle in
            if hasClosedFiles.load(ordering: .relaxed) { throw StorageError.closed }
            guard let handle else { throw StorageError.closedAfterFailure }
            return try writing.withWriting { _ in try write(handle, body) }
        }
    }

    /// Two logs of this process may have this environment: the lock on the file is one for both.
    private let writing = Guarded(())

    private func write<Result>(
        _ handle: OpaquePointer, _ body: (borrowing WriteTransaction) throws -> Result
    ) throws -> Result {
        try lock.beginWriting()
        defer { lock.endWriting() }
        let transaction = try beginWriting(handle)
        let commit = mdb_txn_id(transaction.handle)
        let result = try body(transaction)  // if this throws, `deinit` aborts
        do throws(StorageError) {
            try transaction.commit()
        } catch {
            throw commitFailure(error, handle)
        }
        if !isInFile(commit) {
            _ = refuseOverwritten()  // during the commit
            throw AppendError.outcomeUnknown(code: 0)
        }
        // Its sync was of the whole file. If it put nothing, there was none.
        if heads.commitOfLock == commit { synced.store(commit, ordering: .relaxed) }
        clearStaleReadersIfDue(handle)
        return result
    }

    /// Translates the `error` of a commit: refused with nothing written, or an unknown outcome.
    private func commitFailure(_ error: StorageError, _ handle: OpaquePointer) -> any Error {
        func isPanicked() -> Bool { (try? Self.read(handle)) == nil }
        // LMDB writes the data pages first: with a full disk and no panic, it did not reach the meta page.
        switch error {
        case .diskFull, .mapFull:
            if !isPanicked() {
                CoverageMark.hit(.diskFull)
                return error
            }
            refuseWrites(.closedAfterFailure)
            return AppendError.outcomeUnknown(code: StorageError.noSpaceCode)
        case .system(_, StorageError.shortWriteCode) where !isPanicked() && Environment.isDiskFull(path):
            // LMDB reports a short write as an I/O error; the meta page was not reached, so nothing was stored.
            return StorageError.diskFull
        // Found before the meta page was written.
        case .brokenPage: return error
        case .system(_, let code):
            CoverageMark.hit(.outcomeUnknown)
            refuseWrites(.closedAfterFailure)
            return AppendError.outcomeUnknown(code: code)
        default:
            refuseWrites(.closedAfterFailure)
            return AppendError.outcomeUnknown(code: 0)
        }
    }

    /// Opens the file again for reading: after a failed write of its meta page LMDB refuses everything (`MDB_PANIC`).
    ///
    /// Waits up to a second for transactions that began before the failure.
    private func reopenForReading() throws(StorageError) {
        if isClosed.load(ordering: .relaxed) { throw .closed }
        refuseWrites(.closedAfterFailure)
        for _ in 0..<1_000 {
            let isDone: Bool? = handle.tryWriting { handle in
                if hasClosedFiles.load(ordering: .relaxed) { return false }
                if let known = handle {
                    if (try? Self.read(known)) != nil { return true }
                    mdb_env_close(known)
                    handle = nil
                    reopened.wrappingAdd(1, ordering: .relaxed)
                }
                handle = try? Self.openForReading(path, as: files.data, tables)
                return handle != nil
            }
            if isDone == true { return }
            if isDone == false { break }
            usleep(1_000)
        }
        throw .closedAfterFailure
    }

    // MARK: - Readers that died

    /// Readers of processes that died keep old pages in use until their slots are freed (`mdb_reader_check`).
    private static func clearStaleReaders(_ handle: OpaquePointer) {
        var dead: Int32 = 0
        _ = mdb_reader_check(handle, &dead)
    }

    /// As `clearStaleReaders`, once a minute, after commits: only they take new pages.
    private func clearStaleReadersIfDue(_ handle: OpaquePointer) {
        let now = ContinuousClock.now
        let isDue = readersChecked.withLock { last in
            if now - last < .seconds(60) { return false }
            last = now
            return true
        }
        if isDue { Self.clearStaleReaders(handle) }
    }

    // MARK: - Files and disk

    /// Runs `body`, which may replace the store's file with another one of the same file system. After that this
    /// environment, which still has the old file, refuses to write. Needs the store `alone` until this environment is
    /// closed: both files have the same lock file.
    package func replacingFile<Result>(_ body: ((_ replace: String) throws -> Void) throws -> Result) throws -> Result {
        precondition(isAlone, "the file to be replaced may be open elsewhere")
        var status = stat()
        // A link would be replaced, and the file that it leads to would stay.
        if lstat(Self.dataFile(in: path), &status) == 0, status.st_mode & S_IFMT == S_IFLNK {
            throw StorageError.linkedFile(path: path)
        }
        return try withWriteTransaction { _ in try body(replaceFile) }
    }

    /// The new file gets the owner and the mode of the old one.
    private func replaceFile(with file: String) throws(StorageError) {
        let data = Self.dataFile(in: path)
        guard let old = FileIdentity(data), old == files.data else { throw .filesChanged(path: path) }
        // Only root may change the owner; otherwise the file belongs to the user who compacts.
        _ = chown(file, old.owner, old.group)
        guard chmod(file, old.mode) == 0, rename(file, data) == 0 else {
            throw .system(operation: "rename", code: errno)
        }
        try FolderSync.sync(path)
    }

    /// Syncs what `transaction` sees (`mdb_env_sync`): another process may have died between a commit and its last
    /// sync. Throws `AppendError.outcomeUnknown` if the sync fails.
    package func syncWhatIsSeen(by transaction: borrowing WriteTransaction) throws {
        let seen = mdb_txn_id(transaction.handle) - 1
        if seen <= synced.load(ordering: .relaxed) { return }
        let code = mdb_env_sync(mdb_txn_env(transaction.handle), 1)
        if code != 0 {
            refuseWrites(.closedAfterFailure)
            throw AppendError.outcomeUnknown(code: code)
        }
        synced.store(seen, ordering: .relaxed)
    }
}
