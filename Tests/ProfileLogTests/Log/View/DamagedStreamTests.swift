import ProfileLog
import TestSupport
import Testing

/// `streams` has no checksum of its own: its content is compared with the log.
@Suite("A damaged row of table streams is found and named, and crashes nothing")
struct DamagedStreamTests {
    let folder = TemporaryFolder()
    let clock = TestClock()

    /// Two users with more events than a row holds, all indexed.
    private func filled() throws -> EventLog {
        let log = try folder.open(options: .small(clock, indexLag: 10_000))
        for round in 0..<150 {
            let event = ProfileEvent.customAttributesChanged([AttributeChange("n", .set(.int(Int64(round))))])
            _ = try log.append([event], to: .externalID(round % 3 == 0 ? "bo" : "ana"))
        }
        try log.writeIndex()
        // Snapshots would shorten the reads that are tested here.
        try log.environment.withWriteTransaction { try $0.clear(log.environment.tables.snapshots) }
        try log.expectSound()
        return log
    }

    private func key(_ user: UInt64, _ version: UInt64) -> [UInt8] { KeyCoding.stream(user: user, version: version) }

    /// Everything that reads `streams`. A wrong row may be answered with an error, and never with a crash.
    private func readEverything(_ log: EventLog) {
        for number in 0...3 as ClosedRange<UInt64> {
            let user = UserNumber(rawValue: number)
            _ = try? log.reader.users.find(user)
            _ = try? log.profile(of: user)
            _ = try? log.profile(of: user, asOf: Version(rawValue: 60))
            _ = try? log.history(of: user, direction: .backward, limit: 5)
            _ = try? log.reader.past.version(of: user, at: Position(rawValue: 70))
        }
        _ = try? log.users(limit: 10)
        _ = try? log.replay(verify: true)
    }

    @Test(
        "A damaged row of table streams is found whatever it holds",
        arguments: [
            [], [0], [0x80], Array(repeating: 0, count: 200), Array(repeating: 0xFF, count: 40),
            // Two differences whose sum leaves 64 bits.
            Array(repeating: 0xFF, count: 9) + [0x01] + Array(repeating: 0xFF, count: 9) + [0x01],
            [1, 1, 1], Array(repeating: 1, count: 129),
        ] as [[UInt8]])
    func content(row: [UInt8]) throws {
        let log = try filled()
        try log.damage(.streams, key(1, 1)) { $0 = row }
        let problems = try log.check().problems
        #expect(problems.contains { $0.place.hasPrefix("streams") }, "\(problems)")
        readEverything(log)
        try log.rebuildCaches()
    }

    @Test("A flipped bit anywhere in it", arguments: 0..<24)
    func flipped(place: Int) throws {
        let log = try filled()
        try log.damage(.streams, key(2, 1)) { $0[place * 7 % $0.count] ^= 1 << UInt8(place % 8) }
        let problems = try log.check().problems
        #expect(problems.contains { $0.place.hasPrefix("streams") }, "\(problems)")
        readEverything(log)
        try log.rebuildCaches()
    }

    @Test(
        "A row under a key that is none of ours",
        arguments: [
            [1], [UInt8](repeating: 0xFF, count: 16), [UInt8](repeating: 0, count: 16),
            [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7], [0, 0, 0, 0, 0, 0, 0, 1, 0, 0],
        ] as [[UInt8]])
    func foreignKey(key: [UInt8]) throws {
        let log = try filled()
        let row = try #require(try log.rows(.streams)[self.key(1, 1)])
        try log.damage(.streams, key) { $0 = row }
        let problems = try log.check().problems
        #expect(problems.contains { $0.place.hasPrefix("streams") }, "\(problems)")
        readEverything(log)
        try log.rebuildCaches()
    }
}
