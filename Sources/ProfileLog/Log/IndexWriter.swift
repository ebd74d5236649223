/// Brings the caches from a view's checkpoint to its end.
struct IndexWriter {
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
        for index in 0..<tail.contacts.count where isNew(tail.contacts.positions[index]) {
            keys.append(tail.contacts.keys.withBytes(of: index) { Array($0) })
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
