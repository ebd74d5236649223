import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog

@Suite("Snapshots for reads of the past")
struct SnapshotSpacingTests {
    private let folder = TemporaryFolder()
    private let clock = TestClock()

    /// A user with `count` events, each of which adds one to `n`, and a note of so many bytes.
    private func filled(_ count: Int, noteBytes: Int = 1, flushEvery: Int = .max) throws -> EventLog {
        let log = try folder.open(options: .small(clock, indexLag: 100_000))
        let note = AttributeChange("note", .set(.string(String(repeating: "x", count: noteBytes))))
        for start in stride(from: 0, to: count, by: flushEvery == .max ? count : flushEvery) {
            var builder = log.prepare(capacity: count)
            for index in start..<min(count, start + min(count, flushEvery)) {
                let changes = [AttributeChange("n", .increment(1))] + (index == 0 ? [note] : [])
                try builder.add(.customAttributesChanged(changes), .test, to: .externalID("ana"))
            }
            _ = try log.commit(builder.finish())
            try log.writeIndex()
        }
        return log
    }

    /// The versions of the stored snapshots.
    private func versions(_ log: EventLog) throws -> [UInt64] {
        try log.rows(.snapshots).keys.compactMap { key in
            key.withUnsafeBytes { SnapshotKey($0)?.version }
        }.sorted()
    }

    @Test(
        "One flush of a long history leaves a snapshot of every 256 versions, as many flushes do",
        arguments: [.max, 100, 256])
    func spacing(flushEvery: Int) throws {
        let log = try filled(1_000, flushEvery: flushEvery)
        #expect(try versions(log) == [256, 512, 768, 1_001])
        let ana = try #require(try log.find(.externalID("ana"))).number
        for version in [1, 2, 255, 256, 257, 511, 512, 513, 700, 1_000, 1_001] as [UInt64] {
            let view = try log.named(log.profile(of: ana, asOf: Version(rawValue: version)))
            let number = view.customAttributes.first { $0.name == "n" }?.value
            #expect(number == (version == 1 ? nil : .int(Int64(version) - 1)), "\(version)")
        }
    }

    @Test("A large state is kept more rarely: at most four bytes for each event")
    func large() throws {
        let log = try filled(3_000, noteBytes: 5_000)
        #expect(try versions(log) == [2_048, 3_001])
    }

    @Test(
        "A snapshot between two flushes knows the voids up to its version, and no later ones", arguments: [.max, 300])
    func voids(flushEvery: Int) throws {
        let log = try filled(300, flushEvery: .max)
        let ana = try #require(try log.find(.externalID("ana"))).number
        let events = try log.history(of: ana)
        for index in 0..<600 {
            // Now one before the kept snapshots, now one after them.
            if index % 90 == 7 {
                _ = try log.void(events[1 + index / 90 * 40].position, actor: "a test", reason: "wrong")
            }
            if index % 180 == 99 {
                _ = try log.unvoid(events[1 + index / 180 * 80].position, actor: "a test", reason: "right")
            }
            _ = try log.append([.customAttributesChanged([.init("n", .increment(1))])], to: .externalID("ana"))
            if index % flushEvery == flushEvery - 1 { try log.writeIndex() }
        }
        try log.writeIndex()
        #expect(try versions(log).count >= 3)
        try log.withView { view in
            let version = try view.version(of: ana.rawValue)
            for version in stride(from: 1, through: version, by: 7) {
                let fresh = try log.states.freshState(ProfileProjection.self, ana.rawValue, version: version, view)
                let kept = try log.states.state(ProfileProjection.self, ana.rawValue, version: version, view)
                #expect(ProfileProjection.encode(kept) == ProfileProjection.encode(fresh), "version \(version)")
            }
        }
    }
}
