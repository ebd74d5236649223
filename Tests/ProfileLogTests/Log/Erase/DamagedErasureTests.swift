import ProfileLog
import TestSupport
import Testing

@Suite("An erasure that meets damage says so and changes nothing: it must not be taken for done")
struct DamagedErasureTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private let ana = UserID.externalID("ana")

    /// Bo at positions 1 and 2, ana from 3 on, who has nothing of her own but the ID; all indexed.
    private func filled(_ events: Int = 1) throws -> EventLog {
        let log = try folder.open(options: .small(clock, indexLag: 10_000))
        let played = ProfileEvent.customEventLogged(CustomEvent(name: "played"))
        _ = try log.append([played], to: .externalID("bo"))
        for _ in 0..<events { _ = try log.append([played], to: ana) }
        try log.writeIndex()
        return log
    }

    private func tables(_ log: EventLog) throws -> [Table.Name: [[UInt8]: [UInt8]]] {
        try Dictionary(uniqueKeysWithValues: Table.Name.allCases.map { ($0, try log.rows($0)) })
    }

    private func expectRefusal(_ place: String, _ log: EventLog) throws {
        folder.expectDamage()
        let before = try tables(log)
        #expect(throws: AppendError.refused(.damaged(place: place))) {
            try log.erase([ana], actor: "a test", reason: "asked to")
        }
        #expect(try tables(log) == before)
    }

    /// Flips a bit of the record at position 3, ana's first, and expects that the erasure is refused.
    private func expectRefusal(ofFlipping bit: UInt8, _ log: EventLog, at index: ([UInt8]) -> Int) throws {
        folder.expectDamage()
        try log.damage(.log, withNumberKey(3) { Array($0) }) { $0[index($0)] ^= bit }
        try expectRefusal("the record at position 3 fails its checksum", log)
    }

    @Test("A flipped bit in the person's ID: the row of the whole one would go on leading to them")
    func identifier() throws {
        // The last letter, before the checksum: "ana" becomes "anc".
        try expectRefusal(ofFlipping: 2, filled()) { $0.count - 5 }
    }

    @Test("A flipped bit in a header does not get a right checksum", arguments: [4, 6])
    func header(index: Int) throws {
        // The user's number and the version, each after its tag.
        try expectRefusal(ofFlipping: 4, filled()) { _ in index }
    }

    @Test("A row of the snapshots that is none", arguments: [[1, 2, 3], [7, 0x70, 0x72], [0]] as [[UInt8]])
    func snapshot(key: [UInt8]) throws {
        let log = try filled(40)
        #expect(try !log.rows(.snapshots).isEmpty)
        try log.damage(.snapshots, key) { $0 = [9] }
        try expectRefusal("a row of table snapshots", log)
        #expect(try log.check().problems.map(\.place) == ["snapshots \(Hexadecimal.text(key))"])
        try log.remove(.snapshots, key)
        _ = try log.erase([ana], actor: "a test", reason: "asked to")
    }

    @Test("A row among those of the person's address, and among what waits on their device")
    func longRows() throws {
        let log = try filled()
        let address = UserAttributeChange(.email, "ana@example.com")
        _ = try log.append([.userAttributesChanged([address])], to: ana)
        _ = try log.append([.customEventSaved(CustomEvent(name: "saved"))], to: ana, context: .saved(on: "phone"))
        try log.writeIndex()
        for table in [Table.Name.contacts, .pending] {
            let whole = try #require(try log.rows(table).keys.first)
            // Before the row that the person has.
            let key = Array(whole.dropLast(8)) + [0]
            try log.damage(table, key) { $0 = [9] }
            try expectRefusal("a row of table \(table.rawValue)", log)
            try log.remove(table, key)
        }
        _ = try log.erase([ana], actor: "a test", reason: "asked to")
    }
}
