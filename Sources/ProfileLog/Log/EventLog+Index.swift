internal import Synchronization

extension EventLog {
    /// Events that the caches are behind at most before they are written, however many users there are.
    static let greatestLag: UInt64 = 1 << 20

    /// Events that the caches may be behind before they are written: as many as there are users, so that a flush, which touches
    /// nearly every page of `streams`, is paid for by as many events.
    func lagLimit(_ users: UInt64) -> Int {
        max(options.indexLag, Int(min(users, Self.greatestLag)))
    }

    /// Writes a slice of the caches if they lag by more than they may, so that no commit waits for more than a slice.
    func writeIndexIfDue() {
        let (lag, users) = tail.withReading { ($0.entries.count, $0.userCount) }
        let limit = lagLimit(users)
        let isUnderWay = flush.withLock { $0 != nil }
        do {
            if lag >= limit || isUnderWay { try writeIndexSlice(takesOver: lag >= 2 * limit) }
        } catch let error as StorageError where error.isDamage {
            // A cache that cannot be continued is made anew; what is damaged in the log itself refuses that too, and stays named.
            try? rebuildCaches()
        } catch {
            // Tried again after the next commit.
        }
        // What is not kept is folded by who reads it.
        try? keepStatesIfDue()
    }

    /// Writes the caches up to the log's end: rows in key order, then the checkpoint, in one transaction; then the states over the whole
    /// store, for which nobody who writes has to wait.
    ///
    /// Caches can lag without harm, so a failure here loses nothing: the next one catches up.
    public func writeIndex() throws {
        try writing.withLock { _ in try writeIndexAlone() }
        for projection in projections where projection.scope == .store { try keepState(projection) }
    }

    /// Writes the caches up to where the log ends now, a slice at a time, so that no commit waits for more than a slice.
    func writeIndexInSlices() throws {
        repeat { try writeIndexSlice(takesOver: true) } while flush.withLock { $0 != nil }
    }

    /// Writes the caches and the states over the whole store before the log is closed, so that who opens it next finds little to fold.
    func writeBeforeClosing() throws {
        try writeIndexInSlices()
        try keepStates()
    }

    /// Writes the caches up to the log's end, for a caller who holds `writing`.
    func writeIndexAlone() throws {
        flush.withLock { $0 = nil }
        try environment.withWriteTransaction { transaction in
            let view = try catchUpWriting(transaction)
            if view.last == view.checkpoint { return }
            var flush = IndexFlush(view, recordedAt: try recordedAt(view.last, transaction))
            _ = try write(&flush, limit: .max, transaction)
        }
        try environment.withReadTransaction { try rebuildTail($0) }
    }

    /// Begins a flush, or writes the next slice of the one that is under way; the last slice moves the checkpoint, and the tail that has
    /// gathered behind it meanwhile takes the place of the one that is written.
    ///
    /// Rows beyond the checkpoint are ignored until then. The mark in `checkpoints` says whose flush it is: two processes whose slices
    /// alternate would leave rows that end at different positions. Who finds another's mark leaves the work to it, unless `takesOver`.
    private func writeIndexSlice(takesOver: Bool) throws {
        try writing.withLock { _ in
            var known = flush.withLock { $0 }
            var isFinished = false
            do {
                try environment.withWriteTransaction { transaction in
                    let now = try catchUpWriting(transaction)
                    let mark = try transaction.get(now.tables.checkpoints, IndexFlush.key).map(Array.init)
                    if let flush = known,
                        flush.mark != mark || flush.tail !== now.tail || flush.checkpoint != now.checkpoint
                    {
                        known = nil
                    }
                    if known == nil {
                        if now.last == now.checkpoint || (mark != nil && !takesOver) { return }
                        known = IndexFlush(now, recordedAt: try recordedAt(now.last, transaction))
                    }
                    guard var flush = known else { return }
                    try flush.successor.withWriting { try fill(&$0, to: now.last, transaction) }
                    isFinished = try write(&flush, limit: options.usersPerIndexSlice, transaction)
                    known = flush
                }
            } catch {
                flush.withLock { $0 = nil }
                throw error
            }
            flush.withLock { $0 = isFinished ? nil : known }
            if isFinished { areStatesDue.withLock { $0 = true } }
            if let successor = known?.successor, isFinished {
                if successor.withReading({ $0.damage.isEmpty }) {
                    replaceTail(successor)
                } else {
                    // Whose a damaged record is can be told now that all rows are there.
                    try environment.withReadTransaction { try rebuildTail($0) }
                }
            }
        }
    }

    /// Writes the next rows of `flush`, some `limit` of them. Answers whether all are written, and the checkpoint with them.
    private func write(
        _ flush: inout IndexFlush, limit: Int, _ transaction: borrowing WriteTransaction
    ) throws -> Bool {
        let tables = environment.tables
        let tail = flush.tail
        let view = LogView(
            tail: tail, tables: tables, nameTable: names, checkpoint: flush.checkpoint, last: flush.target)
        let writer = IndexWriter(view: view)
        if flush.isNew {
            try writer.begin(transaction)
            try transaction.put(tables.checkpoints, IndexFlush.key, flush.mark)
        }
        var room = limit
        while room > 0 {
            switch flush.left {
            case .streams(let next):
                let users = tail.withReading { $0.usersTouched(from: next, limit: room) }
                try tail.withReading { try writer.writeStreams(of: users, $0, transaction) }
                room -= users.count
                flush.left = room > 0 ? .snapshots(from: 0) : .streams(from: users[users.count - 1] + 1)
            case .snapshots(let next):
                let users =
                    options.snapshotInterval == 0
                    ? [] : tail.withReading { $0.usersTouched(from: next, limit: room) }
                try writeSnapshots(of: users, view, transaction)
                room -= users.count
                let identifiers = room > 0 ? tail.withReading { writer.newIdentifiers($0) } : []
                flush.left = room > 0 ? .identifiers(identifiers[...]) : .snapshots(from: users[users.count - 1] + 1)
            case .identifiers(let identifiers):
                let next = identifiers.prefix(room)
                try tail.withReading { try writer.writeIdentifiers(next, $0, transaction) }
                room -= next.count
                let contacts = room > 0 ? tail.withReading { writer.newContacts($0) } : []
                flush.left = room > 0 ? .contacts(contacts[...]) : .identifiers(identifiers.dropFirst(next.count))
            case .contacts(let contacts):
                let next = contacts.prefix(room)
                try writer.writeContacts(next, transaction)
                room -= next.count
                let keys = room > 0 ? tail.withReading { writer.newKeys($0) } : []
                flush.left = room > 0 ? .keys(keys[...]) : .contacts(contacts.dropFirst(next.count))
            case .keys(let keys):
                let next = keys.prefix(room)
                try writer.writeKeys(next, transaction)
                room -= next.count
                flush.left = room > 0 ? .rest : .keys(keys.dropFirst(next.count))
            case .rest:
                try tail.withReading { try writer.end($0, transaction) }
                return true
            }
        }
        return false
    }
}
