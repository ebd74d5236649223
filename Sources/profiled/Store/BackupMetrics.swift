internal import ProfileLog
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
        var rewritten = 0
        /// Failures by reason.
        var failures: [String: Int] = [:]
    }

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
