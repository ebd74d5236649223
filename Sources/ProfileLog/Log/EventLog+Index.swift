internal import Synchronization

extension EventLog {
    /// Events that the caches are behind at most before they are written, however many users there are.
    private static let greatestLag: UInt64 = 1 << 20

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
        if lag < limit, !isUnderWay { return }
        do {
            try writeIndexSlice(takesOver: lag >= 2 * limit)
        } catch StorageError.damaged {
            // A cache that cannot be continued is made anew; what is damaged in the log itself refuses that too, and stays named.
            try? rebuildCaches()
        } catch {
            // Tried again after the next commit.
        }
    }

    /// Writes the caches up to the log's end: rows in key order, then the checkpoint, in one transaction.
    ///
    /// Caches can lag without harm, so a failure here loses nothing: the next one catches up.
    public func writeIndex() throws {
        try writing.withLock { _ in
            flush.withLock { $0 = nil }
            try environment.withWriteTransaction { transaction in
                try writeIndex(upTo: catchUpWriting(transaction), transaction)
            }
            try environment.withReadTransaction { try rebuildTail($0) }
        }
    }

    /// Writes the caches up to the end of `view`. The tail is to be built anew behind the commit.
    func writeIndex(upTo view: LogView, _ transaction: borrowing WriteTransaction) throws {
        if view.last == view.checkpoint { return }
        try view.tail.withReading { tail in
            let writer = IndexWriter(view: view, tail: tail, names: names)
            try writer.begin(transaction)
            try writer.writeStreams(of: tail.usersTouched[...], transaction)
            try writer.end(transaction)
        }
        try writeSnapshots(view, transaction)
        try writeStoreStates(view, transaction)
    }

    /// Begins a flush, or writes the next slice of the one that is under way; the last slice moves the checkpoint.
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
                        known = IndexFlush(now)
                    }
                    guard var flush = known else { return }
                    isFinished = try write(&flush, transaction)
                    known = isFinished ? nil : flush
                }
            } catch {
                flush.withLock { $0 = nil }
                throw error
            }
            flush.withLock { $0 = known }
            if isFinished { try environment.withReadTransaction { try rebuildTail($0) } }
        }
    }

    /// Writes the next slice of `flush`. Answers whether it was the last.
    private func write(_ flush: inout IndexFlush, _ transaction: borrowing WriteTransaction) throws -> Bool {
        let tables = environment.tables
        let view = LogView(
            tail: flush.tail, tables: tables, nameTable: names, checkpoint: flush.checkpoint, last: flush.target)
        let end = min(flush.next + options.usersPerIndexSlice, flush.users.count)
        let isFirst = flush.next == 0
        let isLast = end == flush.users.count
        try view.tail.withReading { tail in
            let writer = IndexWriter(view: view, tail: tail, names: names)
            if isFirst { try writer.begin(transaction) }
            try writer.writeStreams(of: flush.users[flush.next..<end], transaction)
            if isLast { try writer.end(transaction) }
        }
        flush.next = end
        if isLast {
            try writeSnapshots(view, transaction)
            try writeStoreStates(view, transaction)
        } else if isFirst {
            try transaction.put(tables.checkpoints, IndexFlush.key, flush.mark)
        }
        return isLast
    }
}

/// A flush of the index that is cut into transactions.
struct IndexFlush: Sendable {
    /// Where its mark stands in table `checkpoints` while it is under way.
    static let key = Array("flush".utf8)

    /// Tells it from the flush of another process.
    let mark: [UInt8]
    let tail: Guarded<Tail>
    let checkpoint: UInt64
    /// Where the checkpoint will be.
    let target: UInt64
    /// The users whose streams it writes, ascending, and how many are written.
    let users: [UInt64]
    var next = 0

    init(_ view: LogView) {
        var random = SystemRandomNumberGenerator()
        mark = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        tail = view.tail
        checkpoint = view.checkpoint
        target = view.last
        users = view.tail.withReading { $0.usersTouched }
    }
}

