import ProfileLog
import TestSupport
import Testing

@Suite("The same appends give the same bytes")
struct DeterminismTests {
    private static let time = Timestamp(rawValue: 1_767_312_000_000_000)
    private static let appends = 700

    /// A store in which the same work was committed in groups of `group`.
    private static func store(_ scratch: TemporaryFolder, _ name: String, group: Int, lag: Int = 1 << 20) throws
        -> EventLog
    {
        var options = LogOptions()
        options.indexLag = lag
        options.usersPerIndexSlice = 3
        options.snapshotInterval = 4
        options.now = { time }
        let log = try EventLog(path: scratch(name), create: true, options: options)
        var work = MixedWork(seed: 4)
        var left = appends
        while left > 0 {
            // Prepared group by group, as a caller would: some names have numbers by then, and some do not.
            let count = min(group, left)
            for answer in log.commit(try (0..<count).map { _ in try work.next(for: log) }) { _ = try answer.get() }
            left -= count
        }
        try log.writeIndex()
        return log
    }

    /// The tables of a store whose work was committed one by one, and of one in groups of seven.
    private static let (single, sevens) = (Result { try dump(group: 1) }, Result { try dump(group: 7) })

    private static func dump(group: Int) throws -> TableDump {
        let scratch = try TemporaryFolder.made(prefix: "crash")
        return try TableDump(store(scratch, "store", group: group), TableDump.truth + TableDump.index + [.snapshots])
    }

    @Test("The bytes are the same whatever the size of the groups in which appends are committed")
    func groups() async throws {
        try await onOwnThread { try Self.single.get().differences(from: Self.sevens.get()) }.expectNone()
        for group in [100, 700] {
            try await onOwnThread {
                let scratch = try TemporaryFolder.made(prefix: "crash")
                let many = try Self.store(scratch, "many", group: group)
                let names = TableDump.truth + TableDump.index + [.snapshots]
                return try Self.single.get().differences(from: TableDump(many, names))
                    + StoreAudit(many, launchesInTurn: false).problems
            }.expectNone()
        }
    }

    @Test("The bytes are the same whenever the index is written", arguments: [16, 150])
    func indexFlushes(lag: Int) async throws {
        try await onOwnThread {
            let scratch = try TemporaryFolder.made(prefix: "crash")
            let often = try Self.store(scratch, "often", group: 7, lag: lag)
            // Snapshots are taken when the index is written, so there may be others; the audit compares them with a
            // fold.
            let names = TableDump.truth + TableDump.index
            return try Self.sevens.get().only(names).differences(from: TableDump(often, names))
                + StoreAudit(often, launchesInTurn: false).problems
        }.expectNone()
    }

    @Test("Rebuilt caches are the caches that were dropped")
    func rebuiltCaches() async throws {
        try await onOwnThread {
            let scratch = try TemporaryFolder.made(prefix: "crash")
            let log = try Self.store(scratch, "store", group: 7, lag: 50)
            let before = try TableDump(log, TableDump.index)
            try log.rebuildCaches()
            return try before.differences(from: TableDump(log, TableDump.index))
                + StoreAudit(log, launchesInTurn: false).problems
        }.expectNone()
    }

    @Test("The stored bytes are the same on every machine, in debug and in release")
    func knownBytes() async throws {
        let (truth, tables, replay) = try await onOwnThread {
            let scratch = try TemporaryFolder.made(prefix: "crash")
            let log = try Self.store(scratch, "store", group: 7)
            let truth = try TableDump(log, TableDump.truth)
            let tables = try TableDump(log, TableDump.truth + TableDump.index + [.snapshots])
            return (truth.checksum, tables.checksum, try log.replay(threads: 1).digest)
        }
        print("DeterminismTests: truth \(String(truth, radix: 16)), tables \(String(tables, radix: 16))")
        print("DeterminismTests: replay \(replay)")
        // What is stored for ever, whatever the caches come to hold.
        #expect(truth == 0x7cd6_c97c)
        #expect(tables == 0x8fb1_a945)
        #expect(replay == "67be03060c728175e8968cef853de59a0bd293defd0df4e1ef59d3cfc0ddc5b1")
    }

    @Test("A replay on 1, 2, 3 and 4 threads has the same digest")
    func threads() async throws {
        let digests = try await onOwnThread {
            let scratch = try TemporaryFolder.made(prefix: "crash")
            let log = try Self.store(scratch, "store", group: 7, lag: 100)
            return try [1, 2, 3, 4].map { try log.replay(threads: $0).digest }
        }
        #expect(Set(digests).count == 1)
    }

    /// As in a release build: `profilelog-crashchild digest FOLDER` holds the constant for both.
    @Test("The child process replays its fixed log to the known digest")
    func childDigest() async throws {
        let (end, lines) = try await onOwnThread {
            let scratch = try TemporaryFolder.made(prefix: "crash")
            let child = try CrashChild(["digest", scratch("store")], outputFile: scratch("said"))
            return (child.waitForEnd(), scratch.lines("said"))
        }
        #expect(end == 0, "\(lines)")
    }
}

extension [String] {
    func expectNone(_ location: SourceLocation = #_sourceLocation) {
        #expect(self == [], sourceLocation: location)
    }
}
