internal import Glibc

/// The names of the files in a folder.
package enum FolderNames {
    /// Reads the names in the folder `path`, without `.` and `..`, in no order; none if there is no folder. Throws
    /// `StorageError.unreachable`.
    package static func read(_ path: String) throws(StorageError) -> [String] {
        guard let folder = opendir(path) else {
            if errno == ENOENT { return [] }
            throw .unreachable(path: path, code: errno)
        }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
