import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog

@Suite("check finds every kind of damage, and names the place")
struct CheckTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    /// A store with something in every table, all caches written.
    private func filled() throws -> EventLog {
        let log = try folder.open(options: .small(clock))
        for round in 0..<12 {
            let event = ProfileEvent.customEventLogged(
                CustomEvent(name: "played", properties: [.init("n", .int(Int64(round)))]))
            _ = try log.append([event], to: .externalID("ana"), idempotencyKey: "key \(round)")
            let saved = ProfileEvent.customEventSaved(CustomEvent(name: "saved"))
            _ = try log.append([saved], to: .externalID("bo"), context: .saved(on: "d"))
        }
        try log.writeIndex()
        try log.expectSound()
        return log
    }

    private func places(_ log: EventLog) throws -> [String] { try log.check().problems.map(\.place) }

    @Test("A flipped bit anywhere in a record", arguments: 0..<12)
    func record(index: Int) throws {
        folder.expectDamage()
        let log = try filled()
        try log.damage(.log, key(5)) { $0[index % $0.count] ^= 4 }
        #expect(try places(log).contains("log 5"))
    }

    @Test("A missing record")
    func missingRecord() throws {
        folder.expectDamage()
        let log = try filled()
        try log.remove(.log, key(5))
        #expect(try places(log).contains("log 5"))
    }

    @Test(
        "A key of the log that is no position is named, and hides no record before or after it",
        arguments: [[2, 0, 5], [3, 0, 1, 2], [9, 1]] as [[UInt8]])
    func strangeKey(key: [UInt8]) throws {
        var log = try folder.open(options: .small(clock))
        let event = ProfileEvent.customEventLogged(CustomEvent(name: "played"))
        for _ in 0..<300 { _ = try log.append([event], to: .externalID("ana")) }
        try log.writeIndex()
        try log.damage(.log, key) { $0 = [9] }
        log = try EventLog(path: folder.path, options: .small(clock))
        #expect(try log.lastPosition().rawValue == 301)
        let hexadecimal = key.map { String(0x100 + Int($0), radix: 16).dropFirst() }.joined()
        #expect(try log.check().problems == [.init(place: "log key \(hexadecimal)", what: "the key is no position")])
        // Read to their end, whatever is between.
        let user = try #require(try log.find(.externalID("ana")))
        #expect(try log.history(of: user.number).count == 301)
        try log.remove(.log, key)
    }

    @Test("check finds two records that changed places")
    func swapped() throws {
        folder.expectDamage()
        let log = try filled()
        let (five, seven) = (try log.rows(.log)[key(5)] ?? [], try log.rows(.log)[key(7)] ?? [])
        try log.damage(.log, key(5)) { $0 = seven }
        try log.damage(.log, key(7)) { $0 = five }
        #expect(try !log.check().isSound)
    }

    @Test("A name that is not what it was")
    func name() throws {
        folder.expectDamage()
        let log = try filled()
        try log.damage(.names, [0, 0, 0, 1]) { $0[0] ^= 1 }
        #expect(try places(log).contains("names 1"))
    }

    @Test(
        "A row too few, and a row that is wrong, in each cache",
        arguments: [Table.Name.users, .identifiers, .streams, .keys, .devices, .pending, .snapshots])
    func cache(table: Table.Name) throws {
        var log = try filled()
        let first = try #require(try log.rows(table).keys.min { $0.lexicographicallyPrecedes($1) })
        if table != .snapshots {
            try log.remove(table, first)
            #expect(try places(log).contains { $0.hasPrefix(table.rawValue) })
            try log.rebuildCaches()
            try log.expectSound()
        }
        try log.damage(table, first) { $0[$0.count - 1] ^= 1 }
        log = try EventLog(path: folder.path, options: .small(clock))
        #expect(try places(log).contains { $0.hasPrefix(table.rawValue) })
        try log.rebuildCaches()
    }

    @Test("A row of a stream that ends too early is named")
    func shortStream() throws {
        folder.expectDamage()
        let log = try filled()
        let (key, row) = try #require(try log.rows(.streams).max { $0.value.count < $1.value.count })
        // Without the checksum and the last varint.
        var positions = Array(row.dropLast(5))
        while positions.last.map({ $0 & 0x80 != 0 }) == true { positions.removeLast() }
        let checksum = positions.withUnsafeBytes { crc32c($0) }
        let shorter = positions + withUnsafeBytes(of: checksum.littleEndian) { Array($0) }
        try log.damage(.streams, key) { $0 = shorter }
        let user = key.withUnsafeBytes { $0.bigEndian64() }
        // Its snapshots are found too.
        #expect(try places(log).prefix(2) == ["streams \(user), 1", "streams"])
    }

    @Test("A damaged record is contained: its user is answered with the damage named, others are answered")
    func contained() throws {
        folder.expectDamage()
        let log = try filled()
        let ana = try #require(try log.find(.externalID("ana")))
        let bo = try #require(try log.find(.externalID("bo")))
        let position = try #require(try log.history(of: ana.number).last).position
        try log.damage(.log, key(position.rawValue)) { $0[20] ^= 1 }
        try log.environment.withWriteTransaction { try $0.clear(log.environment.tables.snapshots) }
        #expect(throws: StorageError.damaged(place: "the record at position \(position.rawValue) fails its checksum")) {
            try log.profile(of: ana.number)
        }
        _ = try log.profile(of: bo.number)
    }

    private func key(_ position: UInt64) -> [UInt8] {
        withNumberKey(position) { Array($0) }
    }
}
