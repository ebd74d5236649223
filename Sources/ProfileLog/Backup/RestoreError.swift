internal import Glibc

/// The reason why a store was not restored. The folder of the store is as it was.
package enum RestoreError: Error, Hashable, Sendable {
    /// The folder holds a store, or a file of one.
    case occupied(path: String, name: String)
    /// The folder holds files of other programs.
    case foreign(path: String)
    /// A program has the store open that is to be replaced.
    case storeInUse(path: String)
    /// Another restore into the same folder is under way.
    case alreadyRunning(path: String)
    /// The folder is that of the backup, or one of them is inside the other.
    case overlapping(path: String, backup: String)
    /// The folder is a place where a disk is mounted, which cannot get another name.
    case mounted(path: String)
    /// The old store was moved aside, and neither the new one nor that could take its place.
    case leftAside(path: String, aside: String, code: Int32)
    /// The folder or a file in it cannot be used.
    case unreachable(path: String, code: Int32)
    /// The backup ends before the position that was asked for.
    case beyondBackup(last: Position, recordedAt: Timestamp)
    /// The backup was made before the time that was asked for.
    case afterBackup(written: Timestamp)
    /// The first event is later than the time that was asked for.
    case beforeFirst(recordedAt: Timestamp)
    /// The register has the erasures of another store.
    case otherRegister
    /// The backup is of a store that was of no cluster, or it was stopped before the end of the log.
    case noPlace(path: String)
    /// The caller stopped it.
    case stopped
}

extension RestoreError: LogError {
    package var description: String {
        switch self {
        case .occupied(let path, let name): "\(path) holds \(name)."
        case .foreign(let path): "\(path) holds files that are not those of a store."
        case .storeInUse(let path): "A program has the store in \(path) open."
        case .alreadyRunning(let path): "Another program restores a store into \(path) now."
        case .overlapping(let path, let backup):
            "\(path) and the backup \(backup) are in the same place, or one is inside the other."
        case .mounted(let path): "\(path) is where a disk is mounted, and a restored store cannot take its name."
        case .leftAside(let path, let aside, let code):
            "\(path) cannot be used: \(String(cString: strerror(code))). The store that was there is in \(aside)."
        case .unreachable(let path, let code): "\(path) cannot be used: \(String(cString: strerror(code)))."
        case .beyondBackup(let last, let recordedAt):
            "The backup ends at position \(last.rawValue), recorded at \(recordedAt.rfc3339())."
        case .afterBackup(let written): "The backup was made at \(written.rfc3339()), and --to is later."
        case .beforeFirst(let recordedAt):
            "The first event of the backup was recorded at \(recordedAt.rfc3339()), after --to."
        case .otherRegister: "The erasures are those of another store."
        case .noPlace(let path): "The backup \(path) does not say which batch of a cluster was its last one."
        case .stopped: "The restore was stopped; no store was made."
        }
    }

    package var remedy: String {
        switch self {
        case .occupied:
            "Name a new folder with --store, or add --replace, which moves this one aside and deletes nothing."
        case .foreign: "Name a new folder with --store; nothing was changed in this one."
        case .storeInUse: "Stop every program that uses the store, and run the same command again."
        case .alreadyRunning: "Wait until it is done, or name another folder with --store."
        case .overlapping: "Name a folder with --store that is neither the backup's nor around it."
        case .mounted: "Name a folder in it with --store."
        case .leftAside: "Rename it back, or mend the disk and run the same command again."
        case .unreachable:
            "Check the path and its permissions: a restore writes next to the store's folder and then renames."
        case .beyondBackup: "Ask for an earlier position, or omit --to for all that the backup has."
        case .afterBackup: "Ask for an earlier time, or omit --to for all that the backup has."
        case .beforeFirst: "Ask for a later time."
        case .otherRegister: "Name the erasures of the store that the backup is of."
        case .noPlace: "Take a copy from a node of the cluster with `profiled serve --replicate … --join URL`."
        case .stopped: "Run the same command again."
        }
    }

    /// The error of a failed operation on `path`.
    static func of(_ code: Int32, path: String) -> any Error {
        if code == ENOSPC || code == EDQUOT { return StorageError.copyFull(path: path) }
        return RestoreError.unreachable(path: path, code: code)
    }
}
