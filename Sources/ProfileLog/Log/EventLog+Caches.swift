internal import Synchronization

extension EventLog {
    /// Drops every cache and writes it anew from the log. The log, the names and what they say are untouched.
    ///
    /// Costs some microseconds for each event of the log, in rounds of 2^20 events. Other processes commit between their slices, and so do other
    /// threads, unless they wait for a `LogWriter` that makes the caches anew itself. Who reads or commits meanwhile holds in memory what
    /// no round has reached. Drops nothing if the log is damaged: the caches then know of records that cannot be indexed again.
    package func rebuildCaches() throws {
        try remakeCaches()
        try writeIndex()
    }

    /// As `rebuildCaches`, without the states over the whole store: they are folded behind the commits that follow.
    func remakeCaches(ifStill found: CheckpointRow? = nil) throws {
        try dropCaches(ifStill: found)
        try writeIndexInRounds()
        try writeIndexInSlices()
    }

    /// Empties the tables that can be made from the log; with `found`, only if the row of the checkpoint is still as it was found by who saw that
    /// the caches cannot be used: while the log is read, another process may bring them in order.
    func dropCaches(ifStill found: CheckpointRow? = nil) throws {
        do {
            try dropIfSound(ifStill: found)
            mayRemakeCaches.withLock { $0 = true }
        } catch let error as StorageError where error.isDamage {
            mayRemakeCaches.withLock { $0 = false }
            throw error
        }
    }

    private func dropIfSound(ifStill found: CheckpointRow?) throws {
        var sound: UInt64 = 0
        try environment.withReadTransaction { sound = try refuseDamagedLog(behind: sound, $0) }
        try writing.withLock { _ in
            var isDropped = false
            try environment.withWriteTransaction { transaction in
                if let found, try checkpointRow(transaction) != found { return }
                try forgetErasedNames(transaction)
                try loadNames(transaction)
                if let damage = names.damage { throw damage }
                _ = try refuseDamagedLog(behind: sound, transaction)
                try transaction.clearCaches(environment.tables)
                isDropped = true
            }
            guard isDropped else { return }
            // Filled by who looks next, from wherever the caches reach by then.
            replaceTail(Guarded(Tail(base: 0, userCount: 0, lastRecordedAt: 0)))
            flush.withLock { $0 = nil }
        }
    }

    func checkpointRow(_ transaction: borrowing some Reading & ~Copyable) throws -> CheckpointRow {
        let tables = environment.tables
        let bytes = try transaction.get(tables.checkpoints, IndexCheckpoint.key).map { Array($0) }
        let last = try Self.last(transaction, tables)
        return CheckpointRow(
            bytes: bytes, isUsable: try IndexCheckpoint.read(tables, transaction, last: last) != nil)
    }

    /// Throws if a record behind `position` fails its checksum or is missing. Answers where the log ends.
    private func refuseDamagedLog(
        behind position: UInt64, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> UInt64 {
        let last = try Self.last(transaction, environment.tables)
        var expected = position + 1
        try transaction.withCursor(environment.tables.log) { cursor in
            var row = try cursor.seek(expected)
            while let found = row, found.key.number == expected {
                guard RecordHeader.hasRightChecksum(found.value), RecordHeader(found.value) != nil else {
                    throw StorageError.damaged(place: "the record at position \(expected) fails its checksum")
                }
                expected += 1
                row = try cursor.next()
            }
        }
        if expected <= last { throw StorageError.damaged(place: "position \(expected) of the log is missing") }
        return last
    }

    /// Caches with a checkpoint that cannot be used, as another revision of this program leaves it, are made anew; caches that are much
    /// further behind than they ever lag are brought nearer to the log's end. So nobody has to hold in memory what they lack.
    func repairCaches() throws {
        let found = try environment.withReadTransaction { try checkpointRow($0) }
        guard found.bytes != nil, !found.isUsable else {
            // Who cannot write holds in memory what the caches lack: reads need none.
            try? writeIndexInRounds()
            return
        }
        do {
            try remakeCaches(ifStill: found)
            try writeIndex()
        } catch StorageError.damaged {
            // Who writes is told what is damaged.
        }
    }
}

/// The row that says how far the caches reach, as somebody found it.
struct CheckpointRow: Hashable {
    /// Nil if there is none.
    let bytes: [UInt8]?
    let isUsable: Bool
}

extension WriteTransaction {
    /// Empties the tables that follow from the others.
    func clearCaches(_ tables: Tables) throws {
        for table in tables.caches { try clear(table) }
    }
}

extension Table.Name {
    /// The tables that follow from the others.
    static let caches = allCases.filter { !$0.isTruth }
}
