import Foundation
import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog
@testable import ProfileLogReplay

/// The number of events of a user.
enum EventCount: UserProjection {
    static let name = "event-count"
    static let revision: UInt32 = 1
    static var initial: UInt64 { 0 }

    static func apply(_ event: borrowing EventView, to count: inout UInt64) { count += 1 }
    static func encode(_ count: UInt64) -> [UInt8] { withUnsafeBytes(of: count) { Array($0) } }
    static func decode(_ bytes: UnsafeRawBufferPointer) -> UInt64? {
        bytes.count == 8 ? bytes.loadUnaligned(as: UInt64.self) : nil
    }
}

/// The same projection in a newer program, which counts by tens.
enum TenfoldCount: UserProjection {
    static let name = EventCount.name
    static let revision: UInt32 = 2
    static var initial: UInt64 { 0 }

    static func apply(_ event: borrowing EventView, to count: inout UInt64) { count += 10 }
    static func encode(_ count: UInt64) -> [UInt8] { EventCount.encode(count) }
    static func decode(_ bytes: UnsafeRawBufferPointer) -> UInt64? { EventCount.decode(bytes) }
}

@Suite("A replay into a shadow")
struct ShadowTests {
    private let folder = TemporaryFolder()
    private let clock = TestClock()

    private static let projections: [any Projection.Type] = [
        ProfileProjection.self, UsageProjection.self, CatalogueProjection.self,
    ]

    private func open(
        _ folder: TemporaryFolder? = nil, _ projections: [any Projection.Type] = ShadowTests.projections
    ) throws -> EventLog {
        try (folder ?? self.folder).open(options: .small(clock), projections: projections)
    }

    /// Users 1 to `users`, each with so many events.
    private func fill(_ log: EventLog, users: Int, events: Int = 20) throws {
        for user in 1...users {
            _ = try log.append(
                Array(repeating: .customEventLogged(CustomEvent(name: "a")), count: events - 1),
                to: .externalID("u\(user)"))
        }
        try log.writeIndex()
    }

    /// The rows of table `snapshots`, with their projections without generations.
    private func states(_ log: EventLog, generation: UInt64) throws -> [String: [UInt8]] {
        var states: [String: [UInt8]] = [:]
        for (key, row) in try log.rows(.snapshots) {
            let key = try #require(key.withUnsafeBytes { SnapshotKey($0) })
            for projection in log.store.projections {
                guard key.projection == Generations.storedName(projection.name, generation) else { continue }
                states["\(projection.name) \(key.user) \(key.version)"] = row
            }
        }
        return states
    }

    /// Makes every live snapshot of `EventCount` wrong by a thousand, with a right checksum.
    private func plantWrongCounts(_ log: EventLog) throws {
        folder.expectDamage()
        let live = try log.withView { $0.storedName(of: EventCount.self) }
        for key in try log.rows(.snapshots).keys
        where key.withUnsafeBytes({ SnapshotKey($0)?.projection }) == live {
            try log.damage(.snapshots, key) { row in
                let count = row.withUnsafeBytes { EventCount.decode($0.slice(4..<12)) } ?? 0
                row = SnapshotRow.bytes(revision: EventCount.revision, state: EventCount.encode(count + 1000))
            }
        }
    }

    // MARK: - What comes out

    @Test(
        "The states of a shadow are what the log says, with voids, merges and erasures",
        arguments: Thoroughness.seeds(short: 6, full: 60))
    func random(seed: UInt64) throws {
        let log = try open()
        var story = VoidStory(log, clock, seed: seed, mayErase: true)
        for _ in 0..<150 { try story.step() }
        var isDone = false
        while !isDone {
            isDone = try log.replayIntoShadow(threads: 1 + Int(seed % 3), verify: true) { _ in seed % 2 == 0 }
                .isComplete
            for _ in 0..<3 { try story.step() }
        }
        // `check` compares the shadow with the log as it does live states.
        try log.expectSound()
        try log.swapShadow()
        try log.expectSound()
        for _ in 0..<100 { try story.step() }
        try log.expectSound()
        let proof = try log.replay(verify: true)
        #expect(proof.isEqual, "seed \(seed): \(proof.differences)")
    }

