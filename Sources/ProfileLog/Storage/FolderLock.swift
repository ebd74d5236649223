internal import Glibc

/// The lock on a store's folder (`flock`): shared by all who have the store open, and held alone by who replaces its file.
///
/// LMDB's own locks say nothing about that: they belong to one file.
struct FolderLock: ~Copyable {
    private let descriptor: Int32

    /// Takes the lock with others. Throws `inUse` while somebody replaces the file, and `unreachable` where there are no such locks.
    init(_ path: String) throws(StorageError) {
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreachable(path: path, code: errno) }
        while flock(descriptor, LOCK_SH | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            close(descriptor)
            throw code == EWOULDBLOCK ? .inUse(path: path) : .unreachable(path: path, code: code)
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Whether nobody else has the lock, who is kept out then. If somebody has, it is shared as before: to try for it gives it up
    /// (`flock`), and nobody can have replaced the file in the moment between, for that other one was there.
    ///
    /// It is tried for a tenth of a second: a program that another thread starts has all locks of this process until it runs (`exec`), also those
    /// of a store that was closed.
    borrowing func takeAlone() -> Bool {
        for attempt in 0..<50 {
            if attempt > 0 { usleep(2_000) }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            share()
        }
        return false
    }

    /// Lets others in again.
    borrowing func share() { while flock(descriptor, LOCK_SH) != 0, errno == EINTR {} }
}
