import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog

@Suite("check compares what every projection has kept, and goes on after damage")
struct CheckedStatesTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private static let projections: [any Projection.Type] = [ProfileProjection.self, CatalogueProjection.self]

    private func open(_ projections: [any Projection.Type] = projections) throws -> EventLog {
        try folder.open(options: .small(clock), projections: projections)
    }

    /// `ana` and `bo`, each with a name that no other user uses, and with snapshots; the catalogue is kept.
    private func filled() throws -> EventLog {
        let log = try open()
        for _ in 0..<12 {
            for user in ["ana", "bo"] {
                let event = CustomEvent(name: Name("played by \(user)"))
                _ = try log.append([.customEventLogged(event)], to: .externalID(user))
            }
        }
        try log.writeIndex()
        #expect(try log.rows(.checkpoints)[Array(CatalogueProjection.name.utf8)] != nil)
        try log.expectSound()
        return log
    }

    private func places(_ log: EventLog) throws -> [String] { try log.check().problems.map(\.place) }

    @Test("A damaged record is told with all that cannot be compared because of it, and with what is damaged after it")
    func record() throws {
        folder.expectDamage()
        let log = try filled()
        try log.damage(.log, withNumberKey(20) { Array($0) }) { $0[$0.count - 1] ^= 1 }
        try log.damage(.keys, [1, 2, 3]) { $0 = [9] }
        let problems = try log.check().problems
        #expect(problems.first?.place == "log 20")
        #expect(problems.contains { $0.place == "keys" })
        let reason = "it cannot be compared: the record at position 20 fails its checksum"
        #expect(problems.last == CheckProblem(place: "checkpoints catalogue", what: reason))
        #expect(try places(open()).last == "checkpoints catalogue")
    }

    @Test("A state that reaches further than the log is told")
    func ahead() throws {
        folder.expectDamage()
        let log = try filled()
        let state = CatalogueProjection.encode(CatalogueProjection.initial)
        let row = StoreStateRow.bytes(revision: CatalogueProjection.revision, position: 1_000, state: state)
        try log.damage(.checkpoints, Array(CatalogueProjection.name.utf8)) { $0 = row }
        #expect(try places(log) == ["checkpoints catalogue"])
    }

    @Test("A damaged store that once forgot a name is checked once")
    func once() throws {
        folder.expectDamage()
        let log = try filled()
        _ = try log.erase([.externalID("ana")], actor: "a test", reason: "asked to")
        try log.damage(.keys, [1, 2, 3]) { $0 = [9] }
        var stages: [String] = []
        let report = try open().check { progress in
            if progress.stage != stages.last { stages.append(progress.stage) }
        }
        #expect(!report.isSound)
        #expect(Set(stages).count == stages.count, "\(stages)")
    }

    @Test("An erasure by another process during a check is no damage")
    func erasedMeanwhile() throws {
        let (log, other) = (try filled(), try open())
        var erasure: Erasure?
        let report = try log.check { progress in
            guard progress.stage == Table.Name.checkpoints.rawValue, erasure == nil else { return }
            erasure = try? other.erase([.externalID("ana")], actor: "a test", reason: "asked to")
        }
        #expect(erasure?.users.count == 1)
        #expect(report.isSound, "\(report.problems)")
    }

    @Test("Of projections that the log was opened without, the checksums are compared")
    func others() throws {
        folder.expectDamage()
        let log = try filled()
        let catalogue = Array(CatalogueProjection.name.utf8)
        let snapshot = try #require(try log.rows(.snapshots).keys.min { $0.lexicographicallyPrecedes($1) })
        let other = try open([])
        try other.expectSound()
        try log.damage(.checkpoints, catalogue) { $0[14] ^= 1 }
        try log.damage(.snapshots, snapshot) { $0[$0.count - 1] ^= 1 }
        #expect(try places(other) == ["snapshots profile, user 1, version 13", "checkpoints catalogue"])
    }
}
