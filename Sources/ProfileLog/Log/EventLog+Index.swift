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
                try writeStoreStates(view, transaction)
                return true
            }
        }
        return false
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
    /// What comes behind the target. It grows with each slice, so that nobody waits for it at the end.
    let successor: Guarded<Tail>
    /// What is not written yet.
    fileprivate var left = Left.streams(from: 0)

    /// The parts of a flush in their order, and how much is left of the one that is under way. Those before the rest may be ahead of the
    /// checkpoint, since no reader is led astray by them: entries of streams beyond it are ignored, a snapshot is asked for by its
    /// version, who has an ID and which append a key are answered by the tail before the table, and a contact is only a hint.
    fileprivate enum Left {
        /// Users from this number up.
        case streams(from: UInt64)
        case snapshots(from: UInt64)
        /// Indices in the tail, in the order of their keys.
        case identifiers(ArraySlice<Int>)
        /// Keys of table `contacts`, ascending.
        case contacts(ArraySlice<[UInt8]>)
        case keys(ArraySlice<(hash: [UInt8], position: UInt64)>)
        case rest
    }

    fileprivate var isNew: Bool {
        if case .streams(from: 0) = left { true } else { false }
    }

    /// A flush of all that `view` has in its tail; its last event was recorded at `recordedAt`.
    init(_ view: LogView, recordedAt: Int64) {
        var random = SystemRandomNumberGenerator()
        mark = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        tail = view.tail
        checkpoint = view.checkpoint
        target = view.last
        let users = view.tail.withReading { $0.userCount(visibleTo: view.last) }
        successor = Guarded(Tail(base: view.last, userCount: users, lastRecordedAt: recordedAt))
    }
}

/// Brings the caches from a view's checkpoint to its end.
private struct IndexWriter {
    let view: LogView

    func begin(_ transaction: borrowing WriteTransaction) throws {
        // What lies there without a checkpoint was laid out by another revision, or is damaged.
        if view.checkpoint == 0 { try transaction.clearCaches(view.tables) }
    }

    /// What must not be ahead of the checkpoint, and that.
    func end(_ tail: borrowing Tail, _ transaction: borrowing WriteTransaction) throws {
        try writeUsers(tail, transaction)
        try writeDevices(tail, transaction)
        try writePending(tail, transaction)
        let checkpoint = IndexCheckpoint(position: view.last, users: tail.userCount(visibleTo: view.last))
        try transaction.put(view.tables.checkpoints, IndexCheckpoint.key, checkpoint.bytes)
        if try transaction.get(view.tables.checkpoints, IndexFlush.key) != nil {
            try transaction.delete(view.tables.checkpoints, IndexFlush.key)
        }
    }

    /// The tail's identifiers that the table has not, in the order of their keys.
    func newIdentifiers(_ tail: borrowing Tail) -> [Int] {
        let identifiers = tail.identifiers
        return (0..<identifiers.count).filter { index in
            tail.owner(ofIdentifier: index, visibleTo: view.last).map { isNew($0.position) } ?? false
        }.sorted { left, right in
            identifiers.withBytes(of: left) { left in
                identifiers.withBytes(of: right) { right in left.order(to: right) < 0 }
            }
        }
    }

    func writeIdentifiers(
        _ order: ArraySlice<Int>, _ tail: borrowing Tail, _ transaction: borrowing WriteTransaction
    ) throws {
        let identifiers = tail.identifiers
        var row = WireWriter()
        var released: [[UInt8]] = []
        try transaction.withCursor(view.tables.identifiers) { cursor in
            for index in order {
                let user = tail.owner(ofIdentifier: index, visibleTo: view.last)?.user ?? 0
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
        for key in released { try transaction.delete(view.tables.identifiers, key) }
    }

    /// Who was given which address.
    func newContacts(_ tail: borrowing Tail) -> [[UInt8]] {
        var keys: [[UInt8]] = []
        for (contact, users) in tail.contacts {
            for (user, position) in users where isNew(position) { keys.append(ContactKey.key(contact, user: user)) }
        }
        return keys.sorted { $0.lexicographicallyPrecedes($1) }
    }

    func writeContacts(_ keys: ArraySlice<[UInt8]>, _ transaction: borrowing WriteTransaction) throws {
        try transaction.withCursor(view.tables.contacts) { cursor in
            for key in keys { try cursor.put(key, []) }
        }
    }

    /// Whether a position lies between the checkpoint and the view's end.
    private func isNew(_ position: UInt64) -> Bool { position > view.checkpoint && position <= view.last }

    private func writeUsers(_ tail: borrowing Tail, _ transaction: borrowing WriteTransaction) throws {
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

    func writeStreams(
        of users: [UInt64], _ tail: borrowing Tail, _ transaction: borrowing WriteTransaction
    ) throws {
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

    /// The tail's idempotency keys that the table has not, in the order of their hashes.
    func newKeys(_ tail: borrowing Tail) -> [(hash: [UInt8], position: UInt64)] {
        tail.keys.filter { isNew($0.value) }.map { (hash: $0.key, position: $0.value) }
            .sorted { $0.hash.lexicographicallyPrecedes($1.hash) }
    }

    func writeKeys(
        _ keys: ArraySlice<(hash: [UInt8], position: UInt64)>, _ transaction: borrowing WriteTransaction
    ) throws {
        for (hash, position) in keys {
            var value: [UInt8] = []
            value.appendBigEndian(position)
            try transaction.put(view.tables.keys, hash, value)
        }
    }

    private func changedDevices(_ tail: borrowing Tail) -> [Name] {
        tail.devices.filter { $0.value.contains { isNew($0.position) } }.keys.sorted()
    }

    private func writeDevices(_ tail: borrowing Tail, _ transaction: borrowing WriteTransaction) throws {
        var writer = WireWriter()
        for device in changedDevices(tail) where !device.text.isEmpty {
            let status = try view.device(device, transaction)
            writer.removeAll()
            status.write(to: &writer)
            try transaction.put(view.tables.devices, Array(device.text.utf8), Array(writer.bytes))
        }
    }

    private func writePending(_ tail: borrowing Tail, _ transaction: borrowing WriteTransaction) throws {
        for device in changedDevices(tail) {
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
