internal import Glibc

/// Syncs of folders, where the names of files stand: LMDB does none.
package enum FolderSync {
    /// Puts on the disk which files are in the folder `path`.
    package static func sync(_ path: String) throws(StorageError) {
        let folder = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw .unreachable(path: path, code: errno) }
        defer { close(folder) }
        // `EINVAL`: the file system has no such thing.
        if fsync(folder) != 0, errno != EINVAL { throw .system(operation: "sync of its folder", code: errno) }
    }

    /// As `sync(_:)`, and that there is this folder, which may be new.
    static func syncNew(_ path: String) throws(StorageError) {
        try sync(path)
        // Who may write in the folder around it, and not read it, can only sync everything.
        if access(path + "/..", R_OK) == 0 { try sync(path + "/..") } else { Glibc.sync() }
    }
}
