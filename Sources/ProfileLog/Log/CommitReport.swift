/// What one commit stored and how long it took, for those who measure (`LogOptions.onCommit`).
package struct CommitReport: Hashable, Sendable {
    /// Events that it stored.
    package internal(set) var events = 0
    /// Bytes of their records.
    package internal(set) var bytes = 0
    /// From the wait for the store's write lock until the disk had everything.
    package internal(set) var duration = Duration.zero
}
