internal import Glibc

/// The folder of a backup, locked for one writer: until the value ends, another one is refused.
///
/// A file gets its name when it is complete, and the manifest when all files are on the disk. Files that the manifest
/// does not name do not count, so a crash at any moment leaves the backup of the last manifest. What root writes
/// belongs to the owner of the folder.
package final class BackupFolder {
    package let path: String
    private let lock: Int32
    private static let lockName = "lock"
    /// Set by an operation that a test stopped: nothing is changed from then on, as after a crash.
    private var isStopped = false
    /// Is called after each operation that changes a file: a test throws in it.
    package var onOperation: (Operation) throws(BackupError) -> Void = { _ in }

    /// An operation on the file `name`, or on a folder.
    package enum Operation: Hashable, Sendable {
        case makeFolder(String), write(String), sync(String), rename(String), syncFolder(String), remove(String)
    }

    /// Locks the folder at `path`, and makes it if there is none. Refuses one of other files, and one that is `store`,
    /// the folder of the store, or inside it. With `expectsBackup` it makes nothing, and throws `missing` where no
    /// manifest is.
    package init(path: String, store: String?, expectsBackup: Bool = false) throws(BackupError) {
        try Self.refuseInside(store, path)
        if expectsBackup { try Self.refuseMissing(path) }
        if mkdir(path, 0o700) == 0 {
            // Else a power cut could take the whole backup with the name of its folder.
            try Self.syncNew(path)
        } else if errno != EEXIST {
            throw BackupError.of(errno, path: path)
        }
        try Self.refuseForeign(path)
        let file = "\(path)/\(Self.lockName)"
        let descriptor = FolderOwner.open(file, O_RDWR | O_NOFOLLOW, 0o600, in: path)
        guard descriptor >= 0 else { throw .of(errno, path: file) }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            let process = Self.process(descriptor)
            close(descriptor)
            throw code == EWOULDBLOCK ? .inUse(path: path, process: process) : .unreachable(path: file, code: code)
        }
        (self.path, lock) = (path, descriptor)
        ftruncate(lock, 0)
        let number = Array("\(getpid())\n".utf8)
        // Without it, another process says only that it is in use.
        _ = number.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }

    deinit {
        for (descriptor, _) in unsynced { close(descriptor) }
        ftruncate(lock, 0)
        close(lock)
    }

    /// Throws what `init` would throw for what is at `path`, and changes nothing. With `storeID`, also for the backup
    /// of another store.
    package static func check(
        path: String, store: String?, storeID: [UInt8]? = nil, expectsBackup: Bool = false
    ) throws(BackupError) {
        try refuseInside(store, path)
        if expectsBackup { try refuseMissing(path) }
        try refuseForeign(path)
        if let storeID, let manifest = try manifest(in: path), manifest.store != storeID {
            throw .otherStore(path: path)
        }
    }

    private static func refuseInside(_ store: String?, _ path: String) throws(BackupError) {
        guard let store else { return }
        let (inner, outer) = (realPath(path), realPath(store))
        if inner == outer || inner.hasPrefix(outer + "/") { throw .insideStore(path: path) }
    }

    private static func refuseMissing(_ path: String) throws(BackupError) {
        if try !names(in: path).contains(Manifest.fileName) { throw .missing(path: path) }
    }

    /// The process that has the lock.
    private static func process(_ descriptor: Int32) -> Int32? {
        var text = [UInt8](repeating: 0, count: 16)
        let count = text.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        return Int32(String(decoding: text.prefix(max(0, count)).prefix { $0 != 0x0A }, as: UTF8.self))
    }

    /// The path without links; of a folder that does not exist yet, its parent's.
    static func realPath(_ path: String) -> String {
        if let name = realpath(path, nil) {
            defer { free(name) }
            return String(cString: name)
        }
        var parts = path.split(separator: "/", omittingEmptySubsequences: false)
        while parts.last == "" { parts.removeLast() }
        guard let last = parts.popLast() else { return path }
        let parent = parts.isEmpty ? "." : parts == [""] ? "/" : parts.joined(separator: "/")
        guard let name = realpath(parent, nil) else { return path }
        defer { free(name) }
        let real = String(cString: name)
        return real == "/" ? "/\(last)" : "\(real)/\(last)"
    }

    private static func syncNew(_ path: String) throws(BackupError) {
        do throws(StorageError) { try FolderSync.syncNew(path) } catch {
            switch error {
            case .unreachable(_, let code), .system(_, let code): throw .of(code, path: path)
            default: throw .unreachable(path: path, code: EIO)
            }
        }
    }

    private static func refuseForeign(_ path: String) throws(BackupError) {
        let names = try names(in: path)
        if names.contains(Manifest.fileName) { return }
        let ours = [
            lockName, Manifest.fileName + BackupFileName.unfinished, BackupFileName.logFolder,
            BackupFileName.settingsFolder, "lost+found",
        ]
        if let foreign = names.first(where: { !ours.contains($0) && !isOurs($0) }) {
            throw .foreign(path: path, name: foreign)
        }
    }

    // MARK: - Names

    /// Tells whether a program of ours gives such a name to a file of a backup.
    static func isFileName(_ name: String) -> Bool { BackupFileName(name) != nil }

    /// Tells whether a restore may give this name to a file of settings.
    static func isPlainName(_ name: String) -> Bool { BackupFileName.settingsNames.contains(name) }

    private static func isOurs(_ name: String) -> Bool {
        let unfinished = BackupFileName.unfinished
        return isFileName(name) || name.hasSuffix(unfinished) && isFileName(String(name.dropLast(unfinished.count)))
    }

    /// The names in a folder, in order; none if there is no folder.
    static func names(in path: String) throws(BackupError) -> [String] {
        do throws(StorageError) { return try FolderNames.read(path).sorted() } catch {
            if case .unreachable(_, let code) = error { throw .unreachable(path: path, code: code) }
            throw .unreachable(path: path, code: EIO)
        }
    }

    /// The paths of all regular files in the folder `path` and in the folders inside it, also of those that are no part
    /// of a backup.
    static func allFiles(in path: String) throws(BackupError) -> [String] {
        var (files, waiting) = ([String](), [""])
        while let folder = waiting.popLast() {
            for name in try names(in: "\(path)/\(folder)") {
                let name = folder + name
                var status = stat()
                guard lstat("\(path)/\(name)", &status) == 0 else { continue }
                if status.st_mode & S_IFMT == S_IFDIR { waiting.append(name + "/") }
                if status.st_mode & S_IFMT == S_IFREG { files.append(name) }
            }
        }
        return files.sorted()
    }

    // MARK: - Reading

    /// The manifest; nil if there is none yet.
    package func manifest() throws(BackupError) -> Manifest? { try Self.manifest(in: path) }

    /// The manifest of the backup in the folder `path`; nil if there is none.
    package static func manifest(in path: String) throws(BackupError) -> Manifest? {
        guard let bytes = try content(of: Manifest.fileName, in: path) else { return nil }
        return try Manifest(bytes, path: path)
    }

    /// The content of the file `name` in the folder `path`; nil if there is none. With `count`, nothing is read of a
    /// file of another size.
    static func content(of name: String, in path: String, count: Int? = nil) throws(BackupError) -> [UInt8]? {
        guard let pieces = try BackupFilePieces(of: name, in: path, count: count) else { return nil }
        return try pieces.next(most: pieces.size) ?? []
    }

    /// Tells whether the file `name` has this content.
    private func hasContent(_ content: [UInt8], _ name: String) throws(BackupError) -> Bool {
        guard let pieces = try BackupFilePieces(of: name, in: path, count: content.count) else { return false }
        var offset = 0
        while let piece = try pieces.next() {
            let isSame = content.withUnsafeBytes { whole in
                piece.withUnsafeBytes { whole.slice(offset..<offset + $0.count).hasSameBytes(as: $0) }
            }
            if !isSame { return false }
            offset += piece.count
        }
        return true
    }

    /// Throws if segments without a manifest are there that a run of this log has not left: they may be all that is
    /// left of a store. A first run that was stopped leaves segments of its log.
    package func refuseOrphans(store: [UInt8], history: UInt64, last: Position) throws(BackupError) {
        for name in try Self.names(in: "\(path)/\(BackupFileName.logFolder)") {
            let name = "\(BackupFileName.logFolder)/\(name)"
            guard Self.isFileName(name), let bytes = try Self.content(of: name, in: path),
                let segment = try? Segment(bytes)
            else { continue }
            if segment.store == store, segment.history == history, segment.last <= last { continue }
            throw .damaged(
                path: "\(path)/\(Manifest.fileName)",
                reason: "it is missing, and \(name) is not of this store as it is now")
        }
    }

    // MARK: - Writing

    /// Writes the file `name`; `commit` waits until it is on the disk. A run that was stopped may have left the same
    /// file: it stays.
    package func write(_ content: [UInt8], to name: String) throws(BackupError) {
        try makeFolder(of: name)
        let isThere = (try? hasContent(content, name)) == true
        let descriptor = try isThere ? descriptor(of: name) : writeNew(content, to: name)
        unsynced.append((descriptor, name))
        // The disk works while the next files are written.
        if unsynced.count > Self.mostUnsynced { try syncFirst() }
    }

    /// Files that may not be on the disk yet, in the order in which they were written.
    private var unsynced: [(descriptor: Int32, name: String)] = []
    private static let mostUnsynced = 4

    private func syncFirst() throws(BackupError) {
        let (descriptor, name) = unsynced.removeFirst()
        defer { close(descriptor) }
        try sync(descriptor, name)
    }

    private func sync(_ descriptor: Int32, _ name: String) throws(BackupError) {
        try refuseStopped()
        guard fsync(descriptor) == 0 else { throw BackupError.of(errno, path: path) }
        try note(.sync(name))
    }

    private func descriptor(of name: String) throws(BackupError) -> Int32 {
        let descriptor = open("\(path)/\(name)", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw BackupError.of(errno, path: "\(path)/\(name)") }
        return descriptor
    }

    /// Writes a new file, which gets its name when all of it is written; with `isSynced`, when it is on the disk.
    /// Returns its descriptor.
    private func writeNew(
        _ content: [UInt8], to name: String, isSynced: Bool = false
    ) throws(BackupError) -> Int32 {
        try refuseStopped()
        let (file, unfinished) = ("\(path)/\(name)", "\(path)/\(name)\(BackupFileName.unfinished)")
        // What a run left that was stopped.
        unlink(unfinished)
        let descriptor = FolderOwner.open(unfinished, O_WRONLY | O_TRUNC | O_NOFOLLOW, 0o600, in: path)
        guard descriptor >= 0 else { throw BackupError.of(errno, path: unfinished) }
        do throws(BackupError) {
            try withTypedBytes(content) { (bytes) throws(BackupError) in
                var offset = 0
                while offset < bytes.count {
                    let count = Glibc.write(descriptor, bytes.baseAddress?.advanced(by: offset), bytes.count - offset)
                    if count > 0 { offset += count } else if errno != EINTR { throw BackupError.of(errno, path: path) }
                }
            }
            try note(.write(name))
            // Begins to write it to the disk, where that is possible.
            if isSynced { try sync(descriptor, name) } else { posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) }
            guard Glibc.rename(unfinished, file) == 0 else { throw BackupError.of(errno, path: file) }
            try note(.rename(name))
            return descriptor
        } catch {
            close(descriptor)
            if !isStopped { unlink(unfinished) }
            throw error
        }
    }

    private func makeFolder(of name: String) throws(BackupError) {
        try refuseStopped()
        guard let slash = name.lastIndex(of: "/") else { return }
        let folder = String(name[..<slash])
        if mkdir("\(path)/\(folder)", 0o700) == 0 {
            let descriptor = open("\(path)/\(folder)", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
            if descriptor >= 0 {
                FolderOwner.give(descriptor, in: path)
                close(descriptor)
            }
            return try note(.makeFolder(folder))
        }
        if errno != EEXIST { throw .of(errno, path: "\(path)/\(folder)") }
    }

    /// Makes `manifest` the one that counts: the files that it names are complete, and on the disk with their names.
    package func commit(_ manifest: Manifest) throws(BackupError) {
        while !unsynced.isEmpty { try syncFirst() }
        for folder in [BackupFileName.logFolder, BackupFileName.settingsFolder] { try syncFolder(folder) }
        try syncFolder(".")
        try close(writeNew(manifest.bytes, to: Manifest.fileName, isSynced: true))
        try syncFolder(".")
    }

    private func syncFolder(_ name: String) throws(BackupError) {
        try refuseStopped()
        do throws(StorageError) {
            try FolderSync.sync("\(path)/\(name)")
        } catch .unreachable(_, let code) {
            if code == ENOENT { return }
            throw .unreachable(path: "\(path)/\(name)", code: code)
        } catch .system(_, let code) {
            throw .of(code, path: path)
        } catch {
            throw .unreachable(path: "\(path)/\(name)", code: EIO)
        }
        try note(.syncFolder(name))
    }

    /// Removes the files of backups that `manifest` does not name: old generations, and what a run left that was
    /// stopped. Files of others stay.
    package func removeUnnamed(_ manifest: Manifest?) throws(BackupError) {
        let named = Set(manifest?.files.map(\.name) ?? [])
        for folder in ["", BackupFileName.logFolder + "/", BackupFileName.settingsFolder + "/"] {
            for name in try Self.names(in: "\(path)/\(folder)") {
                let name = folder + name
                let isManifest = name == Manifest.fileName + BackupFileName.unfinished
                if !isManifest, !Self.isOurs(name) || named.contains(name) { continue }
                try refuseStopped()
                guard unlink("\(path)/\(name)") == 0 || errno == ENOENT else {
                    throw .unreachable(path: "\(path)/\(name)", code: errno)
                }
                try note(.remove(name))
            }
        }
    }

    // MARK: - Stopping as a crash does

    private func note(_ operation: Operation) throws(BackupError) {
        do throws(BackupError) { try onOperation(operation) } catch {
            isStopped = true
            throw error
        }
    }

    private func refuseStopped() throws(BackupError) { if isStopped { throw .overtaken } }
}
