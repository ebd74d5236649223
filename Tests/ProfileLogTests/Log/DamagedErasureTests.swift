import Testing

@testable import ProfileLog

@Suite("An erasure that meets damage says so and changes nothing: it must not be taken for done")
struct DamagedErasureTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private let ana = UserID.externalID("ana")

    /// Bo at positions 1 and 2, ana from 3 on, who has nothing of her own but the ID; all indexed.
    private func filled(_ events: Int = 1) throws -> EventLog {
        let log = try EventLog(path: folder.path, create: true, options: .small(clock, indexLag: 10_000))
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
        let before = try tables(log)
        #expect(throws: AppendError.refused(.damaged(place: place))) {
            try log.erase([ana], actor: "a test", reason: "asked to")
        }
        #expect(try tables(log) == before)
    }

    /// Flips a bit of the record at position 3, ana's first.
    private func flip(_ bit: UInt8, _ log: EventLog, at index: ([UInt8]) -> Int) throws {
        try log.damage(.log, withNumberKey(3) { Array($0) }) { $0[index($0)] ^= bit }
        try expectRefusal("the record at position 3 fails its checksum", log)
    }

    @Test("A flipped bit in the person's ID: the row of the whole one would go on leading to them")
    func identifier() throws {
        // The last letter, before the checksum: "ana" becomes "anc".
        try flip(2, filled()) { $0.count - 5 }
    }

    @Test("A flipped bit in a header does not get a right checksum", arguments: [4, 6])
    func header(index: Int) throws {
        // The user's number and the version, each behind its tag.
        try flip(4, filled()) { _ in index }
    }
}
