import Glibc
import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogFolds
@testable import ProfileLogLog

/// A process replays into a shadow and swaps it while this one reads and writes, and is killed at a random moment.
///
///     child    slice ── slice ── … ── swap ── removal of old rows ── slice … killed
///     parent   reads all users from one view: old states or new ones; appends; then checks the store
@Suite("A killed replay into a shadow leaves a sound store", .serialized)
struct ShadowKillTests {
    private static let users = 30
    private static let events = 12

    @Test(
        "Readers see old or new states, and the next replay goes on", arguments: Thoroughness.seeds(short: 3, full: 30))
    func killed(seed: UInt64) async throws {
        let problems = try await onOwnThread { try Self.run(seed) }
        #expect(problems.isEmpty, "seed \(seed)")
    }

    private static func run(_ seed: UInt64) throws -> [String] {
        let scratch = try TemporaryFolder.made(prefix: "crash")
        var random = SeededGenerator(seed: seed)
        var options = LogOptions()
        options.indexLag = 60
        options.snapshotInterval = 4
        let log = try EventLog(path: scratch("store"), create: true, options: options)
        for user in 1...users {
            _ = try log.append(
                Array(repeating: .customEventLogged(CustomEvent(name: "a")), count: events - 1),
                to: .externalID("u\(user)"))
        }
        try log.writeIndex()
        var problems: [String] = []
        for round in 0..<4 {
            try plantWrongStates(log)
            let child = try CrashChild(
                ["shadow", scratch("store"), "\(1 + seed % 3)"], outputFile: scratch("said-\(round)"))
            while scratch.bytes("said-\(round)") == 0 { usleep(500) }
            // It is killed before, during or after the swap.
            var reads = random.next(below: 40)
            var isSwapped = false
            while reads > 0 {
                let seen = try counts(log)
                if seen.count > 1 { problems.append("round \(round): a mix of \(seen.sorted()) occurrences") }
                if isSwapped, seen != [UInt64(events - 1)] {
                    problems.append("round \(round): old states after new ones")
                }
                isSwapped = isSwapped || seen == [UInt64(events - 1)]
                _ = try log.append([.customEventLogged(CustomEvent(name: "b"))], to: .externalID("new-\(round)"))
                reads -= 1
            }
            child.kill()
            child.waitForEnd()
            // What a kill left is finished by the next replay.
            while try !log.replayIntoShadow(progress: { _ in false }).isComplete {}
            try log.swapShadow()
            problems += try log.check().problems.map { "round \(round): \($0)" }
            let proof = try log.replay(verify: true)
            problems += proof.differences.map { "round \(round): \($0)" }
            if try counts(log) != [UInt64(events - 1)] { problems.append("round \(round): wrong states after a swap") }
        }
        return problems
    }

    /// Returns the number of times that event a occurred, by the states of the first users in one view: one number if
    /// these are of one generation.
    private static func counts(_ log: EventLog) throws -> Set<UInt64> {
        try log.withView { view in
            var counts: Set<UInt64> = []
            for user in 1...UInt64(users) {
                let state = try log.states.state(ProfileProjection.self, user, version: UInt64(events), view)
                counts.insert(state.events.first?.occurrences.count ?? 0)
            }
            return counts
        }
    }

    /// Makes the live snapshots wrong: each event occurred a thousand times more.
    private static func plantWrongStates(_ log: EventLog) throws {
        let tables = log.environment.tables
        let live = try log.withView { $0.storedName(of: ProfileProjection.self) }
        try log.environment.withWriteTransaction { transaction in
            var rows: [(key: [UInt8], row: [UInt8])] = []
            try transaction.forEachRow(
                of: tables.snapshots.table, withPrefix: KeyCoding.snapshotPrefix(live)
            ) { row in
                guard let bytes = SnapshotRow.state(row.value, revision: ProfileProjection.revision),
                    var state = ProfileProjection.decode(bytes)
                else { return }
                for index in state.events.indices { state.events[index].occurrences.count += 1_000 }
                rows.append(
                    (
                        Array(row.key),
                        SnapshotRow.bytes(
                            revision: ProfileProjection.revision, state: ProfileProjection.encode(state))
                    ))
            }
            for row in rows { try transaction.put(tables.snapshots, row.key, row.row) }
        }
    }
}
