import ProfileLog
import ProfileLogRequests
import Testing

@Suite("Reasons for degraded health")
struct HealthReasonTests {
    private static let day: Int64 = 86_400_000_000
    private let now = Timestamp(rawValue: 20_000 * HealthReasonTests.day)

    private func after(_ microseconds: Int64) -> Timestamp { Timestamp(rawValue: now.rawValue + microseconds) }

    @Test("A backup is a reason after three intervals without one; before the first one they count from the start")
    func backup() throws {
        func reason(last: Int64?, start: Int64 = -100 * Self.day) -> HealthReason? {
            HealthReason.backup(
                lastSuccess: last.map(after), since: after(start), every: .seconds(60), now: now)
        }
        #expect(reason(last: -180_000_000) == nil)
        #expect(try #require(reason(last: -180_000_001)).error == "The last backup is 3 minutes old.")
        #expect(reason(last: nil, start: -180_000_000) == nil)
        #expect(try #require(reason(last: nil, start: -181_000_000)).error.contains("No backup has been made"))
        // A clock that was ahead when the backup was made.
        #expect(reason(last: Self.day) == nil)
    }

    @Test("A damaged backup is a reason of its own, and a sound one is none")
    func damagedBackup() throws {
        #expect(HealthReason.damagedBackup(false) == nil)
        let reason = try #require(HealthReason.damagedBackup(true))
        #expect(reason.kind.rawValue == "damaged_backup" && reason.remedy.contains("profilecli backup verify"))
    }

    @Test("Each look is asked when health is, a later one replaces an earlier one, and the order is that of the kinds")
    func registry() {
        let health = HealthReasons(now: { Timestamp(rawValue: 7) })
        #expect(health.reasons.isEmpty)
        health.register(.backup) { now in HealthReason(.backup, error: "\(now.rawValue)", remedy: "r") }
        health.register(.audit) { _ in HealthReason.audit(differences: 2) }
        health.register(.certificate) { _ in nil }
        #expect(health.reasons.map(\.kind) == [.audit, .backup])
        #expect(health.reasons.last?.error == "7")
        health.register(.audit) { _ in HealthReason.audit(differences: 0) }
        #expect(health.reasons.map(\.kind) == [.backup])
    }
}
