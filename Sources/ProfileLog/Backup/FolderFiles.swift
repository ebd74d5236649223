internal import Glibc

/// The steps with files that a restore and a join share.
enum FolderFiles {
    /// Writes all of `bytes`. Returns the code of the error; 0 if there was none.
    static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Int32 {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }

    /// Makes `content` that of the empty file `file`, on the disk too. Takes its descriptor and closes it; one below 0
    /// is the error of opening it.
    static func fill(_ file: String, _ descriptor: Int32, with content: [UInt8]) throws {
        guard descriptor >= 0 else { throw RestoreError.of(errno, path: file) }
        defer { close(descriptor) }
        let code = write(content[...], to: descriptor)
        if code != 0 { throw RestoreError.of(code, path: file) }
        guard fsync(descriptor) == 0 else { throw RestoreError.of(errno, path: file) }
    }

    /// Removes a folder and all that is in it, or a file, if it is there. Links are removed and not followed.
    static func remove(_ path: String) throws {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw RestoreError.of(errno, path: path)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            if unlink(path) != 0 { throw RestoreError.of(errno, path: path) }
            return
        }
        for name in try BackupFolder.names(in: path) { try remove("\(path)/\(name)") }
        if rmdir(path) != 0 { throw RestoreError.of(errno, path: path) }
    }
}