    @Test("Stopped after every slice, it gives the same rows as in one go", arguments: [1, 2, 3])
    func resumed(threads: Int) throws {
        let log = try open()
        try fill(log, users: 9)
        let copy = TemporaryFolder()
        _ = try log.replay(into: copy.path)
        let whole = try open(copy).replayIntoShadow()
        #expect(whole.isComplete)
        var calls = 0
        while try !open().replayIntoShadow(threads: threads, progress: { _ in false }).isComplete { calls += 1 }
        #expect(calls >= 5)
        let rows = try states(log, generation: 1)
        #expect(rows.count >= 18)
        #expect(try rows == states(open(copy), generation: 1))
        #expect(try log.shadowReport()?.shadow.states == whole.shadow.states)
    }

    @Test("A swap makes the rows live that a flush would write, and later flushes write there")
    func flushed() throws {
        let log = try open()
        try fill(log, users: 4)
        let before = try states(log, generation: 0)
        #expect(try log.replayIntoShadow().isComplete)
        try log.swapShadow()
        #expect(try states(log, generation: 1) == before)
        #expect(try states(log, generation: 0).isEmpty)
        try fill(log, users: 4)
        #expect(try states(log, generation: 1) != before)
        #expect(try states(log, generation: 0).isEmpty)
        try log.expectSound()
        #expect(try log.shadowReport() == nil)
    }

    @Test("Live states that are wrong are found, and replaced by the swap")
    func repaired() throws {
        let log = try open(nil, [EventCount.self])
        try fill(log, users: 5)
        try plantWrongCounts(log)
        #expect(try log.state(EventCount.self, of: UserNumber(rawValue: 2)) == 1020)
        let report = try log.replayIntoShadow(verify: true)
        #expect(report.differing.map(\.rawValue) == [1, 2, 3, 4, 5])
        try log.swapShadow()
        #expect(try log.state(EventCount.self, of: UserNumber(rawValue: 2)) == 20)
    }

    @Test("A shadow of some users replaces their states alone")
    func chosen() throws {
        let log = try open(nil, [EventCount.self])
        try fill(log, users: 3)
        try plantWrongCounts(log)
        #expect(try log.replayIntoShadow(users: [.externalID("u2")]).isComplete)
        try log.swapShadow()
        let counts = try (1...3).map { try log.state(EventCount.self, of: UserNumber(rawValue: $0)) }
        #expect(counts == [1020, 20, 1020])
        #expect(try log.shadowReport() == nil)
        #expect(try log.rows(.snapshots).keys.allSatisfy { $0.starts(with: KeyCoding.snapshotPrefix(EventCount.name)) })
    }

    @Test("No event after a given position is folded")
    func until() throws {
        let log = try open()
        try fill(log, users: 3, events: 40)
        let position = Position(rawValue: 60)
        #expect(try log.replayIntoShadow(until: position).isComplete)
        let users = try log.rows(.snapshots).keys.compactMap { key in
            key.withUnsafeBytes { SnapshotKey($0) }.flatMap { $0.projection.hasSuffix("\u{0}1") ? $0 : nil }
        }
        #expect(Set(users.map(\.user)) == [1, 2])
        #expect(users.filter { $0.user == 2 }.allSatisfy { $0.version == 20 })
        try log.swapShadow()
        try log.expectSound()
        #expect(try log.replay(verify: true).isEqual)
    }

    @Test("What was recorded during a pass is folded in the next one")
    func passes() throws {
        let log = try open()
        try fill(log, users: 4)
        var grown = 0
        let report = try log.replayIntoShadow { _ in
            if grown < 4 {
                grown += 1
                _ = try? log.append(
                    Array(repeating: .customEventLogged(CustomEvent(name: "b")), count: 50), to: .externalID("u1"))
            }
            return true
        }
        #expect(report.isComplete && report.shadow.pass >= 2)
        let versions = try states(log, generation: 1).keys.filter { $0.hasPrefix("profile 1 ") }
        #expect(versions.contains { UInt64($0.split(separator: " ")[2]).map { $0 > 200 } ?? false }, "\(versions)")
    }

    // MARK: - With readers and writers