/// Brings the caches from a view's checkpoint to its end.
private struct IndexWriter {
    let view: LogView
    let tail: Tail
    let names: NameTable

    func begin(_ transaction: borrowing WriteTransaction) throws {
        // What lies there without a checkpoint was laid out by another revision, or is damaged.
        if view.checkpoint == 0 { try transaction.clearCaches(view.tables) }
    }

    /// Everything but the streams, and the checkpoint.
    func end(_ transaction: borrowing WriteTransaction) throws {
        try writeIdentifiers(transaction)
        try writeContacts(transaction)
        try writeUsers(transaction)
        try writeKeys(transaction)
        try writeDevices(transaction)
        try writePending(transaction)
        let checkpoint = IndexCheckpoint(position: view.last, users: tail.userCount(visibleTo: view.last))
        try transaction.put(view.tables.checkpoints, IndexCheckpoint.key, checkpoint.bytes)
        if try transaction.get(view.tables.checkpoints, IndexFlush.key) != nil {
            try transaction.delete(view.tables.checkpoints, IndexFlush.key)
        }
    }

    private func writeIdentifiers(_ transaction: borrowing WriteTransaction) throws {
        let identifiers = tail.identifiers
        let order = (0..<identifiers.count).sorted { left, right in
            identifiers.withBytes(of: left) { left in
                identifiers.withBytes(of: right) { right in left.order(to: right) < 0 }
            }
        }
        var row = WireWriter()
        var released: [[UInt8]] = []
        try transaction.withCursor(view.tables.identifiers) { cursor in
            for index in order {
                guard let (user, position) = tail.owner(ofIdentifier: index, visibleTo: view.last), isNew(position)
                else { continue }
                try identifiers.withThrowingBytes(of: index) { key in
                    if user == 0 { return released.append(Array(key)) }
                    row.removeAll()
                    row.littleEndian(user.bigEndian)
                    if let type = key.first, type & 0x80 != 0 {
                        // The key is a hash: the row holds the whole identifier too.
                        let ids = (tail.identities[user] ?? []).compactMap(\.given)
                        let id = ids.first { KeyCoding.identifier($0)?.elementsEqual(key) == true }
                        if let id { KeyCoding.identifierRemainder(id).withUnsafeBytes { row.raw($0) } }
                    }
                    row.littleEndian(crc32c(row.bytes))
                    try cursor.put(key, row.bytes)
                }
            }
        }
        for key in released where try transaction.get(view.tables.identifiers, key) != nil {
            try transaction.delete(view.tables.identifiers, key)
        }
    }

    private func writeContacts(_ transaction: borrowing WriteTransaction) throws {
        var keys: [[UInt8]] = []
        for (contact, users) in tail.contacts {
            for (user, position) in users where isNew(position) { keys.append(ContactKey.key(contact, user: user)) }
        }
        keys.sort { $0.lexicographicallyPrecedes($1) }
        try transaction.withCursor(view.tables.contacts) { cursor in
            for key in keys { try cursor.put(key, []) }
        }
    }

    /// Whether a position lies between the checkpoint and the view's end.
    private func isNew(_ position: UInt64) -> Bool { position > view.checkpoint && position <= view.last }

    private func writeUsers(_ transaction: borrowing WriteTransaction) throws {
        var writer = WireWriter()
        let mergedUsers = Set(tail.merges.filter { isNew($0.value.position) }.keys)
        try transaction.withCursor(view.tables.users) { cursor in
            for user in mergedUsers.union(tail.identities.keys).sorted() {
                let changes = (tail.identities[user] ?? []).filter { isNew($0.position) }
                if changes.isEmpty, !mergedUsers.contains(user) { continue }
                var row = UserRow()
                if mergedUsers.contains(user) || tail.version(ofFirst: changes) ?? 0 > 1 {
                    row = try view.identities(of: user, transaction)
                } else {
                    // A user whose first event is in the tail has no row yet.
                    for news in changes { row.apply(news) }
                }
                writer.removeAll()
                row.write(to: &writer)
                try withNumberKey(user) { try cursor.put($0, writer.bytes) }
            }
        }
    }

