internal import ProfileLog
internal import ProfileLogBackup
internal import Synchronization

/// The counts of the backup that a service writes.
final class BackupMetrics: Sendable {
    struct Counts: Sendable {
        /// The time of the last complete backup, by its manifest: also of an earlier start of the service.
        var succeeded: Timestamp?
        var position = Position(rawValue: 0)
        var duration = Duration.zero
        /// The time at which it was last read whole and was sound.
        var verified: Timestamp?
        /// Tells whether a run or a verification found it damaged, and none has found it sound since.
        var isDamaged = false
        /// The time from a backup to the next one, and from a reading of the whole to the next one.
        var every = Duration.zero, verifyEvery = Duration.zero
        var rewritten = 0
        /// Failures by reason: each has its count from the start, so that the first one is seen as a rise.
        var failures = Dictionary(uniqueKeysWithValues: BackupMetrics.reasons.map { ($0, 0) })
    }

    static let damagedStore = "damaged_store"
    static let store = "store"
    static let other = "other"
    /// All reasons of a failure.
    static let reasons = BackupError.Kind.allCases.map(\.rawValue) + [damagedStore, store, other]

    private let state = Mutex<Counts?>(nil)

    /// The counts; nil for a service that writes no backup.
    var counts: Counts? { state.withLock { $0 } }

    /// Changes the counts, which there are from then on.
    func update(_ change: (inout Counts) -> Void) {
        state.withLock { state in
            var counts = state ?? Counts()
            change(&counts)
            state = counts
        }
    }

    func countFailure(_ reason: String) { update { $0.failures[reason, default: 0] += 1 } }
}
