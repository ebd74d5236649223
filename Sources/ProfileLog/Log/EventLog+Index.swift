internal import Synchronization

/// When the caches are written: behind commits, before the log is closed, and whenever somebody asks for it.
extension EventLog {
    /// Events that the caches may be behind before they are written: as many as there are users, so that a flush, which touches
    /// nearly every page of `streams`, is paid for by as many events.
    func lagLimit(_ users: UInt64) -> Int {
        max(options.indexLag, Int(min(users, options.greatestLag)))
    }

    /// Writes a slice of the caches if they lag by more than they may: what comes to commit meanwhile waits for it.
    ///
    /// Two slices and more when the lag is three times as long as it may be and more, so that a flush reaches its end, however much each
    /// commit brings and however short processes live.
    func writeIndexIfDue() {
        var found: CheckpointRow?
        do {
            let slices = try slicesDue()
            if slices > 0 { found = try environment.withReadTransaction { try checkpointRow($0) } }
            for _ in 0..<slices {
                if try writing.withLock({ _ in try writeIndexSlice() }) { break }
            }
        } catch let error as StorageError where error.isDamage {
            // A cache that cannot be continued is made anew; what is damaged in the log itself refuses that too, and stays named.
            if mayRemakeCaches.withLock({ $0 }) { try? remakeCaches(ifStill: found) }
        } catch {
            // Tried again after the next commit.
        }
        // What is not kept is folded by who reads it.
        try? keepStatesIfDue()
    }

    /// How many slices are to be written behind a commit.
    private func slicesDue() throws -> Int {
        func lag() -> (events: Int, limit: Int) {
            tail.withReading { ($0.entries.count, lagLimit($0.userCount)) }
        }
        let isUnderWay = flush.withLock { $0 != nil }
        var (events, limit) = lag()
        if events < limit, !isUnderWay { return 0 }
        // Another process may have written what this one has gathered.
        if try writing.withLock({ _ in try trimTail() }) { (events, limit) = lag() }
        return events < limit && flush.withLock({ $0 == nil }) ? 0 : max(1, events / limit - 1)
    }

    /// Writes the caches up to the log's end: rows in key order, then the checkpoint, in one transaction (in several if there is more than they
    /// ever lag by); then the states over the whole store, for which nobody who writes has to wait.
    ///
    /// Caches can lag without harm, so a failure here loses nothing: the next one catches up.
    public func writeIndex() throws {
        try writing.withLock { _ in try writeIndexAlone() }
        for projection in projections where projection.scope == .store { try keepState(projection) }
    }

    /// Writes the caches up to where the log ends now, a slice at a time, so that other processes, and other threads of this one, may commit
    /// between two slices.
    func writeIndexInSlices() throws {
        let end = try lastPosition().rawValue
        while try checkpoint() < end { _ = try writing.withLock { _ in try writeIndexSlice() } }
    }

    /// Writes the caches and the states over the whole store before the log is closed, so that who opens it next finds little to fold.
    func writeBeforeClosing() throws {
        try writeIndexInSlices()
        try keepStates()
    }

    /// Writes the caches up to where the log ends now, a flush in a transaction, for a caller who holds `writing`.
    func writeIndexAlone() throws {
        let end = try lastPosition().rawValue
        while try checkpoint() < end { _ = try writeIndexSlice(rows: .max) }
    }

    /// How far the caches reach.
    private func checkpoint() throws -> UInt64 {
        try environment.withReadTransaction { transaction in
            let last = try Self.last(transaction, environment.tables)
            return try IndexCheckpoint.position(environment.tables, transaction, last: last)
        }
    }
}
