internal import CFiles
internal import Glibc
internal import Synchronization

/// The lock on a store's data file itself, whatever path leads to it (docs/decisions/0012).
///
/// LMDB's locks are in `lock.mdb`, next to the path that was opened. If another path leads to the same `data.mdb` with
/// another lock file (a link, a mount of the one file), both programs would write without a common lock. So each
/// opening locks one byte of `data.mdb`, far after its end: the byte that belongs to its lock file. Then it asks
/// whether another byte is locked. The lock comes first: of two that come at once, one at least sees the other. The
/// first who opens a lock file marks it (`FileHeads`).
///
/// These are open-file-description locks: they belong to the file, not to its path, and end with this descriptor or
/// this process. LMDB has no lock on `data.mdb`.
final class StoreLock: Sendable {
    private let path: String
    private let data: Int32
    private let lock: Int32
    /// The byte of `lock.mdb`.
    private let byte: Int64
    private let isClosed = Atomic(false)
    /// Bytes of the two files when they were last looked at.
    private let dataBytes = Atomic(0)
    private let lockBytes = Atomic(0)

    private static let begin: Int64 = 1 << 61
    private static let bytes: Int64 = 1 << 61
    /// Bytes before the range: locked by who writes, and by who opens.
    private static let (writing, opening) = (begin - 1, begin - 2)

    /// Opens the files of the store in `path`, makes those that are missing with `mode`, and takes the lock: shared
    /// with those who use the same lock file, or `alone`. Throws `openElsewhere` if it is in use with another lock
    /// file.
    ///
    /// No environment of this process may have `lock.mdb` open: closing it drops LMDB's locks.
    init(_ path: String, alone: Bool, mode: mode_t, isDiskFull: Bool) throws(StorageError) {
        self.path = path
        data = try Self.open(Environment.dataFile(in: path), mode, path)
        do throws(StorageError) {
            lock = try Self.open(Environment.lockFile(in: path), mode, path)
        } catch {
            Glibc.close(data)
            throw error
        }
        // After it was opened for writing: a file of an overlay's lower layer may be another one before that.
        let identity = FileIdentity(descriptor: lock)
        byte = Self.begin + Int64(Self.mix(identity?.device ?? 0, identity?.inode ?? 0) >> 4)
        // Before the mark takes a block of it.
        if isDiskFull { try reserve() }
        if alone {
            try take(F_WRLCK, Self.begin, Self.bytes)
            FileHeads.putMark(lock)
        } else {
            // One after the other: who comes next reads the mark of the first.
            try wait(for: Self.opening)
            defer { release(Self.opening) }
            let isFirst = profilelog_is_locked(data, byte, 1) == 0
            try take(F_RDLCK, byte, 1)
            try refuseOtherDoor()
            if isFirst { FileHeads.putMark(lock) }
        }
    }

    deinit { close() }

    /// Closes the files. Before the environment is forgotten: the next one of this process would lose LMDB's locks.
    func close() {
        if isClosed.exchange(true, ordering: .relaxed) { return }
        // The maps of the heads keep an open file, and so its locks, until the environment is freed.
        _ = profilelog_lock(data, Int16(F_UNLCK), 0, 0)
        Glibc.close(lock)
        Glibc.close(data)
    }

    /// Shares from now on the lock that it had alone.
    func share() {
        _ = profilelog_lock(data, Int16(F_RDLCK), byte, 1)
        _ = profilelog_lock(data, Int16(F_UNLCK), Self.begin, byte - Self.begin)
        _ = profilelog_lock(data, Int16(F_UNLCK), byte + 1, Self.begin + (Self.bytes - 1 - byte))
    }

    private func take(_ kind: Int32, _ begin: Int64, _ bytes: Int64) throws(StorageError) {
        switch profilelog_lock(data, Int16(kind), begin, bytes) {
        case 0: return
        case EAGAIN, EACCES: throw .openElsewhere(path: path)
        case let code: throw .unreachable(path: path, code: code)
        }
    }

