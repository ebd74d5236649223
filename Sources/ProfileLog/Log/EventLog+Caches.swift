internal import Synchronization

extension EventLog {
    /// Drops every cache and writes it anew from the log. The log, the names and what they say are untouched.
    ///
    /// Costs some microseconds for each event of the log, in rounds of 2^20 events. Other processes commit between their slices, and so do other
    /// threads, unless they wait for a `LogWriter` that makes the caches anew itself. Who reads or commits meanwhile holds in memory what
    /// no round has reached. Drops nothing if the log is damaged: the caches then know of records that cannot be indexed again.
    public func rebuildCaches() throws {
        try remakeCaches()
        try writeIndex()
    }

    /// As `rebuildCaches`, without the states over the whole store: they are folded behind the commits that follow.
    func remakeCaches() throws {
        try dropCaches()
        try writeIndexInRounds()
        try writeIndexInSlices()
    }

    /// Empties the tables that can be made from the log.
    func dropCaches() throws {
        do {
            try dropIfSound()
            mayRemakeCaches.withLock { $0 = true }
        } catch let error as StorageError where error.isDamage {
            mayRemakeCaches.withLock { $0 = false }
            throw error
        }
    }

    private func dropIfSound() throws {
        var sound: UInt64 = 0
        try environment.withReadTransaction { sound = try refuseDamagedLog(behind: sound, $0) }
        try writing.withLock { _ in
            try environment.withWriteTransaction { transaction in
                try forgetErasedNames(transaction)
                try loadNames(transaction)
                if let damage = names.damage { throw damage }
                _ = try refuseDamagedLog(behind: sound, transaction)
                try transaction.clearCaches(environment.tables)
            }
            // Filled by who looks next, from wherever the caches reach by then.
            replaceTail(Guarded(Tail(base: 0, userCount: 0, lastRecordedAt: 0)))
            flush.withLock { $0 = nil }
        }
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
        let isUnusable = try environment.withReadTransaction { transaction in
            let tables = environment.tables
            guard try transaction.get(tables.checkpoints, IndexCheckpoint.key) != nil else { return false }
            return try IndexCheckpoint.read(tables, transaction, last: Self.last(transaction, tables)) == nil
        }
        guard isUnusable else {
            // Who cannot write holds in memory what the caches lack: reads need none.
            try? writeIndexInRounds()
            return
        }
        do {
            try rebuildCaches()
        } catch StorageError.damaged {
            // Who writes is told what is damaged.
        }
    }
}

extension WriteTransaction {
    /// Empties the tables that follow from the others.
    func clearCaches(_ tables: Tables) throws {
        for name in Table.Name.caches { try clear(tables[name]) }
    }
}

extension Table.Name {
    /// The tables that follow from the others.
    static let caches = allCases.filter { !$0.isTruth }
}