    func writeStreams(of users: ArraySlice<UInt64>, _ transaction: borrowing WriteTransaction) throws {
        var row = WireWriter()
        var recent: [UInt64] = []
        try transaction.withCursor(view.tables.streams) { cursor in
            for user in users {
                recent.removeAll(keepingCapacity: true)
                var firstVersion: UInt64 = 0
                tail.forEachPosition(of: user, from: view.last, downTo: view.checkpoint) { position, version in
                    recent.append(position)
                    firstVersion = version
                    return true
                }
                if recent.isEmpty { continue }
                try writeStream(user, from: firstVersion, descending: recent, &row, &cursor)
            }
        }
    }

    /// Fills the user's last row and begins as many further ones as it takes.
    private func writeStream(
        _ user: UInt64, from firstVersion: UInt64, descending positions: [UInt64], _ row: inout WireWriter,
        _ cursor: inout Cursor
    ) throws {
        var version = firstVersion
        var next = positions.count - 1
        while next >= 0 {
            let rowVersion = StreamRow.firstVersion(holding: version)
            var key = (user.bigEndian, rowVersion.bigEndian)
            try withUnsafeBytes(of: &key) { key in
                row.removeAll()
                var last: UInt64 = 0
                let there = version - rowVersion
                if there > 0 {
                    guard let stored = try cursor.seek(key), stored.key.hasSameBytes(as: key) else {
                        throw StorageError.damaged(place: "a row of table streams is missing")
                    }
                    let (bytes, position) = StreamRow.prefix(try StreamRow.positions(stored), entries: there)
                    guard position < positions[next], position <= view.checkpoint else {
                        throw StorageError.damaged(place: "a row of table streams")
                    }
                    row.raw(stored.value.slice(0..<bytes))
                    last = position
                }
                while next >= 0, version < rowVersion + UInt64(StreamRow.capacity) {
                    row.varint(positions[next] - last)
                    last = positions[next]
                    next -= 1
                    version += 1
                }
                row.littleEndian(crc32c(row.bytes))
                try cursor.put(key, row.bytes)
            }
        }
    }

    private func writeKeys(_ transaction: borrowing WriteTransaction) throws {
        let new = tail.keys.filter { isNew($0.value) }
        for (hash, position) in new.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            var value: [UInt8] = []
            value.appendBigEndian(position)
            try transaction.put(view.tables.keys, hash, value)
        }
    }

    private var changedDevices: [Name] {
        tail.devices.filter { $0.value.contains { isNew($0.position) } }.keys.sorted()
    }

    private func writeDevices(_ transaction: borrowing WriteTransaction) throws {
        var writer = WireWriter()
        for device in changedDevices where !device.text.isEmpty {
            let status = try view.device(device, transaction)
            writer.removeAll()
            status.write(to: &writer)
            try transaction.put(view.tables.devices, Array(device.text.utf8), Array(writer.bytes))
        }
    }

    private func writePending(_ transaction: borrowing WriteTransaction) throws {
        for device in changedDevices {
            let items = try view.items(device, transaction)
            let stored = try view.storedItems(device, transaction)
            for (position, item) in stored where items[position] == nil {
                try transaction.delete(view.tables.pending, key(item, device))
            }
            for item in items.values.sorted(by: { $0.position < $1.position }) where stored[item.position] != item {
                try transaction.put(view.tables.pending, key(item, device), PendingRow.value(item))
            }
        }
    }

    private func key(_ item: PendingItem, _ device: Name) -> [UInt8] {
        KeyCoding.pending(device: device, storage: item.storage.rawValue, user: item.user, position: item.position)
    }
}
