internal import Synchronization

extension EventLog {
    /// Writes the caches up to the log's end if they lag by more than `options.indexLag` events.
    func writeIndexIfDue() {
        let lag = tail.withReading { $0.entries.count }
        if lag < options.indexLag { return }
        do {
            try writeIndex()
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
            try environment.withWriteTransaction { transaction in
                let view = try catchUpWriting(transaction)
                if view.last == view.checkpoint { return }
                try view.tail.withReading { tail in
                    try IndexWriter(view: view, tail: tail, names: names).write(transaction)
                }
                try writeSnapshots(view, transaction)
                try writeStoreStates(view, transaction)
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
        // What lies there without a checkpoint was laid out by another revision, or is damaged.
        if view.checkpoint == 0 { try transaction.clearCaches(view.tables) }
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
        var row = WireWriter()
        try transaction.withCursor(view.tables.identifiers) { cursor in
            for index in order where tail.identifierOwners[index].position > view.checkpoint {
                let user = tail.identifierOwners[index].user
                try identifiers.withThrowingBytes(of: index) { key in
                    row.removeAll()
                    row.littleEndian(user.bigEndian)
                    if let type = key.first, type & 0x80 != 0 {
                        // The key is a hash: the row holds the whole identifier too.
                        let ids = (tail.identities[user] ?? []).compactMap(\.id)
                        let id = ids.first { KeyCoding.identifier($0)?.elementsEqual(key) == true }
                        if let id { KeyCoding.identifierRemainder(id).withUnsafeBytes { row.raw($0) } }
                    }
                    row.littleEndian(crc32c(row.bytes))
                    try cursor.put(key, row.bytes)
                }
            }
        }
    }

    private func writeUsers(_ transaction: borrowing WriteTransaction) throws {
        var writer = WireWriter()
        let mergedUsers = Set(tail.merges.keys)
        try transaction.withCursor(view.tables.users) { cursor in
            for user in mergedUsers.union(tail.identities.keys).sorted() {
                let changes = tail.identities[user] ?? []
                var row = UserRow()
                if mergedUsers.contains(user) || tail.version(ofFirst: changes) ?? 0 > 1 {
                    row = try view.identities(of: user, transaction)
                } else {
                    // A user whose first event is in the tail has no row yet.
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
        for (hash, position) in tail.keys.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            var value: [UInt8] = []
            value.appendBigEndian(position)
            try transaction.put(view.tables.keys, hash, value)
        }
    }

    private func writeDevices(_ transaction: borrowing WriteTransaction) throws {
        var writer = WireWriter()
        for device in tail.devices.keys.sorted() where !device.text.isEmpty {
            let status = try view.device(device, transaction)
            writer.removeAll()
            status.write(to: &writer)
            try transaction.put(view.tables.devices, Array(device.text.utf8), Array(writer.bytes))
        }
    }

    private func writePending(_ transaction: borrowing WriteTransaction) throws {
        for device in tail.devices.keys.sorted() {
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
