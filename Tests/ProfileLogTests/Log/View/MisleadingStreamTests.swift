import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog

@Suite("A damaged row of table streams gives no wrong answer")
struct MisleadingStreamTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private let event = ProfileEvent.customEventLogged(CustomEvent(name: "a"))

    private func filled() throws -> EventLog {
        let log = try folder.open(options: .small(clock, indexLag: 10_000))
        for _ in 0..<99 { _ = try log.append([event], to: .externalID("ana")) }
        try log.writeIndex()
        return log
    }

    @Test(
        "An append never takes its version from a damaged row",
        arguments: [[], [1, 1], Array(repeating: 1, count: 90), Array(repeating: 1, count: 120)] as [[UInt8]])
    func append(row: [UInt8]) throws {
        let log = try filled()
        try log.damage(.streams, KeyCoding.stream(user: 1, version: 1)) { $0 = row }
        let receipt = try? log.append([event], to: .externalID("ana"))
        try log.rebuildCaches()
        // The user's creation and 99 events, and one more if it was not refused.
        #expect(try log.find(.externalID("ana"))?.version.rawValue == (receipt == nil ? 100 : 101))
    }

    @Test("A row under the last version there can be is found, and crashes nothing")
    func lastVersion() throws {
        folder.expectDamage()
        let log = try filled()
        let row = try #require(try log.rows(.streams)[KeyCoding.stream(user: 1, version: 1)])
        try log.damage(.streams, KeyCoding.stream(user: 1, version: .max)) { $0 = row }
        #expect(try log.check().problems.contains { $0.place.hasPrefix("streams") })
        _ = try? log.profile(of: UserNumber(rawValue: 1))
    }

    /// Three users, with three rows each.
    private func rowsOfThree(keepingSnapshots: Bool = false) throws -> EventLog {
        let log = try folder.open(options: .small(clock, indexLag: 10_000))
        for round in 0..<900 { _ = try log.append([event], to: .externalID("user \(round % 3)")) }
        try log.writeIndex()
        if keepingSnapshots { return log }
        try log.environment.withWriteTransaction { try $0.clear(log.environment.tables.snapshots) }
        return log
    }

    private func expectDamage<Value>(_ location: SourceLocation = #_sourceLocation, _ read: () throws -> Value) {
        #expect(sourceLocation: location) { _ = try read() } throws: { ($0 as? StorageError)?.isDamage == true }
    }

    @Test("A row that is missing hides no part of a history", arguments: [1, 129] as [UInt64])
    func missingRow(version: UInt64) throws {
        folder.expectDamage()
        let log = try rowsOfThree()
        try log.remove(.streams, KeyCoding.stream(user: 2, version: version))
        let user = UserNumber(rawValue: 2)
        expectDamage { try log.history(of: user) }
        expectDamage { try log.forEachEvent(of: user) { _ in true } }
        expectDamage { try log.profile(of: user) }
        expectDamage { try log.profile(of: user, asOf: Version(rawValue: 200)) }
        expectDamage { try log.reader.past.version(of: user, at: Position(rawValue: version == 1 ? 100 : 500)) }
        #expect(try log.history(of: user, from: Version(rawValue: 257)).count == 45)
        #expect(try log.history(of: UserNumber(rawValue: 3)).count == 301)
    }

    @Test("The proof that live equals replay reads histories that a snapshot spares the profile of now")
    func proof() throws {
        folder.expectDamage()
        let log = try rowsOfThree(keepingSnapshots: true)
        #expect(try log.replay(verify: true).isEqual)
        try log.remove(.streams, KeyCoding.stream(user: 2, version: 129))
        #expect(try log.profile(of: UserNumber(rawValue: 2)).version.rawValue == 301)
        expectDamage { try log.replay(verify: true) }
    }

    @Test("A row that ends too early hides no part of a history")
    func shortRow() throws {
        folder.expectDamage()
        let log = try rowsOfThree()
        let key = KeyCoding.stream(user: 2, version: 129)
        try log.damage(.streams, key) { row in
            row = Array(row.prefix(row.withUnsafeBytes { StreamRow.prefix($0, entries: 100).bytes }))
            let checksum = row.withUnsafeBytes { crc32c($0) }
            withUnsafeBytes(of: checksum.littleEndian) { row.append(contentsOf: $0) }
        }
        expectDamage { try log.history(of: UserNumber(rawValue: 2)) }
    }

    @Test("A user whose rows are all gone is no new one, and gets no version twice")
    func goneRows() throws {
        let log = try rowsOfThree()
        for version in [1, 129, 257] as [UInt64] {
            try log.remove(.streams, KeyCoding.stream(user: 2, version: version))
        }
        expectDamage { try log.reader.users.find(UserNumber(rawValue: 2)) }
        expectDamage { try log.find(.externalID("user 1")) }
        #expect(throws: AppendError.self) { try log.append([event], to: .externalID("user 1")) }
        try log.rebuildCaches()
        _ = try log.append([event], to: .externalID("user 1"))
    }

    @Test("The last user number there can be is no user")
    func lastUser() throws {
        let log = try filled()
        #expect(try log.reader.users.find(UserNumber(rawValue: .max)) == nil)
        #expect(try log.profile(of: UserNumber(rawValue: .max)).version == .none)
        #expect(try log.users(after: UserNumber(rawValue: .max), limit: 1).isEmpty)
    }
}