    @Test("Readers see the old states of all users or the new ones, never a mix")
    func readers() throws {
        let log = try open(nil, [EventCount.self])
        let users = UInt64(40)
        try fill(log, users: Int(users))
        try plantWrongCounts(log)
        let seen = Guarded<[Set<UInt64>]>([])
        let isDone = Guarded(false)
        let ended = DispatchSemaphore(value: 0)
        for _ in 0..<2 {
            startThread("reader") {
                // Each looks once more after the swap.
                var isLast = false
                while !isLast {
                    isLast = isDone.withReading { $0 }
                    let counts = try? log.withView { view in
                        try (1...users).map { try log.states.state(EventCount.self, $0, version: 20, view) }
                    }
                    seen.withWriting { $0.append(Set(counts ?? [])) }
                }
                ended.signal()
            }
        }
        while seen.withReading({ $0.count < 4 }) { usleep(500) }
        #expect(try log.replayIntoShadow(threads: 2).isComplete)
        try log.swapShadow()
        isDone.withWriting { $0 = true }
        for _ in 0..<2 { ended.wait() }
        let (old, new): (Set<UInt64>, Set<UInt64>) = ([1020], [20])
        #expect(seen.withReading { $0.allSatisfy { $0 == old || $0 == new } })
        #expect(seen.withReading { $0.first == old && $0.last == new })
    }

