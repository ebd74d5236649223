/// Copies a log into another store, record by record: the copy has the same positions, times, names and rows of `meta`.
package struct LogCopier {
    let source: EventLog
    /// Tells whether the copy takes the place of the source, and so its place in a cluster. Another copy is of no
    /// cluster: it may end before the batch that the place names.
    var keepsPlace = false

    /// As `EventLog.replay(into:until:latest:progress:)`.
    func copy(
        into path: String, until: Position? = nil, latest: Timestamp? = nil,
        progress: (LogProgress) -> Bool = { _ in true }
    ) throws -> ReplayReport {
        let clock = ContinuousClock()
        let begin = clock.now
        let end = try min(source.lastPosition(), until ?? Position(rawValue: .max)).rawValue
        let target = try Self.copying(into: path) { try emptyCopy(in: path) }
        guard target.environment !== source.environment else {
            throw AppendError.invalid(place: "The target", reason: "is the store itself; name another folder")
        }
        // Erasures from here on are found after the copy, whatever the target has by then.
        let beginning = try source.lastPosition()
        try refuseForeign(target, upTo: end)
        let isComplete = try Self.copying(into: path) { try copy(to: end, into: target, latest: latest, progress) }
        if try source.reader.events.hasErasure(after: beginning) { throw Self.outdatedCopy }
        let elapsed = clock.now - begin
        var report = try target.replay(verify: isComplete)
        report.elapsed = elapsed
        report.isComplete = isComplete
        return report
    }

    /// Opens the store in `folder`; a new one gets this store's rows of table `meta`.
    func emptyCopy(in folder: String) throws -> EventLog {
        let rows = try source.environment.withReadTransaction {
            try meta(source.environment.tables, $0, upTo: .start)
        }
        var options = source.options
        // Its batches come from the source, whatever the source's own transport is.
        options.transport = keepsPlace ? CopyTransport() : LocalTransport()
        return try EventLog(
            path: folder, create: true, options: options, projections: source.store.projections,
            creation: CommitBatch(meta: rows))
    }

    /// The rows of table `meta` of a copy that ends at `last`.
    private func meta(
        _ tables: Tables, _ transaction: borrowing some Reading & ~Copyable, upTo last: Position
    ) throws -> [CommitBatch.MetaRow] {
        let rows = try CommitBatch.meta(tables, transaction, upTo: last)
        return keepsPlace ? rows : CommitBatch.aloneMeta(rows)
    }

    private static let outdatedCopy = AppendError.invalid(
        place: "The copy", reason: "holds what was erased during the copy; remove its folder and begin again")

    /// Runs `body`, which writes a copy into `folder`. Its errors are those of a copy, not of an append.
    package static func copying<Result>(into folder: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch StorageError.diskFull, StorageError.system(_, StorageError.noSpaceCode),
            StorageError.unreachable(_, StorageError.noSpaceCode)
        {
            throw StorageError.copyFull(path: folder)
        } catch AppendError.outcomeUnknown(let code) {
            if code == StorageError.noSpaceCode { throw StorageError.copyFull(path: folder) }
            throw StorageError.system(operation: "copy", code: code)
        }
    }

    private func copy(
        to end: UInt64, into target: EventLog, latest: Timestamp?, _ progress: (LogProgress) -> Bool
    ) throws -> Bool {
        var position = try target.lastPosition().rawValue
        while position < end {
            position = try copyBatch(from: position + 1, to: min(end, position + 8192), into: target, latest)
            if !progress(LogProgress(stage: "copy", done: position, total: end)) { break }
        }
        try target.writeIndex()
        return position >= end
    }

    /// Refuses a target that does not hold a beginning of this log.
    private func refuseForeign(_ target: EventLog, upTo end: UInt64) throws {
        let last = try target.lastPosition().rawValue
        guard target.storeID == source.storeID, last <= end else {
            throw AppendError.invalid(
                place: "The target", reason: "holds another log, or more of this one; name an empty folder")
        }
        if last == 0 { return }
        if try source.reader.events.hasErasure(after: Position(rawValue: last)), try !isBeginning(target, to: last) {
            throw Self.outdatedCopy
        }
        let records = try [target, source].map { log in
            try log.environment.withReadTransaction { try $0.get(log.environment.tables.log, last).map(Array.init) }
        }
        guard records[0] == records[1] else {
            throw AppendError.invalid(place: "The target", reason: "holds another log; name an empty folder")
        }
    }

    /// Tells whether the records of `target` up to `last` and its names equal those here: an erasure before the copy
    /// began leaves them equal.
    private func isBeginning(_ target: EventLog, to last: UInt64) throws -> Bool {
        let count = target.names.count
        guard count <= source.names.count,
            (0..<count).allSatisfy({ target.names.name($0 + 1) == source.names.name($0 + 1) })
        else { return false }
        return try source.withView { view in
            try target.withView { copy in
                try view.withCursor(view.tables.log) { ours in
                    try copy.withCursor(copy.tables.log) { theirs in
                        var (row, other) = try (ours.first(), theirs.first())
                        for _ in 0..<last {
                            guard let left = row, let right = other, left.value.hasSameBytes(as: right.value) else {
                                return false
                            }
                            (row, other) = try (ours.next(), theirs.next())
                        }
                        return true
                    }
                }
            }
        }
    }

    /// Copies the records from `from` to `to`, or as many as fit into one commit. Returns the last copied position.
    private func copyBatch(from: UInt64, to: UInt64, into target: EventLog, _ latest: Timestamp?) throws -> UInt64 {
        let batch = try source.withView { view -> CommitBatch in
            let known = target.names.count
            var most = known
            var batch = CommitBatch(firstPosition: from, firstName: known + 1)
            try OpenStore.scanRecords(view.tables, from: from, to: to, view) { position, record in
                if batch.bytes.count + record.count > Limits.bytesPerCommit, batch.count > 0 { return false }
                let header = try RecordHeader(record, at: position)
                RecordBody(header.body)?.forEachName(header.kind) { most = max(most, $0) }
                if let latest = latest?.rawValue, header.recordedAt > latest {
                    batch.bytes += header.record(recordedAt: latest)
                } else {
                    batch.bytes.append(contentsOf: record)
                }
                batch.ends.append(batch.bytes.count)
                return true
            }
            // Names are numbered in the order of their first use. Greater numbers are first used after the copied
            // records, maybe by a user who is not in the copy. Smaller ones may be too, if their first user was erased.
            if from + UInt64(batch.count) > view.last {
                most = max(most, UInt32(try view.count(view.tables.names)))
            }
            batch.meta = try meta(view.tables, view, upTo: Position(rawValue: from + UInt64(batch.count) - 1))
            batch.names = known < most ? (known + 1...most).compactMap { source.names.name($0) } : []
            return batch
        }
        try target.committer.apply(batch)
        return from + UInt64(batch.count) - 1
    }

    // MARK: - Compacting

    /// Writes the whole store into a new one in `folder`, which is closed on return. Returns its used bytes; nil if
    /// `progress` stopped the work.
    func rewritten(in folder: String, _ progress: (LogProgress) -> Bool) throws -> UInt64? {
        var target: EventLog? = try emptyCopy(in: folder)
        guard let log = target, try copy(to: source.lastPosition().rawValue, into: log, latest: nil, progress) else {
            return nil
        }
        let bytes = log.environment.usedBytes
        target = nil
        return bytes
    }
}

/// The report of a compaction.
package struct Compaction: Hashable, Sendable {
    /// Bytes of the file that were in use, free pages included.
    package var bytesBefore: UInt64
    /// Bytes that the new file uses.
    package var bytesAfter: UInt64
    /// Tells whether it was done; false if the caller stopped it, and the store is unchanged.
    package var isComplete: Bool
}
