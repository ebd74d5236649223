import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogFolds
@testable import ProfileLogLog
@testable import ProfileLogReplay

@Suite("A stored state that is not what the log says is found on every road, of every projection")
struct StateProofTests {
    let folder = TemporaryFolder(.damaged)
    let clock = TestClock()

    /// `ana` is user 1, with a launch, its flush, and five later events. `bo` is user 2.
    private func filled() throws -> EventLog {
        var options = LogOptions.small(clock, indexLag: 10_000)
        options.snapshotInterval = 1
        let log = try EventLog(
            path: folder.path, create: true, options: options,
            projections: [ProfileProjection.self, SourceProjection.self, CatalogueProjection.self])
        let played = ProfileEvent.customEventLogged(CustomEvent(name: "played"))
        _ = try log.append([played], to: .externalID("ana"))
        _ = try log.append(
            [.customEventSaved(CustomEvent(name: "seen"))], to: .externalID("ana"), context: .saved(on: "phone"))
        _ = try log.changeUser(device: "phone", to: .externalID("ana"))
        _ = try log.launch(device: "phone")
        for user in ["ana", "bo"] { for _ in 0..<5 { _ = try log.append([played], to: .externalID(user)) } }
        try log.writeIndex()
        try log.expectSound()
        return log
    }

    private func plant<P: UserProjection>(_ state: P.State, _: P.Type, at version: UInt64, _ log: EventLog) throws {
        let row = SnapshotRow.bytes(revision: P.revision, state: P.encode(state))
        try log.damage(.snapshots, KeyCoding.snapshot(P.name, user: 1, version: version)) { $0 = row }
    }

    private func audit(_ log: EventLog) throws -> [AuditDifference] {
        let auditor = Auditor(log)
        while try auditor.step(budget: .seconds(1)) {}
        return auditor.report.differences
    }

    /// A wrong snapshot of ana's newest version.
    private func expectFound<P: UserProjection>(_: P.Type, place: String, _ spoil: (inout P.State) -> Void) throws {
        let log = try filled()
        let ana = try #require(try log.find(.externalID("ana")))
        let version = ana.version.rawValue
        var state = try log.state(P.self, of: ana.number)
        spoil(&state)
        try plant(state, P.self, at: version, log)
        #expect(try log.replay(P.self, verify: true).differences == ["user 1 at version \(version)"])
        #expect(try audit(log) == [AuditDifference(user: UserNumber(rawValue: 1), place: place)])
        let row = "snapshots \(P.name), user 1, version \(version)"
        #expect(try log.check().problems == [CheckProblem(place: row, what: "it is not what a fresh fold gives")])
        #expect(try log.replayIntoShadow(verify: true).differing == [UserNumber(rawValue: 1)])
    }

    @Test("Of the profile: replay, audit, check and shadow")
    func profile() throws {
        try expectFound(ProfileProjection.self, place: "profile") { $0.created = .start }
    }

    @Test("Of an embedder's projection: replay, audit, check and shadow")
    func own() throws {
        try expectFound(SourceProjection.self, place: "sources") { $0.counts[.cli] = 1 }
    }

    /// A wrong snapshot of a launch's version, which no later read begins with.
    private func expectFoundAfterLaunch<P: UserProjection>(_: P.Type) throws {
        let log = try filled()
        let ana = UserNumber(rawValue: 1)
        let launch = try log.reader.past.launch(1, of: ana)
        try plant(P.initial, P.self, at: launch.launch.version.rawValue, log)
        let versions = [launch.launch.version] + launch.flushes.map(\.version)
        #expect(versions.count == 2)
        let found = try log.replay(P.self, verify: true).differences
        #expect(found == versions.map { "user 1 at version \($0.rawValue), after a launch" }, "\(found)")
        #expect(try audit(log).isEmpty)
    }

    @Test("After a launch alone, of the profile")
    func profileAfterLaunch() throws { try expectFoundAfterLaunch(ProfileProjection.self) }

    @Test("After a launch alone, of an embedder's projection")
    func ownAfterLaunch() throws { try expectFoundAfterLaunch(SourceProjection.self) }

    @Test("Of the whole store: check")
    func store() throws {
        let log = try filled()
        let key = Array(CatalogueProjection.name.utf8)
        let stored = try #require(log.rows(.checkpoints)[key])
        let position = try #require(
            stored.withUnsafeBytes { StoreStateRow.read($0, revision: CatalogueProjection.revision)?.position })
        let row = StoreStateRow.bytes(
            revision: CatalogueProjection.revision, position: position,
            state: CatalogueProjection.encode(CatalogueProjection.initial))
        try log.damage(.checkpoints, key) { $0 = row }
        let what = "it is not what a fresh fold gives"
        #expect(try log.check().problems == [CheckProblem(place: "checkpoints catalogue", what: what)])
    }
}
