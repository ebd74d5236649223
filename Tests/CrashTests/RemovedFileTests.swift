import Glibc
import ProfileLog
import Testing

/// Files of a store are removed or replaced while processes write.
///
///     first    opens ─ writes ─────────────── writes: refused
///     parent                    removes a file
///     second                                  opens: refused, as the first has the store open
@Suite("No acknowledged event is lost when files of an open store are removed or replaced", .serialized)
struct RemovedFileTests {
    enum Change: String, CaseIterable, CustomTestStringConvertible {
        case lockRemoved, lockEmptied, dataRemoved, dataReplaced, folderMoved, folderReplaced

        var testDescription: String { rawValue }
    }

    @Test("Without lock.mdb, two processes in turn")
    func inTurn() async throws {
        let problems = try await onOwnThread { () throws -> [String] in
            let scratch = try Scratch()
            let first = try Writer(scratch("store"), 0)
            for _ in 0..<50 { first.append() }
            if unlink(scratch("store/lock.mdb")) != 0 { return ["lock.mdb cannot be removed"] }
            let second = try Writer(scratch("store"), 1)
            for _ in 0..<100 {
                second.append()
                first.append()
            }
            return try Self.problems(scratch("store"), first, second) + first.problems(stoppedAfter: 50)
                + second.problemsOfRefusedOpening
        }
        #expect(problems == [])
    }

    @Test("Without lock.mdb, two processes at once")
    func atOnce() async throws {
        let problems = try await onOwnThread { () throws -> [String] in
            let scratch = try Scratch()
            let first = try Writer(scratch("store"), 0)
            first.append()
            for _ in 0..<300 { first.request() }
            if unlink(scratch("store/lock.mdb")) != 0 { return ["lock.mdb cannot be removed"] }
            let second = try Writer(scratch("store"), 1)
            for _ in 0..<300 { second.request() }
            return try Self.problems(scratch("store"), first, second)
        }
        #expect(problems == [])
    }

    @Test("After the change the writer acknowledges nothing, and says why", arguments: Change.allCases)
    func stops(change: Change) async throws {
        let problems = try await onOwnThread { () throws -> [String] in
            let scratch = try Scratch()
            let (store, moved) = (scratch("store"), scratch("moved"))
            let writer = try Writer(store, 0)
            for _ in 0..<20 { writer.append() }
            var kept = store
            switch change {
            case .lockRemoved: unlink(store + "/lock.mdb")
            case .lockEmptied:
                unlink(store + "/lock.mdb")
                close(open(store + "/lock.mdb", O_WRONLY | O_CREAT, 0o600))
            case .dataRemoved:
                mkdir(moved, 0o700)
                rename(store + "/data.mdb", moved + "/data.mdb")
                kept = moved
            case .dataReplaced:
                mkdir(moved, 0o700)
                rename(store + "/data.mdb", moved + "/data.mdb")
                _ = try EventLog(path: scratch("other"), create: true)
                rename(scratch("other/data.mdb"), store + "/data.mdb")
                kept = moved
            case .folderMoved:
                rename(store, moved)
                kept = moved
            case .folderReplaced:
                rename(store, moved)
                _ = try EventLog(path: store, create: true)
                kept = moved
            }
            for _ in 0..<20 { writer.append() }
            var problems = writer.problems(stoppedAfter: 20)
            // While the writer has it open, the folder is closed to others; a folder that took its place is not.
            let other = try Writer(store, 1)
            if change != .folderReplaced, change != .folderMoved { problems += other.problemsOfRefusedOpening }
            _ = other.end()
            return try problems + Self.problems(kept, writer)
        }
        #expect(problems == [])
    }

    @Test("A store that is not in use needs no lock file: it is opened, and written by two at once")
    func unused() async throws {
        let problems = try await onOwnThread { () throws -> [String] in
            let scratch = try Scratch()
            let before = try Writer(scratch("store"), 0)
            for _ in 0..<10 { before.append() }
            _ = before.end()
            unlink(scratch("store/lock.mdb"))
            let (first, second) = try (Writer(scratch("store"), 1), Writer(scratch("store"), 2))
            for _ in 0..<100 {
                first.request()
                second.request()
            }
            let problems = try Self.problems(scratch("store"), before, first, second)
            return problems + (first.count == 100 && second.count == 100 ? [] : ["not all was acknowledged"])
        }
        #expect(problems == [])
    }

    /// Ends the writers, and looks for all that they acknowledged.
    private static func problems(_ store: String, _ writers: Writer...) throws -> [String] {
        let answers = writers.map { $0.end() }
        let audit = try StoreAudit(EventLog(path: store), launchesInTurn: false)
        return audit.problems + answers.flatMap { $0.problems(in: audit) }
    }
}

/// A process that makes one append for each line that it is sent.
private final class Writer {
    private let child: CrashChild
    private var answers = Answers([])
    private var opening: String?
    private var requests = 0

    init(_ store: String, _ number: UInt64) throws {
        signal(SIGPIPE, SIG_IGN)
        child = try CrashChild(["turns", store, "16", "\(number)"])
        opening = child.readLine()
        if let opening, opening.hasPrefix("open ") { answers.add(opening) }
    }

    var count: Int { answers.acknowledged.count }

    /// Asks for one append.
    func request() {
        guard answers.wasOpened else { return }
        child.send("")
        requests += 1
    }

    /// Asks for one append and waits for the answer.
    func append() {
        request()
        if answers.wasOpened, let line = child.readLine() { answers.add(line) }
    }

    /// Hears the rest of the answers, and ends the process.
    func end() -> Answers {
        child.endInput()
        while let line = child.readLine() { if answers.wasOpened { answers.add(line) } }
        child.waitForEnd()
        return answers
    }

    /// Everything after the first `count` appends was refused, since the store's files were changed.
    func problems(stoppedAfter count: Int) -> [String] {
        var problems: [String] = []
        if self.count != count { problems.append("\(self.count) appends were acknowledged, not \(count)") }
        let reasons = Set(answers.refused.map(\.reason))
        if reasons != ["filesChanged"] { problems.append("refused for \(reasons)") }
        return problems
    }

    /// The process was not let in, and said why.
    var problemsOfRefusedOpening: [String] {
        let said = opening ?? "nothing"
        let isRefused = said.hasPrefix("failed ") && said.contains("removed or replaced")
        return isRefused ? [] : ["opening answered \(said)"]
    }
}
