internal import Glibc

/// The reason why a backup was not written, or cannot be read. Nothing was changed in its folder.
package enum BackupError: Error, Hashable, Sendable {
    /// The folder holds no manifest.
    case noBackup(path: String)
    /// The folder holds no manifest, and a backup is expected there: its disk may not be mounted.
    case missing(path: String)
    /// The folder or a file in it cannot be used.
    case unreachable(path: String, code: Int32)
    /// Another process writes this backup now.
    case inUse(path: String, process: Int32?)
    /// The folder of the backup is the store's, or inside it.
    case insideStore(path: String)
    /// The folder has no manifest, and the file `name` of another program.
    case foreign(path: String, name: String)
    /// A newer program wrote this backup.
    case newerFormat(path: String, needed: Int64)
    /// A file of the backup is not what the program wrote.
    case damaged(path: String, reason: String)
    /// The file of a register of erasures is not what `profilecli erasures export` or a restore writes.
    case damagedErasures(path: String, reason: String)
    /// The folder has the backup of another store.
    case otherStore(path: String)
    /// The folder has another history of this store from this position on: one of them was restored.
    case otherHistory(path: String, from: Position)
    /// The store ends before the backup does, and was not restored by `restore`.
    case shorterStore(path: String, last: Position, backup: Position)
    /// Records that are in the backup are others in the store, and no erasure explains it.
    case otherRecords(path: String, first: Position, count: Int)
    /// The name with this number is another one in the store, and no erasure explains it.
    case otherNames(path: String, number: Int)
    /// No space is left on the disk of the backup.
    case full(path: String)
    /// Users were erased again and again while the backup was made.
    case overtaken
}

extension BackupError: LogError {
    package var description: String {
        switch self {
        case .noBackup(let path): "There is no backup in \(path)."
        case .missing(let path): "The backup that is expected in \(path) is not there."
        case .unreachable(let path, let code): "\(path) cannot be used: \(String(cString: strerror(code)))."
        case .inUse(let path, let process):
            "Another program writes the backup in \(path) now\(process.map { ", process \($0)" } ?? "")."
        case .insideStore(let path):
            "\(path) is the folder of the store, or inside it: a backup there would go with it."
        case .foreign(let path, let name): "\(path) holds no backup, and another program's file \(name)."
        case .newerFormat(let path, let needed):
            "The backup in \(path) is of format \(needed); this program knows formats up to \(Manifest.format)."
        case .damaged(let path, let reason): "The backup's file \(path) is damaged: \(reason)."
        case .damagedErasures(let path, let reason): "The register of erasures \(path) is damaged: \(reason)."
        case .otherStore(let path): "\(path) has the backup of another store."
        case .otherHistory(let path, let from):
            "\(path) continues another history of this store from position \(from.rawValue) on."
        case .shorterStore(let path, let last, let backup):
            "The store ends at position \(last.rawValue) and its backup in \(path) at \(backup.rawValue)."
        case .otherRecords(let path, let first, let count):
            "From position \(first.rawValue) on, the store has "
                + (count == 1 ? "another record " : "\(count) other records ")
                + "than its backup in \(path), and no erasure explains it."
        case .otherNames(let path, let number):
            "Name \(number) of the store is another one than in its backup in \(path), and no erasure explains it."
        case .full(let path): "The disk of \(path) is full; a backup that was there is whole."
        case .overtaken: "Users were erased again and again while the backup was made; the backup is as it was."
        }
    }

    package var remedy: String {
        switch self {
        case .noBackup: "Check the path; `profilecli backup` makes a backup."
        case .missing:
            "Mount its disk, or correct the path. For a new backup there, take --backup-expect (backup.expect) out "
                + "and start the service again."
        case .unreachable(_, EIO): "Its disk fails: see the log of the system, and take a folder on another disk."
        case .unreachable(_, EROFS): "Mount it so that it can be written; a unit of systemd names it in ReadWritePaths."
        case .unreachable: "Check that the folder exists, and that you may read and write there."
        case .inUse: "Wait until it is done; each backup of a store has one writer."
        case .insideStore: "Name a folder on another disk."
        case .foreign: "Name an empty folder, or one that does not exist yet."
        case .newerFormat: "Install the ProfileLog that wrote it, or a later one."
        case .damagedErasures:
            "Bring the file back from a copy, or write it again with `profilecli erasures export` from the store or a "
                + "newer copy of it that has these erasures."
        case .damaged:
            "Run `profilecli backup verify` to see everything that is damaged. "
                + "Bring the file back from a copy, or take a new folder and keep this one."
        case .otherStore: "Name the folder of this store's backup, or a new one."
        case .otherHistory: "Take a new folder, and keep the old one as long as you need it."
        case .shorterStore, .otherRecords, .otherNames:
            "The store's file was replaced, or is damaged: run `profilecli check`. "
                + "Keep the backup as it is, and take a new folder if the store is right."
        case .full: "Free some space there and run the same command again."
        case .overtaken: "Run the same command again when they are erased."
        }
    }

    /// The kinds of errors, each one word for a metric.
    package enum Kind: String, CaseIterable, Sendable {
        case missing, unreachable, folder, overtaken
        case inUse = "in_use"
        case newerFormat = "newer_format"
        case damagedBackup = "damaged_backup"
        case damagedErasures = "damaged_erasures"
        case otherStore = "other_store"
        case otherHistory = "other_history"
        case otherRecords = "other_records"
        case full = "disk_full"
    }

    package var kind: Kind {
        switch self {
        case .missing: .missing
        case .noBackup, .unreachable: .unreachable
        case .inUse: .inUse
        case .insideStore, .foreign: .folder
        case .newerFormat: .newerFormat
        case .damaged: .damagedBackup
        case .damagedErasures: .damagedErasures
        case .otherStore: .otherStore
        case .otherHistory: .otherHistory
        case .shorterStore, .otherRecords, .otherNames: .otherRecords
        case .full: .full
        case .overtaken: .overtaken
        }
    }

    /// Tells whether stored data is damaged, here or in the store.
    package var isDamage: Bool {
        switch self {
        case .damaged, .damagedErasures, .otherRecords, .otherNames: true
        default: false
        }
    }

    /// The error for the `code` of a failed write to `path`.
    static func of(_ code: Int32, path: String) -> BackupError {
        code == ENOSPC || code == EDQUOT ? .full(path: path) : .unreachable(path: path, code: code)
    }
}
