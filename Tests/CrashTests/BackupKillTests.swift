import Foundation
import ProfileLog
import ProfileLogBackup
import TestSupport
import Testing

/// A child appends under load while `profilecli backup` runs again and again; both are killed at random moments.
@Suite("A backup under load that is killed with its writer", .serialized)
struct BackupKillTests {
    private static let roundsPerStore: UInt64 = 5

    /// Each seed is a store and a backup that are killed five times.
    @Test(
        "What a killed backup restores folds to the same bytes as the live log up to there",
        arguments: Thoroughness.seeds(short: 2, full: 40))
    func killed(seed: UInt64) async throws {
        let (problems, advanced) = try await onOwnThread { try Self.run(seed) }
        for problem in problems { Issue.record("seed \(seed), \(problem)") }
        #expect(advanced > 0, "seed \(seed): no run of the backup was long enough")
    }

    private static func run(_ seed: UInt64) throws -> (problems: [String], advanced: Int) {
        let scratch = try TemporaryFolder.made(prefix: "crash")
        let program = BackupProgram(
            store: scratch("store"), backup: scratch("backup"), errors: scratch.file("errors"))
        var random = SeededGenerator(seed: seed)
        var problems: [String] = []
        var (last, advanced) = (Position.start, 0)
        for round in 0..<roundsPerStore {
            try runAndKill(scratch, program, [seed, round], &random, &problems)
            guard let manifest = try BackupFolder.manifest(in: program.backup) else { continue }
            if manifest.position < last { problems.append("round \(round): the backup ends before it did") }
            if manifest.position > last { advanced += 1 }
            last = manifest.position
            do {
                problems += try compare(scratch, program, last).map { "round \(round): \($0)" }
            } catch {
                problems.append("round \(round): \(error)")
            }
        }
        let (end, said) = try program.run()
        if end != 0 { problems.append("the last run ended as \(end): \(said)") }
        let drill = try program.drill(in: scratch("drill"))
        problems += drill.problems
        if try drill.digest != EventLog(path: program.store).truthDigest() {
            problems.append("the last run: other rows than in the store")
        }
        return (problems, advanced)
    }

    /// Runs the writer, and backups one after the other, until both are killed.
    private static func runAndKill(
        _ scratch: TemporaryFolder, _ program: BackupProgram, _ numbers: [UInt64], _ random: inout SeededGenerator,
        _ problems: inout [String]
    ) throws {
        let said = "answers-\(numbers[1])"
        let writer = try CrashChild(
            ["load", program.store] + numbers.map { "\($0)" } + ["1"], outputFile: scratch(said))
        var waited = 0
        while scratch.bytes(said) == 0, waited < 5_000 {
            usleep(1_000)
            waited += 1
        }
        // In milliseconds: the end of the round, and that of the writer, which may be later.
        let (end, endOfWriter) = (60 + random.next(below: 250), 20 + random.next(below: 300))
        var backup = try program.start()
        for millisecond in 0..<end {
            if millisecond == endOfWriter { writer.kill() }
            if let code = backup.end {
                if code != 0 { problems.append("round \(numbers[1]): a run ended as \(code): \(try program.said)") }
                backup = try program.start()
            }
            usleep(1_000)
        }
        backup.signal(SIGKILL)
        backup.waitForEnd()
        writer.kill()
        writer.waitForEnd()
    }

    /// Restores the backup, and compares the store with the live one up to `position`.
    private static func compare(
        _ scratch: TemporaryFolder, _ program: BackupProgram, _ position: Position
    ) throws -> [String] {
        var problems = try BackupVerifier(path: program.backup).verify().problems.map(\.description)
        let path = scratch("restored")
        defer { try? FileManager.default.removeItem(atPath: path) }
        let target = try RestoreFolder(path: path, replacing: false, backup: program.backup)
        let report = try Restore(BackupReader(path: program.backup)).run(into: target)
        if report.end != position { problems.append("it restores up to \(report.end.rawValue)") }
        let (live, restored) = (try EventLog(path: program.store), try EventLog(path: path))
        // What a killed process had committed shows itself to the next writer: an empty one, here.
        _ = live.commit([])
        if try restored.replay().digest != live.replay(until: position).digest {
            problems.append("other profiles than in the store up to \(position.rawValue)")
        }
        problems += try restored.check().problems.map(\.description)
        return problems
    }
}
