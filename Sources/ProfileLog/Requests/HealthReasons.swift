internal import ProfileLogSnippets
internal import Synchronization

/// The reasons for which a service that answers all requests needs its operator: `/health` is then *degraded*.
///
/// Whatever knows of such a reason registers a look, which is asked at each `/health` and `/metrics`. It must be short:
/// compare a time that is in memory, and read no file.
///
/// ```swift
/// health.register(.backup) { now in HealthReason.backup(lastSuccess: last, since: start, every: interval, now: now) }
/// ```
///
/// A reason never makes the service unready: a balancer that took it away would turn an old backup into an outage.
package final class HealthReasons: Sendable {
    package typealias Look = @Sendable (_ now: Timestamp) -> HealthReason?

    private let looks = Mutex<[HealthReason.Kind: Look]>([:])
    private let now: @Sendable () -> Timestamp

    package init(now: @escaping @Sendable () -> Timestamp = { Timestamp.now() }) { self.now = now }

    /// Asks `look` from now on; a later look for the same kind replaces it.
    package func register(_ kind: HealthReason.Kind, _ look: @escaping Look) {
        looks.withLock { $0[kind] = look }
    }

    /// The reasons that hold now, in the order of their kinds.
    package var reasons: [HealthReason] {
        let looks = looks.withLock { $0 }
        let now = now()
        return HealthReason.Kind.allCases.compactMap { looks[$0]?(now) }
    }
}

/// One reason: what is wrong, and what to do.
///
/// `/health` needs no key, so both sentences name no path and no person.
package struct HealthReason: Hashable, Sendable {
    /// The kinds of reasons: labels of a metric, and so few.
    package enum Kind: String, CaseIterable, Sendable {
        case audit, certificate, backup, cluster
        case damagedBackup = "damaged_backup"
    }

    package let kind: Kind
    package let error: String
    package let remedy: String

    package init(_ kind: Kind, error: String, remedy: String) {
        (self.kind, self.error, self.remedy) = (kind, error, remedy)
    }

    /// Intervals without a backup after which that is a reason.
    package static let backupIntervals = 3

    /// The reason that no backup has been made for three intervals; nil if one was. Until the first backup the time
    /// counts from `since`, the start of the service.
    package static func backup(
        lastSuccess: Timestamp?, since start: Timestamp, every interval: Duration, now: Timestamp
    ) -> HealthReason? {
        let age = now.rawValue.subtractingReportingOverflow((lastSuccess ?? start).rawValue)
        if age.overflow { return nil }
        let limit = interval * backupIntervals
        if Duration.microseconds(age.partialValue) <= limit { return nil }
        return HealthReason(
            .backup,
            error: lastSuccess == nil
                ? "No backup has been made since the service started, \(span(age.partialValue)) ago."
                : "The last backup is \(span(age.partialValue)) old.",
            remedy: "The log says why the last one failed; `profilecli backup` makes one now.")
    }

    /// The reason that the backup was found damaged; nil if it is sound, as far as that is known.
    package static func damagedBackup(_ isDamaged: Bool) -> HealthReason? {
        if !isDamaged { return nil }
        return HealthReason(
            .damagedBackup, error: "The backup is damaged.",
            remedy: "The log names a file; `profilecli backup verify` names all. Bring them back from a copy, or take "
                + "a new folder.")
    }

    /// The reason that the audit found differences; nil without one.
    package static func audit(differences: Int) -> HealthReason? {
        if differences == 0 { return nil }
        return HealthReason(
            .audit, error: "The audit found \(differences) states that are not what the log says.",
            remedy: "GET /v1/status names them. Stop the service and run `profilecli check --replay`.")
    }

    private static func span(_ microseconds: Int64) -> String {
        switch microseconds / 1_000_000 {
        case ..<120: "\(microseconds / 1_000_000) seconds"
        case ..<7_200: "\(microseconds / 60_000_000) minutes"
        case ..<172_800: "\(microseconds / 3_600_000_000) hours"
        default: "\(microseconds / 86_400_000_000) days"
        }
    }
}
