/// The place where a run writes its files: a folder, or an archive.
package protocol BackupTarget: AnyObject {
    /// The folder, or `-`.
    var path: String { get }
    /// The manifest of the last run; nil if there is none.
    func manifest() throws -> Manifest?
    /// Throws if segments without a manifest are there that a run of this log has not left.
    func refuseOrphans(store: [UInt8], history: UInt64, last: Position) throws
    /// Writes a file.
    func write(_ content: [UInt8], to name: String) throws
    /// Makes `manifest` the one that counts.
    func commit(_ manifest: Manifest) throws
    /// Removes the files that `manifest` does not name.
    func removeUnnamed(_ manifest: Manifest?) throws
}

extension BackupFolder: BackupTarget {}

extension BackupTarget {
    /// An archive begins empty.
    package func refuseOrphans(store: [UInt8], history: UInt64, last: Position) {}

    /// Removes what a run has written that failed. If it has replaced the manifest `old` before, its files count, and
    /// those of `old` may count after a crash: all stay.
    func removeUnnamed(unlessReplaced old: Manifest?) {
        // The error of the run says more than one of this would.
        do { if try manifest() == old { try removeUnnamed(old) } } catch {}
    }
}
