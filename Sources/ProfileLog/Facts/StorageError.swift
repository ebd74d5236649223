internal import Glibc

/// The reason why the store's files or the disk refused. `description` says what is true, `remedy` the next step.
public enum StorageError: Error, Hashable, Sendable {
    /// The folder holds no store.
    case noStore(path: String)
    /// The folder holds something that is not a ProfileLog store.
    case notAStore(path: String)
    /// A newer program wrote this store; it wants at least format `needed`.
    case newerFormat(needed: UInt32, known: UInt32)
    /// The folder may not be written by this user; `whose` says to which user the file or folder belongs.
    case notWritable(path: String, whose: String? = nil)
    /// The folder cannot be read, made or locked.
    case unreachable(path: String, code: Int32)
    /// The folder is on a network file system, where LMDB's locks and memory map do not work.
    case networkFileSystem(path: String)
    /// The file ends before the pages that it says are in use, and these are not all free.
    case truncated(path: String, bytes: UInt64, neededBytes: UInt64)
    /// No space is left on the disk. Nothing was written.
    case diskFull
    /// No space is left where a copy of a store is written. The store itself is as it was.
    case copyFull(path: String)
    /// The reserved map of `bytes` is full. Nothing was written.
    case mapFull(bytes: Int)
    /// Another program, or another part of this one, has the store open.
    case inUse(path: String)
    /// Another program has the same data file open by another path, with another lock file.
    case openElsewhere(path: String)
    /// The data file is a link, and the operation would replace it.
    case linkedFile(path: String)
    /// No space is left for the lock file, which even a read needs. Nothing was written.
    case noRoomToOpen(path: String, neededBytes: Int)
    /// A file of the store was removed, replaced or overwritten while a program has the store open, or another program
    /// took itself for the first to open it.
    case filesChanged(path: String)
    /// Another process with the same process number has the store open, as happens in containers. LMDB distinguishes
    /// its readers by it.
    case processNumberTaken(number: Int32)
    /// Every reader slot is taken.
    case readersFull
    /// The store is read-only until it is opened again, since an earlier write failed on the disk.
    case closedAfterFailure
    /// The store is of a cluster, and this program is not its node.
    case inCluster
    /// The log was closed.
    case closed
    /// A cursor is not of an event of this log: the log, which ends at `last`, was restored or replaced.
    case otherHistory(position: Position, last: Position)
    /// Something stored is not what it must be.
    case damaged(place: String)
    /// A page of the store's file does not hold what LMDB wrote; found during `operation`.
    case brokenPage(operation: String)
    /// LMDB or the system answered `code`.
    case system(operation: String, code: Int32)
}

extension StorageError: LogError {
    /// The facts in one line.
    public var description: String {
        switch self {
        case .noStore(let path): "There is no ProfileLog store in \(path)."
        case .notAStore(let path): "The files in \(path) are not a ProfileLog store."
        case .newerFormat(let needed, let known):
            "The store is of format \(needed); this program knows formats up to \(known)."
        case .notWritable(let path, let whose):
            "You may not write in \(path)\(whose.map { " (\($0))" } ?? ""), "
                + "and even who only reads a store takes a lock in its lock.mdb."
        case .unreachable(let path, let code): "The folder \(path) cannot be used: \(Self.text(code))."
        case .networkFileSystem(let path): "The folder \(path) is on a network file system, where a store would break."
        case .truncated(let path, let bytes, let neededBytes):
            "The store's file in \(path) has \(bytes) bytes and needs \(neededBytes): its end is missing."
        case .diskFull: "The disk is full; nothing of this append was stored."
        case .copyFull(let path): "The disk of \(path) is full: the copy that is written there is not complete."
        case .mapFull(let bytes):
            "The store has reached its reserved size of \(bytes) bytes; nothing of this append was stored."
        case .inUse(let path): "Another program has the store in \(path) open."
        case .openElsewhere(let path):
            "Another program has the data.mdb of \(path) open by another path, with another lock.mdb."
        case .linkedFile(let path): "data.mdb in \(path) is a link: a new file would replace the link, not the store."
        case .noRoomToOpen(let path, let neededBytes):
            "The disk of \(path) is full: to open the store there, also to read it, takes "
                + "\(neededBytes / 1024) KiB for its lock.mdb."
        case .filesChanged(let path):
            "data.mdb or lock.mdb in \(path) is not as the programs of the store left it: it was overwritten, or "
                + "removed or replaced, or a program that saw no locks of others opened the store, "
                + "so it takes no writes."
        case .processNumberTaken(let number):
            "Another program with the same process number, \(number), has the store open: it runs in another container."
        case .readersFull: "Too many programs read this store at once."
        case .closedAfterFailure: "The disk failed earlier, so the store takes nothing more until it is opened again."
        case .inCluster: "The store is that of a node of a cluster: it takes writes only from its node."
        case .closed: "The log is closed."
        case .otherHistory(let position, let last):
            position > last
                ? "The log ends at position \(last.rawValue) and does not hold the cursor's event, "
                    + "which is at \(position.rawValue): it was restored or replaced."
                : "The event at position \(position.rawValue) is not the cursor's: the log was restored or replaced."
        case .damaged(let place): "The store is damaged: \(place)."
        case .brokenPage(let operation): "A page of the store's file is broken; it was met during a \(operation)."
        case .system(let operation, let code): "The store's \(operation) failed: \(Self.text(code))."
        }
    }

