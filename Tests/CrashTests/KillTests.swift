import Glibc
import ProfileLog
import TestSupport
import Testing

@testable import ProfileLogStore

/// A child appends under load and is killed at a random moment; then everything that it was promised must be there.
///
/// A kill is not a power cut: what the kernel has taken survives it. `FaultTests` goes further.
@Suite("A killed process loses nothing that was acknowledged", .serialized)
struct KillTests {
    private static let roundsPerStore: UInt64 = 5

    /// Each seed is a store that is killed five times.
    @Test("Killed at a random moment, again and again", arguments: Thoroughness.seeds(short: 4, full: 40))
    func killed(seed: UInt64) async throws {
        let (problems, acknowledged) = try await onOwnThread { try Self.run(seed) }
        #expect(problems.isEmpty, "seed \(seed)")
        #expect(acknowledged > 0, "seed \(seed): no round was long enough for one append")
    }

    private static func run(_ seed: UInt64) throws -> (problems: [String], acknowledged: Int) {
        let scratch = try TemporaryFolder.made(prefix: "crash")
        var random = SeededGenerator(seed: seed)
        var problems: [String] = []
        var heard = 0
        var retryFrom: UInt64 = 0
        var before = Answers([])
        var appendsBefore: Set<String> = []
        // In some stores the reader stays open while the children write and die.
        let keepsOpen = seed % 2 == 1
        var kept: EventLog?
        for round in 0..<roundsPerStore {
            let said = "answers-\(round)"
            let child = try CrashChild(
                ["load", scratch("store"), "\(seed)", "\(round)", "\(retryFrom)"], outputFile: scratch(said))
            waitAndKill(child, scratch, said, &random)
            let answers = Answers(scratch.lines(said))
            heard += answers.acknowledged.count
            if !answers.wasOpened && FileIdentity(scratch("store/data.mdb")) == nil { continue }
            do {
                let log = try kept ?? EventLog(path: scratch("store"), create: true)
                if keepsOpen { kept = log }
                // A commit whose process was killed before LMDB told the others of it shows itself to those that have
                // the store open when the next writer takes the lock: an empty one, here. (No process was promised
                // such a commit.)
                _ = log.commit([])
                let audit = try StoreAudit(log)
                let found =
                    audit.problems + answers.problems(in: audit)
                    + before.problems(in: audit, isLater: true)
                    + retryErrors(answers, round, before, appendsBefore)
                problems += found.map { "seed \(seed), round \(round): \($0)" }
                before = answers
                appendsBefore = Set(audit.appends.keys)
                try finishLaunches(log, &problems)
            } catch {
                problems.append("seed \(seed), round \(round): \(error)")
                return (problems, heard)
            }
            let last =
                answers.acknowledged.filter { $0.name.hasPrefix("\(round).") }
                .compactMap { $0.name.split(separator: ".").last.flatMap { UInt64($0) } }.max() ?? 1
            retryFrom = max(1, last > 6 ? last - 6 : 1)
        }
        return (problems, heard)
    }

    private static func waitAndKill(
        _ child: CrashChild, _ scratch: TemporaryFolder, _ said: String, _ random: inout SeededGenerator
    ) {
        // One in six is killed before or while it opens the store.
        if random.next(below: 6) > 0 {
            var waited = 0
            while scratch.bytes(said) == 0, waited < 5000 {
                usleep(1000)
                waited += 1
            }
            usleep(UInt32(10_000 + random.next(below: 120_000)))
        } else {
            usleep(UInt32(random.next(below: 40_000)))
        }
        child.kill()
        child.waitForEnd()
    }

    /// A retry of what was stored answers as the first time, one of what was not stored stores it.
    private static func retryErrors(
        _ answers: Answers, _ round: UInt64, _ before: Answers, _ stored: Set<String>
    ) -> [String] {
        guard round > 0 else { return [] }
        var problems: [String] = []
        let earlier = Dictionary(before.acknowledged.map { ($0.name, $0) }) { first, _ in first }
        for answer in answers.acknowledged where answer.name.hasPrefix("\(round - 1).") {
            if answer.isRepetition != stored.contains(answer.name) {
                problems.append("a retry of \(answer.name) did not see whether it was stored")
            }
            if let first = earlier[answer.name], first.first != answer.first || first.places != answer.places {
                problems.append("a retry of \(answer.name) answered otherwise than the first time")
            }
        }
        return problems
    }

    /// The next launch finishes what a killed one left: nothing that its device's launch must flush waits longer.
    private static func finishLaunches(_ log: EventLog, _ problems: inout [String]) throws {
        for device in try log.reader.devices.all() {
            let state = try log.reader.devices.state(of: device.text)
            let before = try log.reader.devices.pending(in: state).filter { $0.context.storage?.isVisibleToApp == true }
            let due = before.map(\.position).filter { $0 < state.lastLaunch ?? .start }
            let report = try log.launch(device: device.text)
            let finished = try flushed(report.finished, log)
            if finished != Set(due) {
                problems.append("\(device): finished \(finished.count) items of \(due.count)")
            }
            let rest = Set(before.map(\.position)).subtracting(due)
            if try flushed(report.flushed, log) != rest {
                problems.append("\(device): a launch left items waiting")
            }
        }
    }

    private static func flushed(_ flushes: [Position], _ log: EventLog) throws -> Set<Position> {
        var items: Set<Position> = []
        for position in flushes {
            guard case .pendingFlushed(let flush)? = try log.events(from: position, limit: 1).events.first?.event else {
                continue
            }
            items.formUnion(flush.flushed)
        }
        return items
    }
}
