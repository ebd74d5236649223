internal import Glibc

/// The folder of a store that a node gets from another node of its cluster.
///
/// The copy and the store that is made of it are in the folder `joining` inside it. The store gets its place by one
/// rename of `data.mdb`, when it is complete and on the disk: a crash leaves no store, or the whole one, and the next
/// join begins again. Keys that are in the folder already stay.
///
/// ```swift
/// let folder = try JoinFolder(path: "/var/lib/profilelog")
/// for try await piece in body { try folder.unpacker.add(piece) }
/// let report = try folder.finish(projections: RequestStore.projections)
/// ```
package final class JoinFolder {
    /// The folder of the store.
    package let path: String
    /// Takes the copy, which is a `BackupArchive`.
    package private(set) var unpacker: BackupUnpacker
    /// Keeps other programs, and another join, from the folder.
    private let lock: FolderLock
    private var work: String { "\(path)/\(StoreFolder.joining)" }
    private var copy: String { "\(work)/copy" }
    private var store: String { "\(work)/store" }

    /// Takes the folder `path`, which has no store and which no program uses, and makes it if there is none.
    package init(path: String) throws {
        if mkdir(path, 0o700) == 0 {
            try FolderSync.syncNew(path)
        } else if errno != EEXIST {
            throw RestoreError.of(errno, path: path)
        }
        self.path = path
        lock = try FolderLock(path, alone: true)
        unpacker = BackupUnpacker(path: "\(path)/\(StoreFolder.joining)/copy")
        switch try StoreFolder(path: path) {
        case .vacant, .unfinished: break
        case .store: throw RestoreError.occupied(path: path, name: "a store")
        case .foreign: throw RestoreError.foreign(path: path)
        }
        try restart()
    }

    /// Forgets what came by now.
    package func restart() throws {
        try FolderFiles.remove(work)
        for folder in [work, copy] where mkdir(folder, 0o700) != 0 { throw RestoreError.of(errno, path: folder) }
        unpacker = BackupUnpacker(path: copy)
    }

    /// Compares the copy with its manifest, makes the store of it with its caches, compares that with the copy, and
    /// gives it its place.
    package func finish(
        options: LogOptions = LogOptions(), projections: [any Projection.Type] = [ProfileProjection.self],
        progress: (LogProgress) -> Bool = { _ in true }
    ) throws -> RestoreReport {
        guard unpacker.isComplete else { throw BackupError.damaged(path: copy, reason: "the copy is cut") }
        let restore = try Restore(forNode: BackupReader(path: copy))
        let report = try restore.writeVerified(
            in: store, options: options, projections: projections, progress: progress)
        if let problem = report.problems.first { throw BackupError.damaged(path: copy, reason: problem) }
        for (name, content) in try restore.filesNextToStore() where Self.isAbsent("\(path)/\(name)") {
            try put(content, as: name)
        }
        // Of a first write that was stopped: it is of another data file.
        if unlink("\(path)/lock.mdb") != 0, errno != ENOENT { throw RestoreError.of(errno, path: path) }
        try FolderSync.sync(path)
        try move("data.mdb")
        try FolderSync.sync(path)
        // The store is there, whatever becomes of this.
        try? FolderFiles.remove(work)
        return report
    }

    /// Removes what was written.
    package func abandon() { try? FolderFiles.remove(work) }

    // MARK: - Files

    private func put(_ content: [UInt8], as name: String) throws {
        let file = "\(store)/\(name)"
        let descriptor = FolderOwner.open(file, O_WRONLY | O_TRUNC | O_NOFOLLOW, 0o600, in: path)
        try FolderFiles.fill(file, descriptor, with: content)
        try move(name)
    }

    private func move(_ name: String) throws {
        guard rename("\(store)/\(name)", "\(path)/\(name)") == 0 else { throw RestoreError.of(errno, path: path) }
    }

    private static func isAbsent(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) != 0 && errno == ENOENT
    }
}
