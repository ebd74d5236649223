import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogFolds
@testable import ProfileLogLog

@Suite("The audit compares what is read with a fold of the log")
struct AuditorTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    /// 40 users, each with 12 events, one that waits on their device, and a snapshot.
    private func filled() throws -> EventLog {
        var options = LogOptions.small(clock, indexLag: 10_000)
        options.snapshotInterval = 1
        let log = try folder.open(
            options: options, projections: [ProfileProjection.self])
        for user in 1...40 {
            for level in 1...6 {
                let event = CustomEvent(name: "played")
                let change = AttributeChange("level", .set(.int(Int64(level))))
                let events: [ProfileEvent] = [.customEventLogged(event), .customAttributesChanged([change])]
                _ = try log.append(events, to: .externalID("u\(user)"))
            }
            _ = try log.append(
                [.customEventSaved(CustomEvent(name: "seen"))], to: .externalID("u\(user)"),
                context: .saved(on: "phone\(user)"))
        }
        try log.writeIndex()
        return log
    }

    private func audit(_ log: EventLog, _ auditor: Auditor) throws -> AuditReport {
        while try auditor.step(budget: .zero) {}
        return auditor.report
    }

    @Test("A sound store is proven to its end, and audited again after new events only")
    func sound() throws {
        let log = try filled()
        let auditor = Auditor(log)
        #expect(try auditor.step(budget: .zero))
        #expect(auditor.report.last == nil && auditor.report.done == 1)
        var report = try audit(log, auditor)
        #expect(report.last?.position == (try log.lastPosition()) && report.last?.users == 40 && report.done == 0)
        #expect(report.differences.isEmpty)
        #expect(try !auditor.step(budget: .seconds(1)))
        _ = try log.append([.customEventLogged(CustomEvent(name: "left"))], to: .externalID("u1"))
        report = try audit(log, auditor)
        #expect(report.last?.position == (try log.lastPosition()))
    }

    @Test("The rate of a round, rests included, says when it ends and how long it took")
    func rate() throws {
        let log = try filled()
        let auditor = Auditor(log)
        _ = try auditor.step(budget: .zero)
        #expect(auditor.report.usersPerSecond == nil && auditor.report.left == nil)
        for _ in 0..<9 {
            clock.advance(500_000)
            _ = try auditor.step(budget: .zero)
        }
        clock.advance(500_000)
        // Ten users in five seconds; thirty are left.
        #expect(auditor.report.done == 10 && auditor.report.usersPerSecond == 2)
        #expect(auditor.report.left == .seconds(15))
        let report = try audit(log, auditor)
        #expect(report.last?.took == .seconds(5) && report.usersPerSecond == nil && report.left == nil)
    }

    @Test("After the last user a round has no rate of users, but says how many devices are left")
    func devices() throws {
        let log = try filled()
        let auditor = Auditor(log)
        _ = try auditor.step(budget: .zero)
        clock.advance(10_000_000)
        for _ in 0..<39 { _ = try auditor.step(budget: .zero) }
        #expect(auditor.report.usersPerSecond == 4 && auditor.report.devicesLeft == nil)
        // The last user, then devices.
        for left in [nil, 39, 38] as [Int?] {
            _ = try auditor.step(budget: .zero)
            let report = auditor.report
            #expect(report.done == 40 && report.usersPerSecond == nil && report.left == nil)
            #expect(report.devicesLeft == left)
        }
        #expect(try audit(log, auditor).devicesLeft == nil)
    }

    @Test("Each of 20 planted differences is found, with user and field, and nothing else")
    func planted() throws {
        folder.expectDamage()
        let log = try filled()
        var expected: [AuditDifference] = []
        for number in 1...20 {
            let user = UserNumber(rawValue: UInt64(number * 2))
            let version = try log.reader.users.find(user)?.version.rawValue ?? 0
            let key = KeyCoding.snapshot(ProfileProjection.name, user: user.rawValue, version: version)
            if number % 5 == 3 {
                // The last event of another user.
                try log.damage(.streams, KeyCoding.stream(user: user.rawValue, version: 1)) { row in
                    row.removeLast(4)
                    row[row.count - 1] -= 1
                    row.appendChecksum()
                }
                expected.append(AuditDifference(user: user, place: "event \(version) of the history"))
                continue
            }
            if number % 5 == 4 {
                let prefix = KeyCoding.devicePrefix(Name("phone\(user.rawValue)"))
                try log.remove(.pending, try #require(log.rows(.pending).keys.first { $0.starts(with: prefix) }))
                expected.append(AuditDifference(user: user, place: "what waits on a device"))
                continue
            }
            try log.damage(.snapshots, key) { row in
                var state = row.withUnsafeBytes {
                    SnapshotRow.state($0, revision: ProfileProjection.revision).flatMap(ProfileProjection.decode)!
                }
                let place: String
                switch number % 5 {
                case 0:
                    place = "custom attribute level"
                    state.fields.remove(state.fields.fields[0].key)
                case 1:
                    place = "custom event played"
                    state.events.removeAll()
                default:
                    place = "profile"
                    state.created = .start
                }
                expected.append(AuditDifference(user: user, place: place))
                row = SnapshotRow.bytes(revision: ProfileProjection.revision, state: ProfileProjection.encode(state))
            }
        }
        let found = try audit(log, Auditor(log)).differences
        #expect(Set(expected).isSubset(of: found) && Set(found.map(\.user)) == Set(expected.map(\.user)), "\(found)")
    }

    @Test("What waits on a device and in no profile is a difference of its user")
    func waiting() throws {
        folder.expectDamage()
        let log = try filled()
        let number = UserNumber(rawValue: 7)
        let version = try #require(log.reader.users.find(number)?.version.rawValue)
        try log.damage(.snapshots, KeyCoding.snapshot(ProfileProjection.name, user: 7, version: version)) { row in
            var state = row.withUnsafeBytes {
                SnapshotRow.state($0, revision: ProfileProjection.revision).flatMap(ProfileProjection.decode)!
            }
            state.pending.removeAll()
            row = SnapshotRow.bytes(revision: ProfileProjection.revision, state: ProfileProjection.encode(state))
        }
        let places = try audit(log, Auditor(log)).differences.map(\.place)
        #expect(places == ["pending items", "what waits on a device"])
    }

    @Test("A history that lacks its last event is found, though all that is read of it is right")
    func missing() throws {
        folder.expectDamage()
        let log = try filled()
        let count = try log.lastPosition().rawValue
        try log.damage(.streams, KeyCoding.stream(user: 3, version: 1)) { row in
            row.removeLast(5)
            row.appendChecksum()
        }
        let found = try audit(log, Auditor(log)).differences
        #expect(found.map(\.place).contains("all histories: \(count - 1) of \(count) events"), "\(found)")
    }

    @Test("A damaged record is a difference of its user, and the audit goes on")
    func damaged() throws {
        folder.expectDamage()
        let log = try filled()
        try log.damage(.log, withNumberKey(5) { Array($0) }) { $0[$0.count - 1] ^= 1 }
        let report = try audit(log, Auditor(log))
        #expect(report.differences.map(\.user) == [UserNumber(rawValue: 1)])
        #expect(report.differences.first?.place.contains("position 5") == true)
        #expect(report.last?.users == 40)
    }
}
