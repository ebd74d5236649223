import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog

/// LMDB takes whatever a broken page says for rows: who looks for a row in vain looks at those around its place.
@Suite("What a broken page hides is not taken for missing")
struct HiddenRowTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private let event = ProfileEvent.customEventLogged(CustomEvent(name: "a"))

    /// A store in whose caches are one user and one key.
    private func filled() throws -> EventLog {
        let log = try folder.open(options: .small(clock, indexLag: 10_000))
        _ = try log.append([event], to: .externalID("ana"), idempotencyKey: "first")
        try log.writeIndex()
        return log
    }

    /// A store in whose caches are `ana`, who is on device `d`, and `bo`; the row of table `users` that ana has is
    /// hidden after `last`, of which the caches know nothing.
    private func hidingAna(behind last: (EventLog) throws -> Void = { _ in }) throws -> (log: EventLog, ana: UserInfo) {
        let log = try filled()
        _ = try log.append([event], to: .externalID("bo"))
        _ = try log.changeUser(device: "d", to: .externalID("ana"))
        try log.writeIndex()
        try last(log)
        let ana = try #require(try log.find(.externalID("ana")))
        try hide(ana, in: log)
        return (log, ana)
    }

    private func hide(_ user: UserInfo, in log: EventLog) throws {
        folder.expectDamage()
        try log.remove(.users, withNumberKey(user.number.rawValue) { Array($0) })
    }

    /// Puts another row in the place of the only one of `table`.
    private func replaceRow(_ table: Table.Name, in log: EventLog, with row: (key: [UInt8], value: [UInt8])) throws {
        folder.expectDamage()
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
    }

    @Test("Who is on a device is not merged into the next one, whatever came since", arguments: [false, true])
    func users(isJoined: Bool) throws {
        let (log, ana) = try hidingAna { log in
            guard isJoined else { return }
            // The anonymous user of another device becomes ana.
            _ = try log.launch(device: "e")
            _ = try log.changeUser(device: "e", to: .externalID("ana"))
            #expect(try log.reader.devices.state(of: "e").user == log.find(.externalID("ana"))?.number)
        }
        #expect(throws: AppendError.refused(UserRow.damage)) {
            try log.changeUser(device: "d", to: .externalID("bo"))
        }
        #expect(throws: UserRow.damage) { try log.reader.users.find(ana.number) }
        try log.rebuildCaches()
        #expect(try log.reader.devices.state(of: "d").user == ana.number)
        _ = try log.changeUser(device: "d", to: .externalID("bo"))
        #expect(try log.reader.users.canonicalUser(of: ana.number) == ana.number)
    }

    @Test("IDs that are hidden are not taken for none")
    func identities() throws {
        let (log, ana) = try hidingAna()
        let changes: [IdentityChange] = [
            .merge(source: .externalID("ana"), target: .externalID("bo")),
            .merge(source: .externalID("bo"), target: .externalID("ana")),
            .addAlias(alias: .alias(label: "crm", name: "7"), user: .externalID("ana")),
            .identify(user: .assignedID(ana.brazeID), externalID: .externalID("cy")),
        ]
        let last = try log.lastPosition()
        for change in changes {
            #expect(throws: AppendError.refused(UserRow.damage)) {
                try log.commit(.identity(change, context: .test))
            }
        }
        #expect(try log.lastPosition() == last)
        try log.rebuildCaches()
        #expect(try log.reader.users.find(ana.number) == ana)
    }

    @Test("Who was merged gets no event and is not erased in the other one's place")
    func merged() throws {
        let log = try filled()
        _ = try log.append([event], to: .externalID("bo"))
        let ana = try #require(try log.find(.externalID("ana")))
        let merge = IdentityChange.merge(source: .externalID("ana"), target: .externalID("bo"))
        _ = try log.commit(.identity(merge, context: .test))
        try log.writeIndex()
        try hide(ana, in: log)
        let last = try log.lastPosition()
        #expect(throws: AppendError.refused(UserRow.damage)) { try log.append([event], to: .assignedID(ana.brazeID)) }
        #expect(throws: (any Error).self) {
            try log.erase([.assignedID(ana.brazeID)], actor: "a test", reason: "a test")
        }
        #expect(try log.lastPosition() == last)
        try log.rebuildCaches()
        let bo = try #require(try log.find(.externalID("bo"))).number
        #expect(try log.append([event], to: .assignedID(ana.brazeID)).places.map(\.user) == [bo])
    }

    ///     log     ana comes ─────── writes the caches, of which a row is hidden
    ///     other             sees it                                             looks for ana
    @Test("What another process has written since is not taken for missing either", arguments: [false, true])
    func gathered(hidesVersions: Bool) throws {
        let log = try folder.open(options: .small(clock, indexLag: 10_000))
        let other = try EventLog(path: folder.path, options: .small(clock, indexLag: 10_000))
        _ = try log.append([event], to: .externalID("ana"))
        let ana = try #require(try other.find(.externalID("ana")))
        try log.writeIndex()
        if hidesVersions {
            try log.remove(.streams, KeyCoding.stream(user: ana.number.rawValue, version: 1))
        } else {
            try hide(ana, in: log)
        }
        #expect(throws: StorageError.self) { try other.reader.users.find(ana.number) }
        #expect(throws: AppendError.self) { try other.append([event], to: .assignedID(ana.brazeID)) }
        try log.rebuildCaches()
        #expect(try other.append([event], to: .assignedID(ana.brazeID)).places.map(\.version.rawValue) == [3])
    }

    @Test("A device gets no second user", arguments: [[0], Array("e".utf8)] as [[UInt8]])
    func devices(key: [UInt8]) throws {
        let log = try filled()
        _ = try log.changeUser(device: "d", to: .externalID("ana"))
        try log.writeIndex()
        try replaceRow(.devices, in: log, with: (key, Array(repeating: 7, count: 24)))
        let refusal = AppendError.refused(.damaged(place: "a row of table devices"))
        #expect(throws: refusal) { try log.append([event], to: .device("d")) }
        #expect(throws: refusal) { try log.launch(device: "d") }
        try log.rebuildCaches()
        #expect(try log.reader.devices.state(of: "d").user == log.find(.externalID("ana"))?.number)
    }

    @Test("An address gets no second user", arguments: [[0], [5], [UInt8](repeating: 0xFF, count: 17)] as [[UInt8]])
    func contacts(key: [UInt8]) throws {
        let log = try folder.open(options: .small(clock, indexLag: 10_000))
        let address = UserID.email("a@example.com")
        _ = try log.append([event], to: address)
        try log.writeIndex()
        try replaceRow(.contacts, in: log, with: (key, [7]))
        #expect(throws: StorageError.damaged(place: "a row of table contacts")) {
            try log.reader.addresses.users(sharing: address)
        }
        try log.rebuildCaches()
        #expect(try log.reader.addresses.users(sharing: address).map(\.id) == [address])
    }

    @Test("A retry is not stored a second time", arguments: [[0], [UInt8](repeating: 0xFF, count: 16)] as [[UInt8]])
    func keys(key: [UInt8]) throws {
        let log = try filled()
        try replaceRow(.keys, in: log, with: (key, Array(repeating: 7, count: 9)))
        #expect(throws: AppendError.self) { try log.append([event], to: .externalID("ana"), idempotencyKey: "first") }
        try log.rebuildCaches()
        #expect(try log.append([event], to: .externalID("ana"), idempotencyKey: "first").isRepetition)
    }
}
