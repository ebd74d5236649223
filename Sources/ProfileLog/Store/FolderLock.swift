internal import Glibc

/// The lock on a store's folder (`flock`): shared by all who have the store open, and held alone by who replaces its file.
///
/// LMDB's own locks say nothing about that: they belong to one file. It is taken before the file is looked at, held until the file is
/// closed, and never changed from one kind to the other in between: `flock` gives up the one before it has the other, and in that moment
/// somebody else may replace the file.
package struct FolderLock: ~Copyable {
    private let descriptor: Int32

    /// Takes the lock, with others or `alone`. Throws `inUse` if somebody has it who does not share it, or is not to, and `unreachable`
    /// where there are no such locks.
    init(_ path: String, alone: Bool) throws(StorageError) {
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreachable(path: path, code: errno) }
        while flock(descriptor, (alone ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            close(descriptor)
            throw code == EWOULDBLOCK ? .inUse(path: path) : .unreachable(path: path, code: code)
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }
}
