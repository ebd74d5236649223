internal import Glibc

/// The folder of a store that is restored.
///
/// Everything is written in a folder next to it, `NAME.restoring`, and gets its place by one rename when it is
/// complete. So a crash leaves no store, or a whole one; what it left is in no folder that opens as a store, and the
/// next restore begins again. A store that is replaced is moved aside, to `NAME.before-TIME`, and never removed.
package final class RestoreFolder {
    /// The path, absolute and without a slash at its end.
    package let path: String
    /// The folder in which the store is written.
    package var store: String { "\(work)/store" }
    /// The mode of the store's files: that of the store that is replaced.
    package let fileMode: UInt32
    /// The path to which the old store was moved; nil if there was none.
    package private(set) var movedAside: String?
    private let work: String
    /// Keeps programs from the old store until it has its new name.
    private var old: FolderLock?
    private let hasContent: Bool
    private var lock: Int32 = -1
    /// The owner of the folder, and its mode if it is there already.
    private let owner: (user: uid_t, group: gid_t, mode: mode_t?)?

    /// Checks the folder, and changes nothing. With `replacing`, it may have a store that no program has open.
    package init(path typed: String, replacing: Bool, backup: String) throws {
        path = try Self.absolute(typed)
        work = path + ".restoring"
        let (target, source) = (BackupFolder.realPath(path), BackupFolder.realPath(backup))
        if target == source || target.hasPrefix(source + "/") || source.hasPrefix(target + "/") {
            throw RestoreError.overlapping(path: typed, backup: backup)
        }
        let state = try StoreFolder(path: path)
        if state == .foreign { throw RestoreError.foreign(path: typed) }
        let names = try BackupFolder.names(in: path).filter { $0 != "lost+found" }
        hasContent = !names.isEmpty
        if let name = names.first, !replacing {
            throw RestoreError.occupied(path: typed, name: state == .store ? "a store" : name)
        }
        if hasContent {
            do throws(StorageError) {
                old = try FolderLock(path, alone: true)
            } catch {
                if case .inUse = error { throw RestoreError.storeInUse(path: typed) }
                throw error
            }
        }
        let data = Self.status(path + "/data.mdb")
        // The owner may always read and write.
        fileMode = 0o600 | (data.map { UInt32($0.st_mode) & 0o066 } ?? 0)
        let known = Self.status(path)
        owner = (known ?? Self.status(Self.parent(of: path))).map {
            ($0.st_uid, $0.st_gid, known == nil ? nil : $0.st_mode & 0o777)
        }
    }

    deinit { if lock >= 0 { close(lock) } }

    // MARK: - The steps

    /// Makes the folder for the work, and removes what another restore has left there.
    package func begin() throws {
        if mkdir(work, 0o700) != 0, errno != EEXIST { throw RestoreError.of(errno, path: work) }
        let descriptor = open(work, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw RestoreError.of(errno, path: work) }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            close(descriptor)
            if code == EWOULDBLOCK { throw RestoreError.alreadyRunning(path: path) }
            throw RestoreError.of(code, path: work)
        }
        // From now on `abandon` removes what is there: not before, as another restore may have written it.
        lock = descriptor
        try FolderFiles.remove(store)
    }

    /// Writes a file next to those of the store, for its owner alone.
    package func write(_ content: [UInt8], to name: String) throws {
        let file = "\(store)/\(name)"
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        try FolderFiles.fill(file, descriptor, with: content)
    }

    /// Gives the store, which is closed, its place: the old one, if there is one, gets another name first.
    package func finish(at now: Timestamp) throws {
        try giveToOwner()
        try FolderSync.sync(store)
        if hasContent {
            let aside = try asideName(at: now)
            guard rename(path, aside) == 0 else { throw renameError() }
            movedAside = aside
        }
        if rename(store, path) != 0 {
            let (code, error) = (errno, renameError())
            if let aside = movedAside {
                if rename(aside, path) != 0 { throw RestoreError.leftAside(path: path, aside: aside, code: code) }
                movedAside = nil
            }
            throw error
        }
        try FolderSync.sync(Self.parent(of: path))
        rmdir(work)
    }

    /// Removes what was written.
    package func abandon() {
        if lock < 0 { return }
        try? FolderFiles.remove(store)
        rmdir(work)
    }

    // MARK: - Names and owners

    /// The error of a rename.
    private func renameError() -> any Error {
        let code = errno
        if code == EBUSY || code == EXDEV { return RestoreError.mounted(path: path) }
        return RestoreError.of(code, path: path)
    }

    /// A name for the old store that is free: `NAME.before-20260131T140300Z`.
    private func asideName(at now: Timestamp) throws -> String {
        let digits = now.rfc3339().prefix(19).filter { $0 != "-" && $0 != ":" }
        let first = "\(path).before-\(digits)Z"
        for number in 1...1_000 {
            let name = number == 1 ? first : "\(first)-\(number)"
            var status = stat()
            if lstat(name, &status) != 0, errno == ENOENT { return name }
        }
        throw RestoreError.of(EEXIST, path: first)
    }

    /// Gives what root makes to the owner of the folder: else the service could not open its store.
    private func giveToOwner() throws {
        guard let owner else { return }
        if let mode = owner.mode, chmod(store, mode) != 0 { throw RestoreError.of(errno, path: store) }
        if geteuid() != 0 { return }
        for file in try BackupFolder.names(in: store).map({ "\(store)/\($0)" }) + [store] {
            guard lchown(file, owner.user, owner.group) == 0 else { throw RestoreError.of(errno, path: file) }
        }
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    private static func parent(of path: String) -> String {
        let parent = path.split(separator: "/").dropLast().joined(separator: "/")
        return "/" + parent
    }

    private static func absolute(_ path: String) throws -> String {
        var whole = path
        if !path.hasPrefix("/") {
            guard let folder = getcwd(nil, 0) else { throw RestoreError.of(errno, path: path) }
            defer { free(folder) }
            whole = "\(String(cString: folder))/\(path)"
        }
        let parts = whole.split(separator: "/").filter { $0 != "." }
        // No folder can be next to one that ends in `..`.
        guard let last = parts.last, last != ".." else { throw RestoreError.unreachable(path: path, code: EINVAL) }
        return "/" + parts.joined(separator: "/")
    }
}
