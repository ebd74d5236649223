import Foundation
import Glibc
import ProfileLog
import TestSupport
import Testing

/// One store is reached by two paths. LMDB's lock file lies next to the path that was opened, so with another lock file
/// both would write without a common lock.
///
///     first    opens ─ writes ───────────────── writes
///     second                  opens by a door ─ writes, or is refused
@Suite("No acknowledged event is lost whatever path leads to the store", .serialized)
struct DoorTests {
    enum Door: String, CaseIterable, CustomTestStringConvertible {
        case samePath, relativePath, parentPath, folderLink, folderMount
        case fileLink, relativeFileLink, hardLink, fileMount, overlay
        /// The store is the upper folder of an overlay, and the door leads to it through the overlay.
        case overlayUpper

        var testDescription: String { rawValue }
        var needsMount: Bool { [.folderMount, .fileMount, .overlay, .overlayUpper].contains(self) }

        /// The condition that the second program meets.
        var leads: Lead {
            switch self {
            case .samePath, .relativePath, .parentPath, .folderLink, .folderMount: .toTheStore
            case .fileLink, .relativeFileLink, .hardLink, .fileMount: .toItsFileAlone
            case .overlay: .toACopy
            case .overlayUpper: .pastItsLocks
            }
        }

        enum Lead { case toTheStore, toItsFileAlone, toACopy, pastItsLocks }
    }

    /// A writer by `door` on the store in `scratch`.
    private static func writer(_ number: UInt64, by door: Door, in scratch: TemporaryFolder) throws -> Writer {
        let (store, other) = (scratch("store"), scratch("other"))
        func made(_ make: () -> Int32) throws {
            mkdir(other, 0o700)
            if access(other + "/data.mdb", F_OK) != 0, make() != 0 { throw ChildProcess.CannotStart(code: errno) }
        }
        switch door {
        case .samePath: return try Writer(store, number)
        case .relativePath: return try Writer("./store", number, after: "cd \(scratch.path)")
        case .parentPath: return try Writer(store + "/.././store/", number)
        case .folderLink:
            symlink("store", scratch("link"))
            return try Writer(scratch("link"), number)
        case .fileLink:
            try made { symlink(store + "/data.mdb", other + "/data.mdb") }
            return try Writer(other, number)
        case .relativeFileLink:
            try made { symlink("../store/data.mdb", other + "/data.mdb") }
            return try Writer(other, number)
        case .hardLink:
            try made { Glibc.link(store + "/data.mdb", other + "/data.mdb") }
            return try Writer(other, number)
        case .folderMount:
            mkdir(other, 0o700)
            return try Writer(other, number, after: "mount --bind \(store) \(other)", mounts: true)
        case .fileMount:
            try made { close(open(other + "/data.mdb", O_WRONLY | O_CREAT, 0o600)) }
            return try Writer(
                other, number, after: "mount --bind \(store)/data.mdb \(other)/data.mdb", mounts: true)
        case .overlay:
            for name in ["other", "upper", "work"] { mkdir(scratch(name), 0o700) }
            let layers = "lowerdir=\(store),upperdir=\(scratch("upper")),workdir=\(scratch("work"))"
            return try Writer(other, number, after: "mount -t overlay none -o \(layers) \(other)", mounts: true)
        case .overlayUpper:
            for name in ["other", "lower", "work"] { mkdir(scratch(name), 0o700) }
            let layers = "lowerdir=\(scratch("lower")),upperdir=\(store),workdir=\(scratch("work"))"
            return try Writer(other, number, after: "mount -t overlay none -o \(layers) \(other)", mounts: true)
        }
    }

    private static let canMount: Bool = {
        let script =
            "mount -t tmpfs none /mnt && mkdir /mnt/a /mnt/b /mnt/c /mnt/d && "
            + "mount -t overlay none -o lowerdir=/mnt/a,upperdir=/mnt/b,workdir=/mnt/c /mnt/d"
        let test = try? ChildProcess(URL(filePath: "/usr/bin/unshare"), ["-m", "sh", "-c", script], errors: .nothing)
        return test?.waitForEnd() == 0
    }()

    /// The number of appends of each of two writers.
    private static let atOnce = Thoroughness.count(short: 60, full: 200)
    private static let inTurn = Thoroughness.count(short: 15, full: 40)

    private static var doors: [Door] {
        if !canMount { print("DoorTests: nothing can be mounted here, so mounts are not tried") }
        return Door.allCases.filter { canMount || !$0.needsMount }
    }

