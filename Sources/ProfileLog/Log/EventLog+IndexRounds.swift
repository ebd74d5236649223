internal import Synchronization

/// Caches that are further behind the log than they ever lag, as when they are made anew, are written in rounds: each is a flush from a tail
/// of its own, which holds no more than it writes.
extension EventLog {
    /// Brings the caches so near to the log's end that a tail holds the rest.
    func writeIndexInRounds() throws {
        while let round = try nextRound() { try write(round) }
    }

    /// Gives a round its place in table `checkpoints`, or takes up the one that is there, and reads what it needs. Nil if none is needed.
    private func nextRound() throws -> IndexFlush? {
        guard let progress = try writing.withLock({ _ in try progressOfRound() }) else { return nil }
        return try environment.withReadTransaction { transaction in
            let index = try IndexCheckpoint.read(environment.tables, transaction, last: progress.target)
            let begin = progress.checkpoint
            var tail = Tail(
                base: begin, userCount: index?.users ?? 0, lastRecordedAt: try recordedAt(begin, transaction))
            try fill(&tail, to: progress.target, transaction)
            if let damage = tail.damage.first { throw damage.error }
            return try flush(progress, Guarded(tail), transaction)
        }
    }

    private func progressOfRound() throws -> FlushProgress? {
        let isNeeded = try environment.withReadTransaction { try isRoundNeeded($0) }
        guard isNeeded else { return nil }
        return try environment.withWriteTransaction { transaction in
            try forgetErasedNames(transaction)
            try loadNames(transaction)
            if let damage = names.damage { throw damage }
            guard try isRoundNeeded(transaction) else { return nil }
            let last = try Self.last(transaction, environment.tables)
            let checkpoint = try IndexCheckpoint.position(environment.tables, transaction, last: last)
            return try progress(from: checkpoint, to: last, transaction)
        }
    }

    private func isRoundNeeded(_ transaction: borrowing some Reading & ~Copyable) throws -> Bool {
        let last = try Self.last(transaction, environment.tables)
        let checkpoint = try IndexCheckpoint.position(environment.tables, transaction, last: last)
        return last - checkpoint > 2 * options.greatestLag
    }

    /// Writes a round to its end, unless others have brought it there, or dropped the caches.
    private func write(_ round: IndexFlush) throws {
        var flush = round
        var isDone = false
        while !isDone {
            if !flush.hasRows { flush.findRows(0) }
            try writing.withLock { _ in
                try environment.withWriteTransaction { transaction in
                    let tables = environment.tables
                    let last = try Self.last(transaction, tables)
                    let checkpoint = try IndexCheckpoint.position(tables, transaction, last: last)
                    let progress = try FlushProgress.known(tables, transaction, checkpoint: checkpoint, last: last)
                    guard let progress, progress.isSameFlush(as: flush.progress) else { return isDone = true }
                    flush.moveOn(to: progress)
                    isDone = try write(&flush, transaction)
                }
            }
        }
    }
}