    /// The next step for the reader.
    public var remedy: String {
        switch self {
        case .noStore: "Check the path; `EventLog` with `create: true` makes a store."
        case .notAStore: "Name another folder; nothing was changed in this one."
        case .newerFormat: "Install the ProfileLog that wrote it, or a later one."
        case .notWritable:
            "Change the owner (`chown`) or the permissions, or run as the user who owns the store. "
                + "To read what is on a read-only disk, copy data.mdb into an empty folder of your own, "
                + "and open that."
        case .unreachable:
            "Check that the path exists, that you may enter it, and that its file system has locks (flock)."
        case .networkFileSystem: "Keep the store on a local disk."
        case .truncated: "Restore the file from a backup; do not write to it."
        case .diskFull: "Free some space and try the same again, with the same idempotency key if it had one."
        case .copyFull: "Free some space there and make the copy again; the store itself is as it was."
        case .mapFull: "Start a new store, and tell us how you filled this one."
        case .inUse: "Close it there and try again."
        case .openElsewhere:
            "Open it by the path that the other program uses, or stop that program. "
                + "A link to, or a mount of, the whole folder is a path to the same store; "
                + "one of data.mdb alone is not."
        case .linkedFile: "Name the folder that the link leads to."
        case .noRoomToOpen: "Free some space, or copy data.mdb to a disk with space and read it there."
        case .filesChanged:
            "Stop every program that uses the store, put the right data.mdb back if it is missing or overwritten, "
                + "and start again; lock.mdb is made when it is needed."
        case .processNumberTaken:
            "Let the containers that share the store share one PID namespace, or start this program again."
        case .readersFull: "Stop some of them and try again."
        case .closedAfterFailure: "Check the disk, then close the log and open it again."
        case .inCluster:
            "Write through a node of the cluster, or take the store out of the cluster first."
        case .closed: "Open it again."
        case .otherHistory:
            "Compare what you keep with the log from a position that both have, or read it from the start."
        case .damaged:
            "Run `log.check` to see everything that is damaged, and restore those parts from a backup."
        case .brokenPage:
            "Run `log.check` to see which part of the store it belongs to, and restore data.mdb from a backup; "
                + "copy it again with `log.copy` if it is a copy that was made while a program wrote."
        case .system: "Check the disk and the folder's permissions, then try again."
        }
    }

    /// Tells whether it reports damage of stored data.
    package var isDamage: Bool {
        switch self {
        case .damaged, .brokenPage, .truncated: true
        default: false
        }
    }

    /// LMDB's own codes are negative.
    private static func text(_ code: Int32) -> String {
        code < 0 ? "LMDB error \(code)" : String(cString: strerror(code))
    }
}
