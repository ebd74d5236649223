import Glibc
import ProfileLog
import TestSupport
import Testing

/// Commits of another process may not be on the disk yet: it may have died before its last sync.
///
///     first    commits an append ─ dies, or not
///     second                          is sent the same: finds it, syncs, acknowledges
@Suite("A repetition is on the disk when it is acknowledged")
struct RepetitionSyncTests {
    private let scratch: TemporaryFolder
    private let shim: Shim

    init() throws {
        scratch = try TemporaryFolder.made(prefix: "crash")
        shim = try Shim.faults()
    }

    /// Returns the answers of two processes to one append: first the one, then, under `environment`, the other, again
    /// and again; and how many calls that one had made before it was asked.
    private func ask(times: Int, _ environment: [String: String]) throws -> (answers: [String], callsBefore: Int) {
        var answers: [String] = []
        let children = try [[:], environment].map { environment in
            let child = try CrashChild(["retry", scratch("store"), "1", "0", "1"], environment: environment)
            answers.append(child.readLine() ?? "nothing")
            return child
        }
        let callsBefore = calls.count
        for child in [children[0]] + Array(repeating: children[1], count: times) {
            child.send("")
            answers.append(child.readLine() ?? "nothing")
        }
        for child in children {
            child.endInput()
            child.waitForEnd()
        }
        return (answers.map { $0.split(separator: " ").prefix(3).joined(separator: " ") }, callsBefore)
    }

    /// Names of the calls that were counted.
    private var calls: [String] { scratch.lines("calls").compactMap { $0.split(separator: " ").last.map(String.init) } }

    @Test("Opening a store syncs it; a repetition of what others stored since then syncs it again")
    func synced() async throws {
        let (answers, callsBefore) = try await onOwnThread {
            try ask(times: 2, shim.environment(["FAULT": "count", "FAULT_COUNT": scratch("calls")]))
        }
        #expect(answers == ["open 0", "open 0", "ack 0.1 new", "ack 0.1 again", "ack 0.1 again"])
        #expect(callsBefore == 1 && calls == ["fdatasync", "fdatasync"])
    }

    @Test("A repetition of what this process stored itself syncs nothing")
    func ownRepetition() async throws {
        let (answers, counts) = try await onOwnThread {
            let child = try CrashChild(
                ["retry", scratch("store"), "1", "0", "1"],
                environment: shim.environment(["FAULT": "count", "FAULT_COUNT": scratch("calls")]))
            var answers = [child.readLine() ?? "nothing"]
            var counts: [Int] = []
            for _ in 0..<3 {
                child.send("")
                answers.append(child.readLine() ?? "nothing")
                counts.append(calls.count)
            }
            child.endInput()
            child.waitForEnd()
            return (answers.map { $0.split(separator: " ").prefix(3).joined(separator: " ") }, counts)
        }
        #expect(answers == ["open 0", "ack 0.1 new", "ack 0.1 again", "ack 0.1 again"])
        #expect(counts == Array(repeating: counts[0], count: 3))
    }

    @Test("A store whose first sync fails is read, and takes nothing")
    func failedOpening() async throws {
        let (answers, _) = try await onOwnThread { try ask(times: 1, shim.environment(["FAULT": "eio:1"])) }
        #expect(answers == ["open 0", "open 0", "ack 0.1 new", "refused 0.1 closedAfterFailure"])
    }

    @Test("If the second fails, the outcome is unknown, and nothing more is taken")
    func failed() async throws {
        let (answers, _) = try await onOwnThread { try ask(times: 2, shim.environment(["FAULT": "eio:2"])) }
        #expect(
            answers == ["open 0", "open 0", "ack 0.1 new", "unknown 0.1 \(EIO)", "refused 0.1 closedAfterFailure"])
    }
}
