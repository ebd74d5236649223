internal import Glibc

/// The lock on a store's folder (`flock`): shared by all who have the store open, and held alone by who replaces its file.
///
/// LMDB's own locks say nothing about that: they belong to one file.
struct FolderLock: ~Copyable {
    private let descriptor: Int32

    /// Waits while somebody replaces the file.
    init(_ path: String) throws(StorageError) {
        descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreachable(path: path, code: errno) }
        flock(descriptor, LOCK_SH)
    }

    deinit { close(descriptor) }

    /// Whether nobody else has the lock, who is kept out then.
    borrowing func takeAlone() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

    /// Lets others in again.
    borrowing func share() { flock(descriptor, LOCK_SH) }
}
