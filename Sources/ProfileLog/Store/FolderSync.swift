internal import Glibc

/// Syncs folders, which hold the names of files: LMDB does not.
package enum FolderSync {
    /// Makes the names of the files in the folder `path` durable.
    package static func sync(_ path: String) throws(StorageError) {
        let folder = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw .unreachable(path: path, code: errno) }
        defer { close(folder) }
        // `EINVAL`: the file system cannot sync folders.
        if fsync(folder) != 0, errno != EINVAL { throw .system(operation: "sync of its folder", code: errno) }
    }

    /// As `sync(_:)`, and the name of the folder itself, which may be new.
    package static func syncNew(_ path: String) throws(StorageError) {
        try sync(path)
        // Without the right to read the parent folder, only a sync of everything helps.
        if access(path + "/..", R_OK) == 0 { try sync(path + "/..") } else { Glibc.sync() }
    }
}
