import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogLog

@Suite("check looks at what profiled keeps")
struct CheckStatesTests {
    private let cli: CLI

    init() throws { cli = try CLI(.damaged) }

    /// An error in a row.
    enum Damage: CaseIterable {
        /// A flipped bit.
        case checksum
        /// A state that is none of the log's, with a right checksum.
        case content
    }

    /// A store with the projections of `profiled`.
    private func filled() throws -> EventLog {
        let projections: [any Projection.Type] = [
            ProfileProjection.self, UsageProjection.self, CatalogueProjection.self,
        ]
        let log = try EventLog(path: cli.store, create: true, projections: projections)
        for _ in 0..<log.options.snapshotInterval {
            _ = try log.append(
                [.customEventLogged(CustomEvent(name: "played"))], to: .externalID("ana"),
                context: EventContext(source: .rest, app: "shop"))
        }
        try log.writeIndex()
        #expect(try cli.run("check").status == 0)
        return log
    }

    private func expectDamage(at place: String) throws {
        let outcome = try cli.run("check")
        #expect(outcome.status == 2 && outcome.output.contains(place), "\(outcome)")
        let json = try cli.run("check", "--format", "json")
        #expect(json.lines.first?.hasPrefix(#"{"place":"\#(place)","#) == true && json.lines.count == 2, "\(json)")
    }

    @Test("A snapshot of where a user was", arguments: Damage.allCases)
    func usage(damage: Damage) throws {
        let log = try filled()
        let user = try #require(try log.find(.externalID("ana")))
        let key = KeyCoding.snapshot(
            UsageProjection.name, user: user.number.rawValue, version: user.version.rawValue)
        let none = SnapshotRow.bytes(
            revision: UsageProjection.revision, state: UsageProjection.encode(UsageProjection.initial))
        try replace(.snapshots, key, with: none, damage, log)
        try expectDamage(at: "snapshots usage, user 1, version \(user.version.rawValue)")
    }

    @Test("With --replay, the user and the field that differ are named")
    func replay() throws {
        let log = try filled()
        #expect(try cli.succeed("check", "--replay").output.contains("all checks hold"))
        let user = try #require(try log.find(.externalID("ana")))
        let key = KeyCoding.snapshot(
            ProfileProjection.name, user: user.number.rawValue, version: user.version.rawValue)
        let none = SnapshotRow.bytes(
            revision: ProfileProjection.revision, state: ProfileProjection.encode(ProfileProjection.initial))
        try replace(.snapshots, key, with: none, .content, log)
        let outcome = try cli.run("check", "--replay")
        #expect(outcome.status == 2 && outcome.output.contains("user 1, custom event played"), "\(outcome)")
    }

    @Test("stats --audit without a service says how to audit")
    func noService() throws {
        _ = try filled()
        #expect(try cli.succeed("stats", "--audit").output.contains("profilecli check --replay"))
    }

    @Test("The catalogue", arguments: Damage.allCases)
    func catalogue(damage: Damage) throws {
        let log = try filled()
        let none = StoreStateRow.bytes(
            revision: CatalogueProjection.revision, position: 2,
            state: CatalogueProjection.encode(CatalogueProjection.initial))
        try replace(.checkpoints, Array(CatalogueProjection.name.utf8), with: none, damage, log)
        try expectDamage(at: "checkpoints catalogue")
    }

    private func replace(
        _ name: Table.Name, _ key: [UInt8], with content: [UInt8], _ damage: Damage, _ log: EventLog
    ) throws {
        let table = WritableTable(log.environment.tables[name])
        try log.environment.withWriteTransaction { transaction in
            var row = Array(try #require(try transaction.get(table, key)))
            switch damage {
            case .checksum: row[row.count - 5] ^= 1
            case .content: row = content
            }
            try transaction.put(table, key, row)
        }
    }
}
