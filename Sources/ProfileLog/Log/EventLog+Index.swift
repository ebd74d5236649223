internal import Synchronization

extension EventLog {
    /// Writes the caches up to the log's end if they lag by more than `options.indexLag` events.
    func writeIndexIfDue() {
        let lag = tail.withReading { $0.entries.count }
        if lag >= options.indexLag { try? writeIndex() }
    }

    /// Writes the caches up to the log's end: rows in key order, then the checkpoint, in one transaction.
    ///
    /// Caches can lag without harm, so a failure here loses nothing: the next one catches up.
    public func writeIndex() throws {
        try writing.withLock { _ in
            try environment.withWriteTransaction { transaction in
                let view = try catchUpWriting(transaction)
                if view.last == view.checkpoint { return }
                try view.tail.withReading { tail in
                    try IndexWriter(view: view, tail: tail, names: names).write(transaction)
                }
                try writeSnapshots(view, transaction)
            }
            try environment.withReadTransaction { try rebuildTail($0) }
        }
    }
}

/// Brings the caches from their checkpoint to the end of the log.
private struct IndexWriter {
    let view: LogView
    let tail: Tail
    let names: NameTable

    func write(_ transaction: borrowing WriteTransaction) throws {
        try writeIdentifiers(transaction)
        try writeUsers(transaction)
        try writeStreams(transaction)
        try writeKeys(transaction)
        try writeDevices(transaction)
        try writePending(transaction)
        let checkpoint = IndexCheckpoint(position: view.last, users: tail.userCount)
        try transaction.put(view.tables.checkpoints, IndexCheckpoint.key, checkpoint.bytes)
    }

    private func writeIdentifiers(_ transaction: borrowing WriteTransaction) throws {
        let identifiers = tail.identifiers
        let order = (0..<identifiers.count).sorted { left, right in
            identifiers.withBytes(of: left) { left in
                identifiers.withBytes(of: right) { right in left.order(to: right) < 0 }
            }
        }
        try transaction.withCursor(view.tables.identifiers) { cursor in
            for index in order where tail.identifierOwners[index].position > view.checkpoint {
                let user = tail.identifierOwners[index].user
                try identifiers.withThrowingBytes(of: index) { key in
                    guard let type = key.first, type & 0x80 != 0 else {
                        return try withUnsafeBytes(of: user.bigEndian) { try cursor.put(key, $0) }
                    }
                    // The key is a hash: the row holds the whole identifier too.
                    var value: [UInt8] = []
                    value.appendBigEndian(user)
                    let ids = (tail.identities[user] ?? []).compactMap(\.id)
                    let id = ids.first { KeyCoding.identifier($0)?.elementsEqual(key) == true }
                    if let id { value += KeyCoding.identifierRemainder(id) }
                    try cursor.put(Array(key), value)
                }
            }
        }
    }

    private func writeUsers(_ transaction: borrowing WriteTransaction) throws {
        var writer = WireWriter()
        try transaction.withCursor(view.tables.users) { cursor in
            for user in tail.identities.keys.sorted() {
                let changes = tail.identities[user] ?? []
                var row = UserRow()
                // A user whose first event is in the tail has no row yet.
                if let first = tail.version(ofFirst: changes), first > 1 || changes.isEmpty {
                    row = try view.identities(of: user, transaction)
                } else {
                    for (id, position) in changes { row.add(id, position: position) }
                }
                writer.removeAll()
                row.write(to: &writer)
                try withNumberKey(user) { try cursor.put($0, writer.bytes) }
            }
        }
    }

    private func writeStreams(_ transaction: borrowing WriteTransaction) throws {
        var row = WireWriter()
        var recent: [UInt64] = []
        try transaction.withCursor(view.tables.streams) { cursor in
            for user in tail.usersTouched {
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
                    let (bytes, position) = StreamRow.prefix(stored.value, entries: there)
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
                try cursor.put(key, row.bytes)
            }
        }
    }

    private func writeKeys(_ transaction: borrowing WriteTransaction) throws {
        for (hash, position) in tail.keys.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            var value: [UInt8] = []
            value.appendBigEndian(position)
            try transaction.put(view.tables.keys, hash, value)
        }
    }

    private func writeDevices(_ transaction: borrowing WriteTransaction) throws {
        var writer = WireWriter()
        for device in tail.devices.keys.sorted() where !device.text.isEmpty {
            let row = try view.device(device, transaction)
            writer.removeAll()
            row.write(to: &writer)
            try transaction.put(view.tables.devices, Array(device.text.utf8), Array(writer.bytes))
        }
    }

    private func writePending(_ transaction: borrowing WriteTransaction) throws {
        for device in tail.pendingChanges.keys.sorted() {
            let waiting = try Dictionary(
                uniqueKeysWithValues: view.pending(device, transaction).map { ($0.position, $0) })
            let stored = try storedPending(device, transaction)
            for change in tail.pendingChanges[device] ?? [] {
                switch change.change {
                case .added(let item):
                    if waiting[item.position] != nil { try put(item, device, transaction) }
                case .removed(let gone):
                    for item in gone.sorted().compactMap({ stored[$0] }) {
                        try transaction.delete(view.tables.pending, key(item, device))
                    }
                }
            }
        }
    }

    /// The items that have rows, by position: an item's own record, which says the same, may have become unreadable.
    private func storedPending(
        _ device: Name, _ transaction: borrowing WriteTransaction
    ) throws -> [UInt64: PendingItem] {
        var items: [UInt64: PendingItem] = [:]
        try view.forEachPendingRow(device, transaction) { items[$0.position] = $0 }
        return items
    }

    private func put(_ item: PendingItem, _ device: Name, _ transaction: borrowing WriteTransaction) throws {
        try transaction.put(view.tables.pending, key(item, device), [item.kind.rawValue])
    }

    private func key(_ item: PendingItem, _ device: Name) -> [UInt8] {
        KeyCoding.pending(device: device, storage: item.storage.rawValue, user: item.user, position: item.position)
    }
}
