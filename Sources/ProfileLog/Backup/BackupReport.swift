/// The report of a run of a backup.
package struct BackupReport: Hashable, Sendable {
    /// The folder, or `-` for an archive.
    package let path: String
    /// The position of the last event of the backup, and what it was before.
    package var position, before: Position
    /// The number of segments of the backup.
    package var segments = 0
    /// Segments that had to be written, closed ones that were rewritten after an erasure, and bytes of all files.
    package var segmentsWritten = 0, segmentsRewritten = 0
    package var bytesWritten: UInt64 = 0
    /// All bytes of the backup.
    package var bytes: UInt64 = 0
    /// Erased users who came into the register.
    package var erasures = 0
    /// Files that had lost their content, and were written again from the store.
    package var repaired: [String] = []
    /// Tells whether the store and the backup are on one file system: what destroys one may destroy both.
    package var isOnFileSystemOfStore = false
    /// The kind of the network file system on which the backup is; nil on a disk of this machine.
    package var networkFileSystem: String?
    /// Tells whether it reached the end of the log; if not, the next run goes on.
    package var isComplete = true

    init(path: String, before: Position) { (self.path, position, self.before) = (path, before, before) }

    /// The number of events that are new in the backup.
    package var events: UInt64 { position.rawValue - before.rawValue }

    /// A warning for people; nil if there is none.
    package var warning: String? {
        if isOnFileSystemOfStore {
            return "The backup is on the file system of the store: a disk that fails takes both. "
                + "Name a folder elsewhere."
        }
        return networkFileSystem.map {
            "The backup is on \($0), where the lock of the folder may hold on one machine alone: let only this machine "
                + "write there."
        }
    }
}
