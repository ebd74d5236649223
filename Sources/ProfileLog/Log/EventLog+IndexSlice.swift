internal import Synchronization

/// A flush of the caches, slice by slice. All of it is for callers who hold `writing`.
extension EventLog {
    /// Begins a flush, or writes the next slice of the one that is under way, whoever began it: `rows` rows at most. The last slice moves the
    /// checkpoint, and the tail that has gathered behind it meanwhile takes the place of the one that is written.
    ///
    /// Answers whether that was the last one.
    func writeIndexSlice(rows: Int? = nil) throws -> Bool {
        // Known again only if nothing fails: the row tells where to go on.
        var flush = self.flush.withLock { flush in
            defer { flush = nil }
            return flush
        }
        try environment.withReadTransaction { flush = try prepare(flush, rows, $0) }
        var isFinished = true
        try environment.withWriteTransaction { transaction in
            let now = try catchUpWriting(transaction)
            guard var current = try continued(flush, now, transaction) ?? begun(now, transaction) else {
                return flush = nil
            }
            try current.successor.withWriting { try fill(&$0, to: now.last, transaction) }
            isFinished = try write(&current, rows: rows, transaction)
            flush = current
        }
        guard let flush else { return true }
        if isFinished {
            areStatesDue.withLock { $0 = true }
            try adopt(flush.successor)
        } else {
            self.flush.withLock { $0 = flush }
        }
        return isFinished
    }

    /// Does what a slice needs and what needs no write transaction: others may commit meanwhile.
    private func prepare(
        _ known: IndexFlush?, _ rows: Int?, _ transaction: borrowing ReadTransaction
    ) throws -> IndexFlush? {
        guard let now = try catchUp(transaction), var flush = try continued(known, now, transaction) else { return nil }
        try flush.successor.withWriting { try fill(&$0, to: now.last, transaction) }
        if !flush.hasRows { flush.findRows(rows ?? 0) }
        return flush
    }

    /// The flush that is under way, as far as it has come; nil if none is.
    private func continued(
        _ known: IndexFlush?, _ now: LogView, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> IndexFlush? {
        let progress = try FlushProgress.known(now.tables, transaction, checkpoint: now.checkpoint, last: now.last)
        guard let progress else { return nil }
        if var flush = known, flush.tail === now.tail, flush.progress.isSameFlush(as: progress) {
            flush.moveOn(to: progress)
            return flush
        }
        return try flush(progress, now.tail, transaction)
    }

    /// A flush of what is behind the checkpoint; nil if nothing is.
    private func begun(_ now: LogView, _ transaction: borrowing WriteTransaction) throws -> IndexFlush? {
        if now.last == now.checkpoint { return nil }
        return try flush(try progress(from: now.checkpoint, to: now.last, transaction), now.tail, transaction)
    }

    /// A flush of `tail` that goes on at `progress`.
    func flush(
        _ progress: FlushProgress, _ tail: Guarded<Tail>, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> IndexFlush {
        IndexFlush(
            progress, tail, recordedAt: try recordedAt(progress.target, transaction),
            snapshotInterval: options.snapshotInterval)
    }

    /// The flush that is under way from `checkpoint` in a log that ends at `last`; if none is, one that begins.
    func progress(
        from checkpoint: UInt64, to last: UInt64, _ transaction: borrowing WriteTransaction
    ) throws -> FlushProgress {
        let tables = environment.tables
        if let known = try FlushProgress.known(tables, transaction, checkpoint: checkpoint, last: last) { return known }
        // What lies there without a checkpoint was laid out by another revision, or is damaged.
        if checkpoint == 0 { try transaction.clearCaches(tables) }
        let begun = FlushProgress(checkpoint: checkpoint, target: min(last, checkpoint + options.greatestLag))
        try transaction.put(tables.checkpoints, FlushProgress.key, begun.bytes)
        return begun
    }

    /// Writes the next rows of `flush`: `rows` at most, or as many as the slices before give reason for. They are learnt from by the time that
    /// their rows took, as neither the wait for the write lock nor a slow disk is of their making.
    ///
    /// Answers whether all are written, and the checkpoint with them.
    func write(_ flush: inout IndexFlush, rows: Int? = nil, _ transaction: borrowing WriteTransaction) throws -> Bool {
        if let rows { return try writeRows(of: &flush, rows, transaction) }
        let (begin, rows) = sliceSize.withLock { ($0.now(), $0.rows) }
        let isFinished = try writeRows(of: &flush, rows, transaction)
        if !isFinished { sliceSize.withLock { $0.learn(since: begin) } }
        return isFinished
    }

    private func writeRows(
        of flush: inout IndexFlush, _ size: Int, _ transaction: borrowing WriteTransaction
    ) throws -> Bool {
        let view = LogView(
            tail: flush.tail, tables: environment.tables, nameTable: names, checkpoint: flush.progress.checkpoint,
            last: flush.progress.target)
        let writer = IndexWriter(view: view)
        var room = size
        while room > 0 {
            let stage = flush.progress.stage
            if !flush.hasRows {
                // A look at much is for the time before the next slice.
                if size < flush.candidates, flush.candidates > IndexFlush.quicklyFound { break }
                flush.findRows(size)
            }
            let rowCost = flush.rowCost
            let rows = flush.takeRows(max(1, room / rowCost))
            if rows.isEmpty, flush.hasRows, !flush.beginNextStage() {
                try writer.end(transaction)
                return true
            }
            room -= rows.count * rowCost
            if stage == .snapshots {
                try writeSnapshots(of: rows.map { UInt64($0) }, view, transaction)
            } else {
                try flush.tail.withReading { try writer.write(rows, of: stage, $0, transaction) }
            }
        }
        try transaction.put(environment.tables.checkpoints, FlushProgress.key, flush.progress.bytes)
        return false
    }

    /// Lets the tail begin with what is behind the checkpoint.
    private func adopt(_ successor: Guarded<Tail>) throws {
        if successor.withReading({ $0.damage.isEmpty }) {
            replaceTail(successor)
        } else {
            // Whose a damaged record is can be told now that all rows are there.
            try environment.withReadTransaction { try rebuildTail($0) }
        }
    }

    /// Takes out of the tail what another process has written into the caches, and answers whether it did.
    func trimTail() throws -> Bool {
        try environment.withReadTransaction { transaction in
            let last = try Self.last(transaction, environment.tables)
            let index = try IndexCheckpoint.read(environment.tables, transaction, last: last)
            guard let checkpoint = index?.position, tail.withReading({ $0.base < checkpoint }) else { return false }
            let known = flush.withLock { flush in
                defer { flush = nil }
                return flush
            }
            if let known, known.tail === tail, known.progress.target == checkpoint {
                try adopt(known.successor)
            } else {
                try rebuildTail(transaction)
            }
            return true
        }
    }
}
