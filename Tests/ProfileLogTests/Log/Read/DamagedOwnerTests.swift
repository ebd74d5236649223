import ProfileLog
import TestSupport
import Testing

@Suite("A user named by a damaged row of a cache gets no event")
struct DamagedOwnerTests {
    let folder = TemporaryFolder(.damaged)
    let clock = TestClock()
    private let event = ProfileEvent.customEventLogged(CustomEvent(name: "played"))

    private func open(create: Bool = false) throws -> EventLog {
        try EventLog(path: folder.path, create: create, options: .small(clock, indexLag: 10_000))
    }

    /// `ana` and `bo`, who are users 1 and 2, with ana on device `d`.
    private func filled() throws -> EventLog {
        let log = try open(create: true)
        for user in ["ana", "bo"] { _ = try log.append([event], to: .externalID(user)) }
        _ = try log.changeUser(device: "d", to: .externalID("ana"))
        return log
    }

    /// Puts `number` in the place of user 1 in a row, reopens the store, and expects that `id` resolves to no user.
    private func expectRefusal(
        _ number: UInt8, _ table: Table.Name, _ key: [UInt8], at index: Int, _ id: UserID, _ log: EventLog
    ) throws {
        try log.writeIndex()
        try log.damage(table, key) { row in
            #expect(row[index] == 1)
            row[index] = number
        }
        let log = try open()
        let before = try log.rows(.log)
        let damaged = StorageError.damaged(place: "a row of table \(table.rawValue)")
        #expect(throws: AppendError.refused(damaged)) { try log.append([event], to: id) }
        #expect(throws: damaged) { try log.find(id) }
        #expect(try log.rows(.log) == before)
        try log.rebuildCaches()
        #expect(try log.append([event], to: id).places.map(\.user.rawValue) == [1])
    }

    @Test("The one on a device: no user has the number, or another person", arguments: [9, 2] as [UInt8])
    func device(number: UInt8) throws {
        try expectRefusal(number, .devices, Array("d".utf8), at: 1, .device("d"), filled())
    }

    @Test("The user that another one was merged into", arguments: [9, 2] as [UInt8])
    func merge(number: UInt8) throws {
        let log = try filled()
        let source = UserID.externalID("cleo")
        _ = try log.append([event], to: source)
        let cleo = try #require(try log.find(source))
        _ = try log.commit(.identity(.merge(source: source, target: .externalID("ana")), context: .test))
        let key = withNumberKey(cleo.number.rawValue) { Array($0) }
        // After the position at which cleo came, and the tag.
        try expectRefusal(number, .users, key, at: 3, .assignedID(cleo.brazeID), log)
    }

    @Test("The one whose item waits: no user has the number, or another person", arguments: [9, 2] as [UInt8])
    func item(number: UInt8) throws {
        let log = try filled()
        _ = try log.append(
            [.customEventSaved(CustomEvent(name: "saved"))], to: .externalID("ana"), context: .saved(on: "d"))
        try log.writeIndex()
        let (key, value) = try #require(try log.rows(.pending).first)
        var damaged = key
        let index = key.count - 9
        #expect(key[index] == 1)
        damaged[index] = number
        try log.remove(.pending, key)
        try log.damage(.pending, damaged) { $0 = value }
        let before = try log.rows(.log)
        let refusal = AppendError.refused(.damaged(place: "a row of table pending"))
        #expect(throws: refusal) { try log.launch(device: "d") }
        #expect(try log.rows(.log) == before)
        #expect(try log.check().problems.contains { $0.place.hasPrefix("pending") })
    }

    @Test("A launch on the device, and who is on it, are refused as well")
    func launch() throws {
        let log = try filled()
        try log.writeIndex()
        try log.damage(.devices, Array("d".utf8)) { $0[1] = 2 }
        let before = try log.rows(.log)
        let damaged = StorageError.damaged(place: "a row of table devices")
        #expect(throws: AppendError.refused(damaged)) { try log.launch(device: "d") }
        #expect(throws: AppendError.refused(damaged)) { try log.logOut(device: "d") }
        #expect(throws: damaged) { try log.reader.devices.all().map { try log.reader.devices.state(of: $0.text) } }
        #expect(try log.rows(.log) == before)
    }
}
