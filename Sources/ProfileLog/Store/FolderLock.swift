internal import Glibc

/// The lock on a store's folder (`flock`): shared by all processes that have the store open, exclusive to replace or
/// create its files.
///
/// It tells whether a store is in use; LMDB's own locks cannot, as they are in a file that may be removed. It is taken
/// before the files are looked at and held until they are closed.
package struct FolderLock: ~Copyable {
    private let descriptor: Int32
    private let path: String

    /// Takes the lock, shared or `alone`. Throws `inUse` if another opening has a conflicting lock, and `unreachable`
    /// where the file system has no such locks.
    package init(_ path: String, alone: Bool) throws(StorageError) {
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreachable(path: path, code: errno) }
        do throws(StorageError) {
            try Self.take(descriptor, path, alone: alone)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    /// Changes the kind of the lock. `flock` releases the old one before it has the new one: check the files again
    /// after this.
    func take(alone: Bool) throws(StorageError) { try Self.take(descriptor, path, alone: alone) }

    private static func take(_ descriptor: Int32, _ path: String, alone: Bool) throws(StorageError) {
        while flock(descriptor, (alone ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            throw code == EWOULDBLOCK ? .inUse(path: path) : .unreachable(path: path, code: code)
        }
    }
}
