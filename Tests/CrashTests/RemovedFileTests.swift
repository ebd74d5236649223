import Glibc
import ProfileLog
import TestSupport
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

    @Test("Two processes in turn without lock.mdb lose no acknowledged event")
    func inTurn() async throws {
        let problems = try await onOwnThread { () throws -> [String] in
            let scratch = try TemporaryFolder.made(prefix: "crash")
            let first = try Writer(scratch("store"), 0)
            for _ in 0..<50 { first.append() }
            if unlink(scratch("store/lock.mdb")) != 0 { return ["lock.mdb cannot be removed"] }
            let second = try Writer(scratch("store"), 1)
            for _ in 0..<100 {
                second.append()
                first.append()
            }
            return try Writer.problems(scratch("store"), first, second) + first.problems(stoppedAfter: 50)
                + second.problemsOfRefusedOpening
        }
        #expect(problems == [])
    }

    @Test("Two processes at once without lock.mdb lose no acknowledged event")
    func atOnce() async throws {
        let problems = try await onOwnThread { () throws -> [String] in
            let scratch = try TemporaryFolder.made(prefix: "crash")
            let first = try Writer(scratch("store"), 0)
            first.append()
            for _ in 0..<300 { first.request() }
            if unlink(scratch("store/lock.mdb")) != 0 { return ["lock.mdb cannot be removed"] }
            let second = try Writer(scratch("store"), 1)
            for _ in 0..<300 { second.request() }
            return try Writer.problems(scratch("store"), first, second)
        }
        #expect(problems == [])
    }

    @Test("A writer whose file was removed or replaced acknowledges nothing, and says why", arguments: Change.allCases)
    func stops(change: Change) async throws {
        let problems = try await onOwnThread { () throws -> [String] in
            let scratch = try TemporaryFolder.made(.damaged, prefix: "crash")
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
            return try problems + Writer.problems(kept, writer)
        }
        #expect(problems == [])
    }

    @Test("A store that is not in use needs no lock file: it is opened, and written by two at once")
    func unused() async throws {
        let problems = try await onOwnThread { () throws -> [String] in
            let scratch = try TemporaryFolder.made(prefix: "crash")
            let before = try Writer(scratch("store"), 0)
            for _ in 0..<10 { before.append() }
            _ = before.end()
            unlink(scratch("store/lock.mdb"))
            let (first, second) = try (Writer(scratch("store"), 1), Writer(scratch("store"), 2))
            for _ in 0..<100 {
                first.request()
                second.request()
            }
            let problems = try Writer.problems(scratch("store"), before, first, second)
            return problems + (first.count == 100 && second.count == 100 ? [] : ["not all was acknowledged"])
        }
        #expect(problems == [])
    }
}
