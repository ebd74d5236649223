extension EventLog {
    /// The tail as the log says it: from the index's checkpoint to the end.
    func freshTail(_ transaction: borrowing some Reading & ~Copyable) throws -> Tail {
        let tables = environment.tables
        let last = try Self.last(transaction, tables)
        let checkpoint = try IndexCheckpoint.read(tables, transaction, last: last)
        let base = checkpoint?.position ?? 0
        var tail = Tail(
            base: base, userCount: checkpoint?.users ?? 0, lastRecordedAt: try recordedAt(base, transaction))
        try fill(&tail, to: last, transaction)
        tail.acceptErasures()
        return tail
    }

    /// When the record at `position` was recorded; if it is damaged, the one before it, which is no later.
    func recordedAt(_ position: UInt64, _ transaction: borrowing some Reading & ~Copyable) throws -> Int64 {
        var position = position
        while position > 0 {
            if let record = try transaction.get(environment.tables.log, position),
                RecordHeader.hasRightChecksum(record), let header = RecordHeader(record)
            {
                return header.recordedAt
            }
            position -= 1
        }
        return 0
    }

    /// Adds the log's records up to `last` to `tail`. Nobody has looked at them in this process: each checksum is compared.
    func fill(_ tail: inout Tail, to last: UInt64, _ transaction: borrowing some Reading & ~Copyable) throws {
        if tail.last >= last { return }
        try transaction.withCursor(environment.tables.log) { cursor in
            var row = try cursor.seek(tail.last + 1)
            while tail.last < last {
                guard let found = row, found.key.number == tail.last + 1 else {
                    throw StorageError.damaged(place: "position \(tail.last + 1) of the log is missing")
                }
                let header = RecordHeader(found.value)
                if let header, RecordHeader.hasRightChecksum(found.value) {
                    tail.add(header)
                } else {
                    tail.addDamaged(try header.flatMap { try fits($0, tail, transaction) ? $0 : nil })
                }
                row = try cursor.next()
            }
        }
    }

    /// Whether a damaged record's header is that of the next event of a user who exists, or of the next new user.
    private func fits(
        _ header: RecordHeader, _ tail: borrowing Tail, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> Bool {
        guard header.user <= tail.userCount + 1, header.version > 0 else { return false }
        if let version = tail.lastVersion(of: header.user) { return header.version - 1 == version }
        if tail.base == 0 { return header.version == 1 }
        let indexed = LogView(
            tail: self.tail, tables: environment.tables, nameTable: names, checkpoint: tail.base, last: tail.base)
        var streams = try Cursor(transaction.handle, environment.tables.streams)
        return try indexed.storedVersion(of: header.user, among: tail.usersAtBase, &streams) == header.version - 1
    }
}

extension Tail {
    /// The record at `position` fails its checksum. It is `user`'s; nil if nobody can tell whose.
    struct Damage {
        let position: UInt64
        let user: UInt64?

        var error: StorageError { .damaged(place: "the record at position \(position) fails its checksum") }
    }
}
