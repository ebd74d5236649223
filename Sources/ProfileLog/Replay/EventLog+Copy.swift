extension EventLog {
    /// Replays the log into the store in the folder `path`, which becomes identical: same records, positions, times and names.
    ///
    /// The folder is made if it does not exist. A copy that was stopped goes on where it stopped; a store that holds anything else is
    /// refused. Each step is durable before the next. `progress` may stop the work by answering false.
    ///
    /// With `latest`, an event with a later time gets that time in the copy: the clock was ahead when it was recorded
    /// (docs/decisions/0007). Such a copy goes on only in one run.
    package func replay(
        into path: String, until: Position? = nil, latest: Timestamp? = nil,
        progress: (LogProgress) -> Bool = { _ in true }
    ) throws -> ReplayReport {
        let clock = ContinuousClock()
        let begin = clock.now
        let end = try min(lastPosition(), until ?? Position(rawValue: .max)).rawValue
        let target = try Self.copying(into: path) { try emptyCopy(in: path) }
        guard target.environment !== environment else {
            throw AppendError.invalid(place: "The target", reason: "is the store itself; name another folder")
        }
        // What is erased from here on is found behind the copy, whatever of it the target has already.
        let beginning = try lastPosition()
        try refuseForeign(target, upTo: end)
        let isComplete = try Self.copying(into: path) { try copy(to: end, into: target, latest: latest, progress) }
        if try hasErasure(behind: beginning) { throw Self.outdatedCopy }
        let elapsed = clock.now - begin
        var report = try target.replay(verify: isComplete)
        report.elapsed = elapsed
        report.isComplete = isComplete
        return report
    }

    /// Opens the store in `folder`; a new one gets this store's rows of table `meta`.
    func emptyCopy(in folder: String) throws -> EventLog {
        let meta = try environment.withReadTransaction { try CommitBatch.meta(environment.tables, $0) }
        return try EventLog(
            path: folder, create: true, options: options, projections: projections, creation: CommitBatch(meta: meta))
    }

    /// Whether somebody was erased behind `position`.
    package func hasErasure(behind position: Position) throws -> Bool {
        let filter = EventFilter(kinds: [.userErased])
        var next = position.next
        while true {
            let page = try events(from: next, limit: 1, where: filter)
            if !page.events.isEmpty { return true }
            if page.scanned >= page.last { return false }
            next = page.scanned.next
        }
    }

    private static let outdatedCopy = AppendError.invalid(
        place: "The copy", reason: "holds what was erased meanwhile; remove its folder and begin anew")

    /// Runs `body`, which writes a copy into `folder`: nobody waits for the answer to an append, so its failures are those of the copy.
    static func copying<Result>(into folder: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch StorageError.diskFull, CommitFailure.refused(.diskFull) {
            throw StorageError.copyFull(path: folder)
        } catch CommitFailure.refused(let error) {
            throw error
        } catch CommitFailure.unknown(let code) {
            if code == StorageError.noSpaceCode { throw StorageError.copyFull(path: folder) }
            throw StorageError.system(operation: "copy", code: code)
        }
    }

    /// Copies all records into `target`. False if `progress` stopped the work.
    func copyAll(into target: EventLog, _ progress: (LogProgress) -> Bool) throws -> Bool {
        try copy(to: lastPosition().rawValue, into: target, latest: nil, progress)
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

    /// The target must hold a beginning of this very log.
    private func refuseForeign(_ target: EventLog, upTo end: UInt64) throws {
        let last = try target.lastPosition().rawValue
        guard target.storeID == storeID, last <= end else {
            throw AppendError.invalid(
                place: "The target", reason: "holds another log, or more of this one; name an empty folder")
        }
        if last == 0 { return }
        if try hasErasure(behind: Position(rawValue: last)), try !isBeginning(target, to: last) {
            throw Self.outdatedCopy
        }
        let theirs = try target.environment.withReadTransaction {
            try $0.get(target.environment.tables.log, last).map(Array.init)
        }
        let ours = try environment.withReadTransaction { try $0.get(environment.tables.log, last).map(Array.init) }
        guard theirs == ours else {
            throw AppendError.invalid(place: "The target", reason: "holds another log; name an empty folder")
        }
    }

    /// Whether the records of `target`, of which the last is at `last`, and its names are what they are here by now: an erasure that came
    /// before the copy began left nothing to be taken out of it.
    private func isBeginning(_ target: EventLog, to last: UInt64) throws -> Bool {
        let count = target.names.count
        guard count <= names.count, (0..<count).allSatisfy({ target.names.name($0 + 1) == names.name($0 + 1) })
        else { return false }
        return try withView { view, transaction in
            try target.withView { copy, copied in
                try transaction.withCursor(view.tables.log) { ours in
                    try copied.withCursor(copy.tables.log) { theirs in
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

    /// Copies the records from `from` to `to`, or as many of them as one commit holds. Answers the last position that it copied.
    private func copyBatch(
        from: UInt64, to: UInt64, into target: EventLog, _ latest: Timestamp?
    ) throws -> UInt64 {
        let batch = try withView { view, transaction -> CommitBatch in
            let known = target.names.count
            var most = known
            var batch = CommitBatch(firstPosition: from, firstName: known + 1)
            batch.meta = try CommitBatch.meta(view.tables, transaction)
            try transaction.withCursor(view.tables.log) { cursor in
                var row = try cursor.seek(from)
                var expected = from
                while let found = row, expected <= to {
                    let isFull = batch.bytes.count + found.value.count > Limits.bytesPerCommit
                    if isFull, batch.count > 0 { break }
                    guard found.key.number == expected, RecordHeader.hasRightChecksum(found.value) else {
                        throw StorageError.damaged(place: "the record at position \(expected) fails its checksum")
                    }
                    let header = try RecordHeader(found.value, at: expected)
                    RecordBody(header.body)?.forEachName(header.kind) { most = max(most, $0) }
                    if let latest = latest?.rawValue, header.recordedAt > latest {
                        batch.bytes += header.record(recordedAt: latest)
                    } else {
                        batch.bytes.append(contentsOf: found.value)
                    }
                    batch.ends.append(batch.bytes.count)
                    expected += 1
                    row = try cursor.next()
                }
            }
            // Names have their numbers in the order of their first use. Those of greater numbers are used behind the copy alone, maybe by
            // somebody who is not in it; those of smaller ones may be, if who used them first was erased.
            if from + UInt64(batch.count) > view.last {
                most = max(most, UInt32(try transaction.count(view.tables.names)))
            }
            batch.names = known < most ? (known + 1...most).compactMap { names.name($0) } : []
            return batch
        }
        guard batch.count > 0 else { throw StorageError.damaged(place: "position \(from) of the log is missing") }
        try target.apply(batch)
        return from + UInt64(batch.count) - 1
    }
}