    @Test("A newer program's states are built while the older one reads its own")
    func raisedRevision() throws {
        let older = try open(nil, [EventCount.self])
        try fill(older, users: 3)
        let newer = try open(nil, [TenfoldCount.self])
        func snapshot<P: Projection>(_: P.Type, _ log: EventLog) throws -> UInt64? {
            try log.withView { try log.states.snapshot(P.self, 1, upTo: 20, $0)?.version }
        }
        #expect(try snapshot(TenfoldCount.self, newer) == nil)
        #expect(try newer.shadow.projections(withStatesOf: .otherPrograms) == [TenfoldCount.name])
        #expect(
            try newer.shadow.projections(withStatesOf: .olderPrograms) == [TenfoldCount.name]
                && newer.shadow.projections(withStatesOf: .newerPrograms) == [])
        // A read folds the history with the new code.
        #expect(try newer.state(TenfoldCount.self, of: UserNumber(rawValue: 1)) == 200)
        #expect(try newer.replayIntoShadow().isComplete)
        #expect(try older.shadow.projections(withStatesOf: .otherPrograms) == [])
        #expect(try snapshot(EventCount.self, older) == 20)
        #expect(try newer.state(TenfoldCount.self, of: UserNumber(rawValue: 1)) == 200)
        try newer.swapShadow()
        #expect(try snapshot(TenfoldCount.self, newer) == 20)
        #expect(try newer.shadow.projections(withStatesOf: .otherPrograms) == [])
        #expect(try older.shadow.projections(withStatesOf: .otherPrograms) == [EventCount.name])
        #expect(
            try older.shadow.projections(withStatesOf: .olderPrograms) == []
                && older.shadow.projections(withStatesOf: .newerPrograms) == [EventCount.name])
        #expect(try newer.state(TenfoldCount.self, of: UserNumber(rawValue: 1)) == 200)
        // The older program folds whole histories now, and is right.
        #expect(try older.state(EventCount.self, of: UserNumber(rawValue: 1)) == 20)
    }

    @Test("States of a projection that the replay does not know stay")
    func otherProjection() throws {
        let embedder = try open(nil, [EventCount.self])
        try fill(embedder, users: 3)
        let log = try open()
        #expect(try log.replayIntoShadow().isComplete)
        try log.swapShadow()
        #expect(try embedder.withView { try embedder.states.snapshot(EventCount.self, 1, upTo: 20, $0)?.version } == 20)
    }

    @Test("A person erased during a replay is in none of its rows")
    func erased() throws {
        let log = try open()
        let secret = "planted-value-4711"
        for _ in 0..<12 {
            _ = try log.append(
                [.customAttributesChanged([AttributeChange("note", .set(.string(secret)))])], to: .externalID("eve"))
        }
        try fill(log, users: 2)
        let shadow = try log.shadow.begin(.init())
        let slice = try log.shadow.fold([1, 2, 3], for: shadow, verify: false)
        _ = try log.erase([.externalID("eve")], actor: "a test", reason: "asked to")
        #expect(try log.shadow.write([slice], upTo: 3, of: shadow) == shadow)
        #expect(try states(log, generation: 1).isEmpty)
        // And one whose states were written before.
        _ = try log.append(
            Array(repeating: .customAttributesChanged([AttributeChange("note", .set(.string(secret)))]), count: 12),
            to: .externalID("zoe"))
        #expect(try log.replayIntoShadow().isComplete)
        func holdsSecret() throws -> Bool {
            try log.rows(.snapshots).values.contains { Data($0).range(of: Data(secret.utf8)) != nil }
        }
        #expect(try holdsSecret())
        _ = try log.erase([.externalID("zoe")], actor: "a test", reason: "asked to")
        #expect(try !holdsSecret())
        #expect(try log.shadowReport()?.isComplete == true)
        try log.swapShadow()
    }

    // MARK: - What is refused

    @Test("A shadow of other work, or one that is not complete, is refused with the next step")
    func refused() throws {
        let log = try open()
        try fill(log, users: 6)
        func refusal(_ body: () throws -> Void) -> String {
            do {
                try body()
                return "nothing"
            } catch {
                let error = AppendError(error)
                return "\(error.description) \(error.remedy)"
            }
        }
        #expect(refusal { try log.swapShadow() }.contains("Fold one first."))
        #expect(try !log.replayIntoShadow(progress: { _ in false }).isComplete)
        let early = refusal { try log.swapShadow() }
        #expect(
            early.contains("is not complete: profile, usage, catalogue of all users, folded up to user 2"), "\(early)")
        let other = refusal { _ = try log.replayIntoShadow(until: Position(rawValue: 5)) }
        #expect(other.contains("is of another replay") && other.contains("discard it"), "\(other)")
        let swapped = refusal { _ = try log.replayIntoShadow(.init(generation: 7)) }
        #expect(swapped.contains("is of generation 1, not 7"), "\(swapped)")
        let unknown = refusal { _ = try log.replayIntoShadow(users: [.externalID("nobody")]) }
        #expect(unknown.contains("No user has this ID."))
        #expect(try log.discardShadow())
        #expect(try !log.discardShadow())
        #expect(try states(log, generation: 1).isEmpty)
        let gone = refusal { _ = try log.replayIntoShadow(.init(generation: 1)) }
        #expect(gone.contains("was swapped or discarded by another process"), "\(gone)")
        // A number is not used again.
        #expect(try log.replayIntoShadow().shadow.generation == 2)
    }

    @Test("Discarded during a fold, nothing of it is written")
    func gone() throws {
        let log = try open()
        try fill(log, users: 2)
        let shadow = try log.shadow.begin(.init())
        let slice = try log.shadow.fold([1, 2], for: shadow, verify: false)
        try log.discardShadow()
        #expect(throws: AppendError.self) { try log.shadow.write([slice], upTo: 2, of: shadow) }
        #expect(throws: AppendError.self) { try log.shadow.foldStoreStates(of: shadow, limit: 1) }
        #expect(throws: AppendError.self) { try log.shadow.endPass(of: shadow, again: false) }
        #expect(try states(log, generation: 1).isEmpty)
    }

    @Test("Readers fold and are right without the shadow's row, or with a damaged one", arguments: [false, true])
    func damagedRow(isDamaged: Bool) throws {
        let log = try open()
        try fill(log, users: 3)
        #expect(try log.replayIntoShadow().isComplete)
        try log.swapShadow()
        if isDamaged {
            try log.damage(.checkpoints, Generations.key) { $0[0] ^= 1 }
            #expect(try log.check().problems.map(\.description) == ["checkpoints generations: it is damaged"])
        } else {
            try log.remove(.checkpoints, Generations.key)
        }
        #expect(try log.replay(verify: true).isEqual)
        #expect(try log.replayIntoShadow().isComplete)
        try log.swapShadow()
        try log.expectSound()
        #expect(try states(log, generation: 1).count >= 6)
    }

    @Test("A user with a damaged record is named, and all others are folded")
    func damage() throws {
        folder.expectDamage()
        let log = try open()
        try fill(log, users: 4)
        try log.damage(.log, withNumberKey(25) { Array($0) }) { $0[$0.count - 1] ^= 1 }
        let report = try log.replayIntoShadow()
        #expect(report.damaged == [UserNumber(rawValue: 2)])
        #expect(report.isComplete)
        #expect(try Set(states(log, generation: 1).keys.map { $0.split(separator: " ")[1] }) == ["1", "3", "4"])
    }
}
