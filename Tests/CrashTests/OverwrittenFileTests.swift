import Foundation
import Glibc
import ProfileLog
import TestSupport
import Testing

/// The files of an open store keep their inodes and get another content: a backup that is copied over them, or a cut.
///
///     writer   opens ─ writes ───────────────────────── writes: refused
///     parent                  overwrites a file in place
@Suite("A store that is overwritten in place under its writers takes no more writes, and says so", .serialized)
struct OverwrittenFileTests {
    enum Change: String, CaseIterable, CustomTestStringConvertible {
        /// A copy by `cp`, which cuts the file first.
        case olderCopied, newerCopied, otherStoreCopied, twinCopied
        /// Block by block, as `rsync --inplace` does.
        case olderWritten, newerWritten, twinWritten
        /// A copy by `rsync --inplace`.
        case olderSynced, newerSynced, twinSynced
        case olderByDD, dataCut, dataEmptied, lockEmptied, lockCut, lockZeroed, restoredByRename
        /// A backup of the folder, with its lock file.
        case bothCopied
        /// The middle of an overwrite: one of the two meta pages is of an older copy.
        case firstPageWritten, secondPageWritten

        var testDescription: String { rawValue }
    }

    private static func sh(_ script: String) throws {
        let status = try ChildProcess(URL(filePath: "/bin/sh"), ["-ec", script]).waitForEnd()
        #expect(status == 0, "\(script)")
    }

