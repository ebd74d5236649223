import ProfileLog
import TestSupport
import Testing

/// A commit batch is all that a store needs to follow another: what a replicated log would carry.
@Suite("The same commit batches give the same stores")
struct BatchTests {
    @Test("Applied one by one to two empty stores", arguments: UInt64(0)..<4)
    func twoStores(seed: UInt64) async throws {
        try await onOwnThread {
            let scratch = try TemporaryFolder.made(prefix: "crash")
            let origin = try EventLog(path: scratch("origin"), create: true)
            let batches = try Self.commit(300, seed, on: origin)
            var options = LogOptions()
            options.indexLag = 64
            options.usersPerIndexSlice = 3
            let left = try EventLog(path: scratch("left"), create: true)
            let right = try EventLog(path: scratch("right"), create: true, options: options)
            for batch in batches { try left.committer.apply(batch) }
            for batch in batches { try right.committer.apply(batch) }
            for log in [origin, left, right] { try log.writeIndex() }
            let names = TableDump.truth + TableDump.index
            let dump = try TableDump(origin, names)
            let digests = try [origin, left, right].map { try $0.replay().digest }
            return try dump.differences(from: TableDump(left, names)) + dump.differences(from: TableDump(right, names))
                + StoreAudit(left, launchesInTurn: false).problems + StoreAudit(right, launchesInTurn: false).problems
                + (Set(digests).count == 1 ? [] : ["the profiles differ"])
        }.expectNone()
    }

    @Test("A batch that does not follow is refused")
    func gap() async throws {
        try await onOwnThread {
            let scratch = try TemporaryFolder.made(prefix: "crash")
            let origin = try EventLog(path: scratch("origin"), create: true)
            let batches = try Self.commit(20, 1, on: origin)
            let copy = try EventLog(path: scratch("copy"), create: true)
            try copy.committer.apply(batches[0])
            for wrong in [batches[0], batches[2]] {
                #expect(throws: StorageError.self) { try copy.committer.apply(wrong) }
            }
            return try StoreAudit(copy, launchesInTurn: false).problems
        }.expectNone()
    }

    /// Commits seeded groups, and gives each commit as the batch that it stored.
    private static func commit(_ appends: Int, _ seed: UInt64, on log: EventLog) throws -> [CommitBatch] {
        var work = MixedWork(seed: seed)
        var random = SeededGenerator(seed: seed)
        var batches: [CommitBatch] = []
        var left = appends
        while left > 0 {
            let count = min(left, 1 + random.next(below: 9))
            let (first, firstName) = try (log.lastPosition().rawValue + 1, log.names.count + 1)
            _ = log.commit(try (0..<count).map { _ in try work.next(for: log) })
            left -= count
            let batch = try batch(from: first, firstName: firstName, of: log)
            if batch.count > 0 { batches.append(batch) }
        }
        return batches
    }

    /// The rows of `log` from a position on, and of `names` from a number on.
    private static func batch(from first: UInt64, firstName: UInt32, of log: EventLog) throws -> CommitBatch {
        try log.withView { view in
            let names =
                log.names.count < firstName ? [] : (firstName...log.names.count).compactMap { log.names.name($0) }
            var batch = CommitBatch(firstPosition: first, firstName: firstName, names: names, bytes: [], ends: [])
            guard first <= view.last else { return batch }
            for position in first...view.last {
                guard let record = try view.get(view.tables.log, position) else { continue }
                batch.bytes += Array(record)
                batch.ends.append(batch.bytes.count)
            }
            return batch
        }
    }
}
