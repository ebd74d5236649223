/// Writes the caches from a view's checkpoint to its end.
struct IndexWriter {
    let view: LogView

    /// Writes these rows of a stage, as numbered by the tail.
    func write(
        _ rows: ArraySlice<Int>, of stage: FlushProgress.Stage, _ tail: borrowing Tail,
        _ transaction: borrowing WriteTransaction
    ) throws {
        switch stage {
        case .streams: try writeStreams(of: rows, tail, transaction)
        case .snapshots: break  // folds, for which the log's projections are needed
        case .identifiers: try writeIdentifiers(rows, tail, transaction)
        case .contacts: try writeContacts(rows, tail, transaction)
        case .keys: try writeKeys(rows, tail, transaction)
        case .users: try writeUsers(rows, tail, transaction)
        case .devices: try writeDevices(rows, tail, transaction)
        }
    }

    /// Moves the checkpoint: all rows are there.
    func end(_ transaction: borrowing WriteTransaction) throws {
        let users = view.tail.withReading { $0.userCount(visibleTo: view.last) }
        let checkpoint = IndexCheckpoint(position: view.last, users: users)
        try transaction.put(view.tables.checkpoints, IndexCheckpoint.key, checkpoint.bytes)
        try transaction.delete(view.tables.checkpoints, FlushProgress.key)
    }

    private func writeIdentifiers(
        _ order: ArraySlice<Int>, _ tail: borrowing Tail, _ transaction: borrowing WriteTransaction
    ) throws {
        let identifiers = tail.identifiers
        var row = WireWriter()
        var released: [[UInt8]] = []
        try transaction.withWritingCursor(view.tables.identifiers) { cursor in
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

    private func writeContacts(
        _ pairs: ArraySlice<Int>, _ tail: borrowing Tail, _ transaction: borrowing WriteTransaction
    ) throws {
        let keys = tail.contacts.keys
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        try transaction.withWritingCursor(view.tables.contacts) { cursor in
            for pair in pairs { try keys.withThrowingBytes(of: pair) { try cursor.put($0, nothing) } }
        }
    }

    /// Tells whether a position lies between the checkpoint and the view's end.
    private func isNew(_ position: UInt64) -> Bool { position > view.checkpoint && position <= view.last }

    private func writeUsers(
        _ users: ArraySlice<Int>, _ tail: borrowing Tail, _ transaction: borrowing WriteTransaction
    ) throws {
        var writer = WireWriter()
        try transaction.withWritingCursor(view.tables.users) { cursor in
            for user in users.map({ UInt64($0) }) {
                let changes = (tail.identities[user] ?? []).filter { isNew($0.position) }
                var row = UserRow()
                let isAlone = tail.merges[user] == nil && changes.allSatisfy { $0.tookIn == nil }
                if isAlone, tail.version(ofFirst: changes) == 1 {
                    // A user whose first event is in the tail has no row yet.
                    row.apply(all: changes)
                } else {
                    row = try view.identities(of: user)
                }
                writer.removeAll()
                row.write(to: &writer)
                try withNumberKey(user) { try cursor.put($0, writer.bytes) }
            }
        }
    }

    private func writeStreams(
        of users: ArraySlice<Int>, _ tail: borrowing Tail, _ transaction: borrowing WriteTransaction
    ) throws {
        var row = WireWriter()
        var recent: [UInt64] = []
        try transaction.withWritingCursor(view.tables.streams) { cursor in
            for user in users.map({ UInt64($0) }) {
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
        _ cursor: inout WritingCursor
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

    private func writeKeys(
        _ keys: ArraySlice<Int>, _ tail: borrowing Tail, _ transaction: borrowing WriteTransaction
    ) throws {
        let hashes = tail.keys.hashes
        for key in keys {
            var value: [UInt8] = []
            value.appendBigEndian(tail.keys.positions[key])
            try transaction.put(view.tables.keys, hashes.withBytes(of: key) { Array($0) }, value)
        }
    }

    /// A device's own row, and the rows of what waits on it.
    private func writeDevices(
        _ devices: ArraySlice<Int>, _ tail: borrowing Tail, _ transaction: borrowing WriteTransaction
    ) throws {
        var writer = WireWriter()
        for device in devices.map({ tail.deviceNames[$0] }) {
            try writePending(device, transaction)
            if device.text.isEmpty { continue }
            writer.removeAll()
            DeviceRow.write(try view.device(device), to: &writer)
            try transaction.put(view.tables.devices, Array(device.text.utf8), Array(writer.bytes))
        }
    }

    private func writePending(_ device: Name, _ transaction: borrowing WriteTransaction) throws {
        let stored = try view.storedItems(device)
        let items = try view.items(device, stored: stored)
        try transaction.delete(stored.values.filter { items[$0.position] == nil }, on: device, view.tables)
        for item in items.values.sorted(by: { $0.position < $1.position }) where stored[item.position] != item {
            let key = PendingRow.key(item, on: device)
            try transaction.put(view.tables.pending, key, PendingRow.value(item, key: key))
        }
    }
}

extension WriteTransaction {
    /// Removes the rows of `items` on `device`, in the order of their keys, so that LMDB reuses the pages that it
    /// empties.
    func delete(_ items: [PendingItem], on device: Name, _ tables: Tables) throws {
        let keys = items.map { PendingRow.key($0, on: device) }
        for key in keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) { try delete(tables.pending, key) }
    }
}