    /// The number of the last commit, from the two meta pages of LMDB's file.
    private static func commit(_ file: String) throws -> UInt64 {
        let bytes = try #require(FileManager.default.contents(atPath: file))
        return [144, 4096 + 144].map { at in
            bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: at, as: UInt64.self) }
        }.max() ?? 0
    }

    @Test(
        "One and two writers find that the store was overwritten, and take no more writes", arguments: changes, [1, 2])
    func overwritten(change: Change, count: Int) async throws {
        let problems = try await onOwnThread { () throws -> [String] in
            let scratch = try TemporaryFolder.made(.damaged, prefix: "crash")
            let (store, data) = (scratch("store"), scratch("store/data.mdb"))
            let writers = try (0..<count).map { try Writer(store, UInt64($0)) }
            for _ in 0..<10 { for writer in writers { writer.append() } }
            try Self.sh("cp \(data) \(scratch("oldest"))")
            for _ in 0..<10 { for writer in writers { writer.append() } }
            for name in ["older", "twin", "newer", "before"] { mkdir(scratch(name), 0o700) }
            // While no program writes, `cp` is a sound copy.
            try Self.sh("cp \(store)/*.mdb \(scratch("older")); cp \(data) \(scratch("twin"))")
            for writer in writers { writer.append() }
            let twin = try Writer(scratch("twin"), 7)
            for _ in 0..<count { twin.append() }
            _ = twin.end()
            try Self.sh("cp \(data) \(scratch("before/data.mdb")); cp \(data) \(scratch("newer/data.mdb"))")
            let newer = try Writer(scratch("newer"), 8)
            for _ in 0..<10 { newer.append() }
            _ = newer.end()
            let isTwin = try Self.commit(data) == Self.commit(scratch("twin/data.mdb"))
            if !isTwin { return ["the twin has another number of commits"] }
            let lock = store + "/lock.mdb"
            func written(_ name: String) -> String {
                "dd if=\(scratch(name))/data.mdb of=\(data) conv=notrunc status=none"
            }
            func page(_ number: Int) -> String {
                "dd if=\(scratch("oldest")) of=\(data) bs=4096 count=1 status=none conv=notrunc "
                    + "skip=\(number) seek=\(number)"
            }
            func synced(_ name: String) -> String {
                "rsync --inplace --no-whole-file --ignore-times \(scratch(name))/data.mdb \(data)"
            }
            switch change {
            case .olderCopied: try Self.sh("cp \(scratch("older/data.mdb")) \(data)")
            case .newerCopied: try Self.sh("cp \(scratch("newer/data.mdb")) \(data)")
            case .twinCopied: try Self.sh("cp \(scratch("twin/data.mdb")) \(data)")
            case .otherStoreCopied:
                let other = try Writer(scratch("other"), 9)
                for _ in 0..<30 { other.append() }
                _ = other.end()
                try Self.sh("cp \(scratch("other/data.mdb")) \(data)")
            case .olderWritten: try Self.sh(written("older"))
            case .newerWritten: try Self.sh(written("newer"))
            case .twinWritten: try Self.sh(written("twin"))
            case .olderSynced: try Self.sh(synced("older"))
            case .newerSynced: try Self.sh(synced("newer"))
            case .twinSynced: try Self.sh(synced("twin"))
            case .firstPageWritten: try Self.sh(page(0))
            case .secondPageWritten: try Self.sh(page(1))
            case .bothCopied: try Self.sh("cp \(scratch("older"))/*.mdb \(store)")
            case .olderByDD: try Self.sh("dd if=\(scratch("older/data.mdb")) of=\(data) status=none")
            case .dataCut: try Self.sh("truncate -s 16384 \(data)")
            case .dataEmptied: try Self.sh("> \(data)")
            case .lockEmptied: try Self.sh("> \(lock)")
            case .lockCut: try Self.sh("truncate -s 4096 \(lock)")
            case .lockZeroed: try Self.sh("dd if=/dev/zero of=\(lock) bs=4096 count=64 conv=notrunc status=none")
            case .restoredByRename: try Self.sh("mv \(scratch("older/data.mdb")) \(data)")
            }
            for _ in 0..<5 { for writer in writers { writer.append() } }
            var problems = writers.flatMap { $0.problems(stoppedAfter: 21) }
            for writer in writers { _ = writer.end() }
            // The lock file holds nothing that is lost.
            if [.lockEmptied, .lockCut, .lockZeroed].contains(change) {
                problems += try Writer.problems(store, of: writers)
            }
            return problems
        }
        #expect(problems == [])
    }

    /// Runs steps that may come before or after each append on its way. But after the first refusal nothing is
    /// acknowledged, a mixed file is found by a check, and an emptied lock file loses nothing.
    @Test(
        "A store that is overwritten while appends are on their way acknowledges nothing that is lost",
        arguments: atOnceChanges, 0..<(Thoroughness.isFull ? 5 : 1))
    func atOnce(change: Change, round: Int) async throws {
        let problems = try await onOwnThread { () throws -> [String] in
            let scratch = try TemporaryFolder.made(.damaged, prefix: "crash")
            let (store, data) = (scratch("store"), scratch("store/data.mdb"))
            let writers = try (0..<2).map { try Writer(store, UInt64($0)) }
            for _ in 0..<20 { for writer in writers { writer.append() } }
            let older = scratch("older")
            try Self.sh("cp \(data) \(older)")
            for _ in 0..<20 { for writer in writers { writer.append() } }
            for _ in 0..<300 { for writer in writers { writer.request() } }
            switch change {
            case .olderCopied: try Self.sh("cp \(older) \(data)")
            case .olderWritten: try Self.sh("dd if=\(older) of=\(data) conv=notrunc status=none")
            case .olderSynced: try Self.sh("rsync --inplace --no-whole-file --ignore-times \(older) \(data)")
            case .dataCut: try Self.sh("truncate -s 16384 \(data)")
            default: try Self.sh("> \(store)/lock.mdb")
            }
            var problems: [String] = []
            for writer in writers {
                writer.request()
                let answers = writer.end()
                let first = answers.order.firstIndex { $0 != .stored } ?? answers.order.endIndex
                // A process that read after the end of a file ended with a sentence.
                if first == answers.order.endIndex, answers.hasEnded { problems.append("nothing was refused") }
                if answers.order[first...].contains(.stored) { problems.append("something was stored after a refusal") }
                problems += answers.complaints
            }
            return try problems + (change == .lockEmptied ? Writer.problems(store, of: writers) : [])
        }
        #expect(problems == [])
    }

    private static let hasRsync = access("/usr/bin/rsync", X_OK) == 0

    private static var changes: [Change] {
        Change.allCases.filter { hasRsync || ![.olderSynced, .newerSynced, .twinSynced].contains($0) }
    }

    private static var atOnceChanges: [Change] {
        if !hasRsync { print("OverwrittenFileTests: there is no rsync here, so dd alone writes over a file") }
        return [.olderCopied, .olderWritten, .dataCut, .lockEmptied] + (hasRsync ? [.olderSynced] : [])
    }

    /// A commit is in the data file's page and waits for the disk, or its process died there: then the lock file has
    /// the number of the commit before.
    @Test("A program that comes in the middle of a commit is let in")
    func midCommit() async throws {
        let problems = try await onOwnThread { () throws -> [String] in
            let scratch = try TemporaryFolder.made(.damaged, prefix: "crash")
            let store = scratch("store")
            let writers = [try Writer(store, 0)]
            for _ in 0..<5 { writers[0].append() }
            let lock = open(store + "/lock.mdb", O_RDWR)
            defer { close(lock) }
            let place = off_t(8 + MemoryLayout<pthread_mutex_t>.size)
            var (commit, before) = (UInt64(0), UInt64(0))
            pread(lock, &commit, 8, place)
            if try commit != Self.commit(store + "/data.mdb") { return ["the lock file has commit \(commit)"] }
            before = commit - 1
            pwrite(lock, &before, 8, place)
            let second = try Writer(store, 1)
            pwrite(lock, &commit, 8, place)
            for writer in writers + [second] { writer.append() }
            return try Writer.problems(store, of: writers + [second]) + (second.count == 1 ? [] : ["it was not let in"])
        }
        #expect(problems == [])
    }

    @Test("A program that comes while the overwritten store is open is refused, or reads what is there")
    func newcomer() async throws {
        let problems = try await onOwnThread { () throws -> [String] in
            let scratch = try TemporaryFolder.made(.damaged, prefix: "crash")
            let (store, data) = (scratch("store"), scratch("store/data.mdb"))
            let writer = try Writer(store, 0)
            for _ in 0..<5 { writer.append() }
            mkdir(scratch("older"), 0o700)
            try Self.sh("cp \(data) \(scratch("older/data.mdb"))")
            for _ in 0..<20 { writer.append() }
            try Self.sh("cp \(scratch("older/data.mdb")) \(data)")
            let second = try Writer(store, 1)
            let problems = second.problemsOfRefusedOpening
            writer.append()
            return problems + writer.problems(stoppedAfter: 25)
        }
        #expect(problems == [])
    }
}