    @Test(
        "Two processes by two paths, in turn and at once, lose no acknowledged event", arguments: doors, [false, true])
    func two(door: Door, atOnce: Bool) async throws {
        let problems = try await onOwnThread { () throws -> [String] in
            let scratch = try TemporaryFolder.made(prefix: "crash")
            let first = try Writer(scratch("store"), 0)
            for _ in 0..<20 { first.append() }
            let second = try Self.writer(1, by: door, in: scratch)
            for _ in 0..<(atOnce ? Self.atOnce : Self.inTurn) {
                if atOnce {
                    first.request()
                    second.request()
                } else {
                    second.append()
                    first.append()
                }
            }
            var problems: [String] = []
            switch door.leads {
            case .toTheStore: problems += try Writer.problems(scratch("store"), first, second)
            case .toACopy:
                problems += try Writer.problems(scratch("upper"), second) + Writer.problems(scratch("store"), first)
            case .toItsFileAlone:
                problems += second.problemsOfOpening(refusedFor: "by another path")
                problems += try Writer.problems(scratch("store"), first)
            case .pastItsLocks:
                // The later one has the store, and the other one notices it.
                problems += try Writer.problems(scratch("store"), first, second)
                problems += first.problems(stoppedAfter: 20)
            }
            let isStopped = door.leads == .pastItsLocks
            if !isStopped, first.count != 20 + (atOnce ? Self.atOnce : Self.inTurn) {
                problems.append("the first has \(first.count)")
            }
            if door.leads != .toItsFileAlone, second.count != (atOnce ? Self.atOnce : Self.inTurn) {
                problems.append("the second has \(second.count)")
            }
            return problems
        }
        #expect(problems == [])
    }

    @Test("The process that came first keeps the store, also if it came by the other path", arguments: doors)
    func reversed(door: Door) async throws {
        guard door.leads != .pastItsLocks else { return }
        let problems = try await onOwnThread { () throws -> [String] in
            let scratch = try TemporaryFolder.made(prefix: "crash")
            let before = try Writer(scratch("store"), 0)
            before.append()
            let ended = before.end()
            let first = try Self.writer(1, by: door, in: scratch)
            for _ in 0..<5 { first.append() }
            let second = try Writer(scratch("store"), 2)
            for _ in 0..<5 {
                second.append()
                first.append()
            }
            var problems = ended.complaints
            if first.count != 10 { problems.append("the first has \(first.count)") }
            switch door.leads {
            case .toTheStore: problems += try Writer.problems(scratch("store"), before, first, second)
            case .toACopy:
                problems += try Writer.problems(scratch("upper"), first) + Writer.problems(scratch("store"), second)
            case .toItsFileAlone:
                problems += second.problemsOfOpening(refusedFor: "by another path")
                problems += try Writer.problems(scratch("store"), before, first)
            case .pastItsLocks: break
            }
            return problems
        }
        #expect(problems == [])
    }

    @Test("Of two processes that open at the same time by two paths, what is acknowledged stays", arguments: doors)
    func race(door: Door) async throws {
        guard door.leads == .toItsFileAlone else { return }
        let problems = try await onOwnThread { () throws -> [String] in
            let scratch = try TemporaryFolder.made(prefix: "crash")
            var writers = [try Writer(scratch("store"), 0)]
            writers[0].append()
            _ = writers[0].end()
            var problems: [String] = []
            for round in 0..<Thoroughness.count(short: 4, full: 10) {
                let number = UInt64(2 * round)
                let two = try [
                    Writer(scratch("store"), number + 1, waits: false), Self.writer(number + 2, by: door, in: scratch),
                ]
                for writer in two { writer.awaitOpening() }
                if two.allSatisfy(\.isOpen) { problems.append("both were let in, in round \(round)") }
                for _ in 0..<5 { for writer in two { writer.append() } }
                for writer in two { _ = writer.end() }
                writers += two
            }
            return problems + (try Writer.problems(scratch("store"), of: writers))
        }
        #expect(problems == [])
    }

    @Test("Processes one after the other by both paths lose no acknowledged event", arguments: doors)
    func one(door: Door) async throws {
        guard door.leads != .toACopy else { return }
        let problems = try await onOwnThread { () throws -> [String] in
            let scratch = try TemporaryFolder.made(prefix: "crash")
            var writers: [Writer] = []
            for number in 0..<6 {
                let writer =
                    try number % 2 == 0
                    ? Writer(scratch("store"), UInt64(number)) : Self.writer(UInt64(number), by: door, in: scratch)
                for _ in 0..<10 { writer.append() }
                if writer.count != 10 { return ["writer \(number) has \(writer.count)"] }
                _ = writer.end()
                writers.append(writer)
            }
            return try Writer.problems(scratch("store"), of: writers)
        }
        #expect(problems == [])
    }
}
