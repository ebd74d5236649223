import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog

@Suite("Names are the truth: a row that is damaged or missing is named, and none is written over")
struct NameRowTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    private func open() throws -> EventLog {
        try folder.open(options: .small(clock))
    }

    private func event(_ name: Name) -> ProfileEvent { .customEventLogged(CustomEvent(name: name)) }

    /// Names 1 to 4.
    private func filled() throws -> EventLog {
        let log = try open()
        for name in ["one", "two", "three", "four"] {
            _ = try log.append([event(Name(name))], to: .externalID("ana"))
        }
        return log
    }

    private func expectRefusal(_ place: String, check: String) throws {
        let log = try open()
        #expect(throws: StorageError.damaged(place: place)) { try log.profile(of: UserNumber(rawValue: 1)) }
        #expect(throws: AppendError.refused(.damaged(place: place))) {
            try log.append([event("five")], to: .externalID("ana"))
        }
        #expect(try log.check().problems.map(\.place).contains(check))
        #expect(try log.rows(.names).keys.allSatisfy { $0[3] <= 4 })
    }

    @Test("A flipped bit")
    func damaged() throws {
        folder.expectDamage()
        let log = try filled()
        let row = try #require(try log.rows(.names)[[0, 0, 0, 3]])
        try log.damage(.names, [0, 0, 0, 3]) { $0[1] ^= 1 }
        try expectRefusal("row 3 of table names fails its checksum", check: "names 3")
        #expect(try log.rows(.names)[[0, 0, 0, 3]] != row)
    }

    @Test("A row that is missing")
    func missing() throws {
        folder.expectDamage()
        let log = try filled()
        let before = try log.rows(.names)
        try log.remove(.names, [0, 0, 0, 2])
        try expectRefusal("row 2 of table names is missing", check: "names 3")
        #expect(try log.rows(.names) == before.filter { $0.key != [0, 0, 0, 2] })
    }

    @Test("A row of another process is checked as well")
    func foreign() throws {
        folder.expectDamage()
        let log = try filled()
        let other = try open()
        _ = try log.append([event("five")], to: .externalID("ana"))
        try log.damage(.names, [0, 0, 0, 5]) { $0[0] ^= 1 }
        #expect(throws: StorageError.damaged(place: "row 5 of table names fails its checksum")) {
            try other.profile(of: UserNumber(rawValue: 1))
        }
    }

    @Test("A batch cannot write over a name", .hits(.batchOfOtherNames))
    func overwrite() throws {
        let log = try filled()
        let before = try log.rows(.names)
        let batch = CommitBatch(firstPosition: 99, firstName: 2, names: ["other"], bytes: [], ends: [])
        #expect(throws: StorageError.damaged(place: "a batch begins with name 2 where name 5 is next")) {
            try log.environment.withWriteTransaction { try batch.apply(to: $0, log.environment.tables) }
        }
        #expect(try log.rows(.names) == before)
    }
}