    /// Refuses if another program has the file locked with another lock file.
    private func refuseOtherDoor() throws(StorageError) {
        for (begin, end) in [(Self.begin, byte), (byte + 1, Self.begin + Self.bytes)] where begin < end {
            switch profilelog_is_locked(data, begin, end - begin) {
            case 0: continue
            case 1: throw .openElsewhere(path: path)
            case let answer: throw .unreachable(path: path, code: -answer)
            }
        }
    }

    /// 64 bits of both numbers: inodes of two file systems may be equal.
    private static func mix(_ device: UInt64, _ inode: UInt64) -> UInt64 {
        var bits = device &* 0x9E37_79B9_7F4A_7C15 ^ inode
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        return bits ^ bits >> 31
    }

    private static func open(_ file: String, _ mode: mode_t, _ path: String) throws(StorageError) -> Int32 {
        let descriptor = FolderOwner.open(file, O_RDWR, mode, in: path)
        if descriptor >= 0 { return descriptor }
        switch errno {
        case EACCES, EROFS, EPERM: throw .notWritable(path, file)
        case ENOSPC, EDQUOT: throw .noRoomToOpen(path: path, neededBytes: lockFileBytes)
        case let code: throw .unreachable(path: path, code: code)
        }
    }

    // MARK: - Writing

    /// Waits for other processes that write. LMDB's own lock is then free: who waits for that one, in `lock.mdb`, would
    /// wait for ever if the file is cut.
    func beginWriting() throws(StorageError) { try wait(for: Self.writing) }

    func endWriting() { release(Self.writing) }

    /// Waits until no other program has `byte`, and locks it.
    private func wait(for byte: Int64) throws(StorageError) {
        let code = profilelog_wait_for_lock(data, Int16(F_WRLCK), byte, 1)
        if code != 0 { throw .unreachable(path: path, code: code) }
    }

    private func release(_ byte: Int64) { _ = profilelog_lock(data, Int16(F_UNLCK), byte, 1) }

    /// Tells whether `lock.mdb` lacks LMDB's head: it was overwritten while another program has it open. One that no
    /// program has open gets another head.
    var isHeadless: Bool {
        var magic: UInt32 = 0
        return pread(lock, &magic, 4, 0) == 4 && magic != MetaPages.magic
    }

    /// The beginnings of both files, which LMDB has open.
    func heads(pageBytes: Int) throws(StorageError) -> FileHeads {
        try FileHeads(data: data, lock: lock, pageBytes: pageBytes)
    }

    // MARK: - The files' lengths

    /// Makes room for LMDB's lock file on a disk that is almost full: LMDB writes to it through a map, and where a
    /// block is missing that is a crash (SIGBUS). Throws `noRoomToOpen` if there is no room.
    private func reserve() throws(StorageError) {
        var status = stat()
        let hasBlocks = fstat(lock, &status) == 0 && status.st_blocks > 0
        if profilelog_allocate(lock, Int64(Self.lockFileBytes)) == 0 || hasBlocks { return }
        throw .noRoomToOpen(path: path, neededBytes: Self.lockFileBytes)
    }

    /// Readers' slots have 64 bytes; the head needs less than a page.
    private static let lockFileBytes = Int(Environment.maxReaders) * 64 + Int(getpagesize())

    /// Tells whether a file has become shorter: LMDB never cuts one. A page after the end would be a crash (SIGBUS)
    /// when it is read through the map. Costs two system calls of a tenth of a microsecond.
    var isCut: Bool { Self.isCut(data, dataBytes) || isLockFileCut }

    /// As `isCut`, of `lock.mdb` alone.
    var isLockFileCut: Bool { Self.isCut(lock, lockBytes) }

    /// Mends the length before LMDB closes its files: it reads `lock.mdb`, and where that was cut, the end would be a
    /// crash (SIGBUS).
    func mendLength() { if isLockFileCut { ftruncate(lock, off_t(lockBytes.load(ordering: .relaxed))) } }

    private static func isCut(_ file: Int32, _ known: borrowing Atomic<Int>) -> Bool {
        // First: another thread may see the file grow after this one has looked.
        let before = known.load(ordering: .acquiring)
        // Unlike `fstat`, it does not read the file's times (see `FileIdentity.isAt`).
        let bytes = lseek(file, 0, SEEK_END)
        if bytes > before { known.store(bytes, ordering: .releasing) }
        return bytes < before
    }
}
