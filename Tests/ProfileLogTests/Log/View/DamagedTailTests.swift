import ProfileLog
import TestSupport
import Testing

@Suite("A damaged record after the checkpoint is named and contained")
struct DamagedTailTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private let played = ProfileEvent.customEventLogged(CustomEvent(name: "played"))

    private func open() throws -> EventLog {
        try folder.open(options: .small(clock, indexLag: 1000))
    }

    private func key(_ position: UInt64) -> [UInt8] { withNumberKey(position) { Array($0) } }

    private func damaged(_ position: UInt64) -> StorageError {
        .damaged(place: "the record at position \(position) fails its checksum")
    }

    /// Positions 1 to 4 are ana's, 5 to 8 bo's; the caches reach to `indexed`.
    private func fill(indexed: UInt64) throws -> EventLog {
        let log = try open()
        for user in ["ana", "bo"] {
            for _ in 0..<3 {
                _ = try log.append([played], to: .externalID(user))
                if try log.lastPosition().rawValue == indexed { try log.writeIndex() }
            }
        }
        return log
    }

    @Test(
        "Damaged content after the checkpoint: its user gets the place, others are answered, writes are refused",
        arguments: [0, 2])
    func content(indexed: UInt64) throws {
        folder.expectDamage()
        _ = try fill(indexed: indexed).damage(.log, key(3)) { $0[$0.count - 5] ^= 1 }
        let log = try open()
        let ana = UserNumber(rawValue: 1)
        let bo = try #require(try log.find(.externalID("bo")))
        #expect(throws: damaged(3)) { try log.profile(of: ana) }
        #expect(throws: damaged(3)) { try log.history(of: ana) }
        #expect(try log.reader.users.find(ana)?.version.rawValue == 4)
        #expect(try log.named(log.profile(of: bo.number)).customEvents[0].occurrences.count == 3)
        #expect(throws: AppendError.refused(damaged(3))) { try log.append([played], to: .externalID("bo")) }
        #expect(throws: damaged(3)) { try log.writeIndex() }
        #expect(try log.check().problems.map(\.place).contains("log 3"))
    }

    @Test("What may be hidden in it is not answered as if it were not there")
    func hidden() throws {
        folder.expectDamage()
        let log = try fill(indexed: 0)
        _ = try log.append(
            [.customEventSaved(CustomEvent(name: "saved"))], to: .externalID("ana"), context: .saved(on: "d"))
        try log.damage(.log, key(1)) { $0[$0.count - 5] ^= 1 }
        let again = try open()
        #expect(throws: damaged(1)) { try again.find(.externalID("ana")) }
        #expect(throws: damaged(1)) { try again.find(.externalID("nobody")) }
        #expect(throws: damaged(1)) { try again.reader.devices.pending(on: "d") }
        #expect(try again.find(.externalID("bo")) != nil)
    }

    @Test(
        "A damaged header after the checkpoint: its user is unknown, so no user's version is told",
        arguments: [UInt64(0), 2, .max], [UInt64(0), 2, 9, .max])
    func header(user: UInt64, version: UInt64) throws {
        folder.expectDamage()
        let log = try fill(indexed: 4)
        try log.damage(.log, key(6)) { $0 = forged(from: $0, user: user, version: version, recordedAt: .min) }
        let again = try open()
        if user == 2, version == 2 {
            // It fits in, so it counts as bo's.
            _ = try again.profile(of: UserNumber(rawValue: 1))
        } else {
            #expect(throws: damaged(6)) { try again.profile(of: UserNumber(rawValue: 1)) }
        }
        #expect(throws: damaged(6)) { try again.profile(of: UserNumber(rawValue: 2)) }
        #expect(throws: AppendError.refused(damaged(6))) { try again.append([played], to: .externalID("bo")) }
        #expect(try again.check().problems.map(\.place).contains("log 6"))
    }

    /// A record with a readable header and the checksum of its former bytes.
    private func forged(from record: [UInt8], user: UInt64, version: UInt64, recordedAt: Int64) -> [UInt8] {
        var writer = WireWriter()
        RecordHeader.write(kind: 9, user: user, version: version, recordedAt: recordedAt, to: &writer)
        return Array(writer.bytes) + record.suffix(4)
    }

    @Test("A record that another process wrote is checked as well")
    func foreign() throws {
        folder.expectDamage()
        let log = try open()
        let other = try open()
        _ = try log.append([played, played], to: .externalID("ana"))
        _ = try other.lastPosition()
        try log.damage(.log, key(2)) { $0[$0.count - 5] ^= 1 }
        #expect(throws: AppendError.refused(damaged(2))) { try other.append([played], to: .externalID("ana")) }
        #expect(throws: damaged(2)) { try other.profile(of: UserNumber(rawValue: 1)) }
    }

    @Test("The last indexed record is not asked for the time when it is damaged")
    func time() throws {
        folder.expectDamage()
        let log = try fill(indexed: 8)
        try log.damage(.log, key(8)) { $0 = forged(from: $0, user: 2, version: 4, recordedAt: .min) }
        let again = try open()
        let position = try again.append([played], to: .externalID("ana")).last
        #expect(try again.event(at: position)?.recordedAt == clock.now)
    }

    @Test("Caches are not dropped if a record that they know cannot be indexed again")
    func kept() throws {
        folder.expectDamage()
        let log = try fill(indexed: 8)
        try log.damage(.log, key(3)) { $0[$0.count - 5] ^= 1 }
        #expect(throws: damaged(3)) { try log.rebuildCaches() }
        let again = try open()
        _ = try again.append([played], to: .externalID("ana"))
        #expect(throws: damaged(3)) { try again.history(of: UserNumber(rawValue: 1)) }
    }
}
