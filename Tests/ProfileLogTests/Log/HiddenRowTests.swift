import Testing

@testable import ProfileLog

/// LMDB takes whatever a broken page says for rows: who looks for a row in vain looks at those around its place.
@Suite("What a broken page hides is not taken for missing")
struct HiddenRowTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private let event = ProfileEvent.customEventLogged(CustomEvent(name: "a"))

    /// A store in whose caches are one user and one key.
    private func filled() throws -> EventLog {
        let log = try EventLog(path: folder.path, create: true, options: .small(clock, indexLag: 10_000))
        _ = try log.append([event], to: .externalID("ana"), idempotencyKey: "first")
        try log.writeIndex()
        return log
    }

    /// Puts another row in the place of the only one of `table`.
    private func replaceRow(_ table: Table.Name, in log: EventLog, with row: (key: [UInt8], value: [UInt8])) throws {
        let key = try #require(try log.rows(table).keys.first)
        try log.remove(table, key)
        try log.damage(table, row.key) { $0 = row.value }
    }

    @Test("An ID is not given to a second user", arguments: [[0], [UInt8](repeating: 0xFF, count: 17)] as [[UInt8]])
    func identifiers(key: [UInt8]) throws {
        let log = try filled()
        try replaceRow(.identifiers, in: log, with: (key, Array(repeating: 7, count: 24)))
        #expect(throws: StorageError.damaged(place: "a row of table identifiers")) { try log.find(.externalID("ana")) }
        #expect(throws: AppendError.self) { try log.append([event], to: .externalID("ana")) }
        try log.rebuildCaches()
        #expect(try log.find(.externalID("ana"))?.version.rawValue == 2)
        try log.expectSound()
    }

    @Test("Who is on a device is not merged into the next one")
    func users() throws {
        let log = try filled()
        _ = try log.append([event], to: .externalID("bo"))
        _ = try log.changeUser(device: "d", to: .externalID("ana"))
        try log.writeIndex()
        let ana = try #require(try log.find(.externalID("ana"))).number
        try log.remove(.users, withNumberKey(ana.rawValue) { Array($0) })
        #expect(throws: AppendError.self) { try log.changeUser(device: "d", to: .externalID("bo")) }
        try log.rebuildCaches()
        #expect(try log.deviceState("d").user == ana)
        _ = try log.changeUser(device: "d", to: .externalID("bo"))
        #expect(try log.find(.externalID("ana"))?.number == ana)
        try log.expectSound()
    }

    @Test("A retry is not stored a second time", arguments: [[0], [UInt8](repeating: 0xFF, count: 16)] as [[UInt8]])
    func keys(key: [UInt8]) throws {
        let log = try filled()
        try replaceRow(.keys, in: log, with: (key, Array(repeating: 7, count: 9)))
        #expect(throws: AppendError.self) { try log.append([event], to: .externalID("ana"), idempotencyKey: "first") }
        try log.rebuildCaches()
        #expect(try log.append([event], to: .externalID("ana"), idempotencyKey: "first").isRepetition)
        try log.expectSound()
    }
}
