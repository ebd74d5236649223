/// One consistent view of log and index: the tables as a transaction sees them, and the tail for what they have not reached.
struct LogView: Sendable {
    let tail: Guarded<Tail>
    let tables: Tables
    let nameTable: NameTable
    /// How far the caches reach, as this transaction sees them.
    let checkpoint: UInt64
    /// The last visible position.
    let last: UInt64
    /// Whether the view is the writer's, who sees what it has not committed yet. While that is so nobody else changes the tail.
    var isWriter: Bool { last == .max }

    @inline(__always)
    private func withTail<Result>(_ body: (borrowing Tail) -> Result) -> Result {
        isWriter ? tail.withoutLock { body($0) } : tail.withReading { body($0) }
    }

    // MARK: - Users and versions

    /// How many events `user` has.
    func version(of user: UInt64, _ transaction: borrowing some Reading & ~Copyable) throws -> UInt64 {
        var streams = try Cursor(transaction.handle, tables.streams)
        return try version(of: user, &streams)
    }

    /// As `version(of:_:)`, with a cursor over `streams`.
    @inline(__always)
    func version(of user: UInt64, _ streams: inout Cursor) throws -> UInt64 {
        let inTail = withTail { tail -> UInt64? in
            guard let index = tail.head(user, visibleTo: last), tail.position(at: index) > checkpoint else {
                return nil
            }
            return tail.entries[index].version
        }
        if let inTail { return inTail }
        return checkpoint == 0 ? 0 : try storedVersion(of: user, &streams)
    }

    private func storedVersion(of user: UInt64, _ streams: inout Cursor) throws -> UInt64 {
        if user == .max { return 0 }  // nobody's, and there is no key behind its rows
        var behind = ((user + 1).bigEndian, UInt64(0))
        var row = try withUnsafeBytes(of: &behind) { try streams.last(before: $0) }
        while let found = row, found.key.count == 16, found.key.bigEndian64() == user {
            // An index flush that was cut short may have written beyond the checkpoint.
            let count = StreamRow.count(found.value, upTo: checkpoint)
            if count > 0 { return found.key.bigEndian64(at: 8) + UInt64(count) - 1 }
            row = try streams.previous()
        }
        return 0
    }

    /// The user with this ID, or nil. `braze:` and `device:` IDs are resolved too.
    func user(_ id: UserID, braze: BrazeIDs, _ transaction: borrowing some Reading & ~Copyable) throws -> UInt64? {
        switch id {
        case .brazeID(let text):
            guard let user = braze.user(text), user > 0, user <= (try userCount(transaction)) else { return nil }
            return user
        case .device(let device):
            return try self.device(Name(device), transaction).user
        default:
            guard let key = KeyCoding.identifier(id) else { return nil }
            return try key.withUnsafeBytes { try user(identifier: $0, id, transaction) }
        }
    }

    /// As `user(_:braze:_:)`, for a key of table `identifiers`; `id` is compared if the key is a hash.
    func user(
        identifier key: UnsafeRawBufferPointer, _ id: @autoclosure () -> UserID,
        _ transaction: borrowing some Reading & ~Copyable
    ) throws -> UInt64? {
        if let user = withTail({ $0.owner(key, visibleTo: last) }) { return user }
        if checkpoint == 0 { return nil }
        guard let row = try transaction.get(tables.identifiers, key) else { return nil }
        guard row.count >= 8 else { throw StorageError.damaged(place: "a row of table identifiers") }
        if row.count > 8, !row.slice(8..<row.count).elementsEqual(KeyCoding.identifierRemainder(id())) { return nil }
        let user = row.bigEndian64()
        // A flush that was cut short may have written users beyond the checkpoint; the tail has the visible ones.
        return user
    }

    /// How many users there are.
    func userCount(_ transaction: borrowing some Reading & ~Copyable) throws -> UInt64 {
        try IndexCheckpoint.read(tables, transaction)?.users.max(tailUserCount) ?? tailUserCount
    }

    private var tailUserCount: UInt64 { withTail { $0.userCount(visibleTo: last) } }

    /// A user's IDs in the order in which they were given, and the position of the user's creation.
    func identities(of user: UInt64, _ transaction: borrowing some Reading & ~Copyable) throws -> UserRow {
        var row = UserRow()
        if let stored = try transaction.get(tables.users, user) {
            guard let read = UserRow(stored) else { throw StorageError.damaged(place: "a row of table users") }
            row = read
        }
        withTail { tail in
            for (id, position) in tail.identities[user] ?? [] where position <= last {
                row.add(id, position: position)
            }
        }
        return row
    }

    // MARK: - Streams

    /// The user's positions for versions `from` … `to`, ascending.
    func positions(
        of user: UInt64, from: UInt64, to: UInt64, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> [UInt64] {
        guard from <= to else { return [] }
        var positions: [UInt64] = []
        if checkpoint > 0 {
            try transaction.withCursor(tables.streams) { cursor in
                var row = try cursor.seek(KeyCoding.stream(user: user, version: StreamRow.firstVersion(holding: from)))
                while let found = row, found.key.count == 16, found.key.bigEndian64() == user {
                    let first = found.key.bigEndian64(at: 8)
                    if first > to { break }
                    StreamRow.forEach(found.value) { index, position in
                        let version = first + UInt64(index)
                        if version >= from, version <= to, position <= checkpoint { positions.append(position) }
                    }
                    row = try cursor.next()
                }
            }
        }
        var recent: [UInt64] = []
        withTail { tail in
            tail.forEachPosition(of: user, from: last, downTo: checkpoint) { position, version in
                if version >= from, version <= to { recent.append(position) }
                return version > from
            }
        }
        positions.append(contentsOf: recent.reversed())
        return positions
    }

    // MARK: - Keys and devices

    /// The first position of the append under the idempotency key with this hash, or nil.
    func append(keyHash: [UInt8], _ transaction: borrowing some Reading & ~Copyable) throws -> UInt64? {
        if let position = withTail({ $0.keys[keyHash] }), position <= last { return position }
        guard let row = try transaction.get(tables.keys, keyHash) else { return nil }
        guard row.count == 8 else { throw StorageError.damaged(place: "a row of table keys") }
        return row.bigEndian64()
    }

    /// Who is on the device, and its last launch (0: none).
    func device(_ device: Name, _ transaction: borrowing some Reading & ~Copyable) throws -> DeviceRow {
        var row = DeviceRow()
        if checkpoint > 0, !device.text.isEmpty,
            let stored = try transaction.get(tables.devices, Array(device.text.utf8))
        {
            guard let read = DeviceRow(stored) else { throw StorageError.damaged(place: "a row of table devices") }
            row = read
        }
        withTail { tail in
            for change in tail.devices[device] ?? [] where change.position <= last { row.apply(change) }
        }
        return row
    }

    /// What waits on the device, by storage, user and position.
    func pending(_ device: Name, _ transaction: borrowing some Reading & ~Copyable) throws -> [PendingItem] {
        var items: [UInt64: PendingItem] = [:]
        try forEachPendingRow(device, transaction) { items[$0.position] = $0 }
        withTail { tail in
            for change in tail.pendingChanges[device] ?? [] where change.position <= last {
                switch change.change {
                case .added(let item): items[item.position] = item
                case .removed(let gone): for position in gone { items[position] = nil }
                }
            }
        }
        return items.values.sorted { $0.position < $1.position }
    }

    /// Calls `body` with the items that table `pending` has for the device.
    func forEachPendingRow(
        _ device: Name, _ transaction: borrowing some Reading & ~Copyable, _ body: (PendingItem) -> Void
    ) throws {
        if checkpoint == 0 { return }
        let prefix = KeyCoding.devicePrefix(device)
        try transaction.withCursor(tables.pending) { cursor in
            var row = try cursor.seek(prefix)
            while let found = row, found.key.starts(with: prefix), found.key.count == prefix.count + 20 {
                guard let item = PendingRow.item(found, prefixBytes: prefix.count) else {
                    throw StorageError.damaged(place: "a row of table pending")
                }
                body(item)
                row = try cursor.next()
            }
        }
    }

    /// How many items wait on the device. For the writer: the tail keeps the count up to date once it was asked for.
    func pendingCount(_ device: Name, _ transaction: borrowing some Reading & ~Copyable) throws -> Int {
        if let known = withTail({ $0.pendingCounts[device] }) { return known }
        let count = try pending(device, transaction).count
        tail.withWriting { $0.pendingCounts[device] = count }
        return count
    }

    /// Every device that ever had an event, ascending by bytes.
    func devices(_ transaction: borrowing some Reading & ~Copyable) throws -> [Name] {
        var devices: Set<Name> = []
        try transaction.withCursor(tables.devices) { cursor in
            var row = try cursor.first()
            while let found = row {
                devices.insert(Name(String(decoding: found.key, as: UTF8.self)))
                row = try cursor.next()
            }
        }
        try transaction.withCursor(tables.pending) { cursor in
            var row = try cursor.first()
            while let found = row {
                let length = Int(found.key.first ?? 0)
                guard found.key.count == length + 21 else {
                    throw StorageError.damaged(place: "a row of table pending")
                }
                devices.insert(Name(String(decoding: found.key.slice(1..<(1 + length)), as: UTF8.self)))
                row = try cursor.next()
            }
        }
        withTail { tail in
            for (device, changes) in tail.devices where changes.contains(where: { $0.position <= last }) {
                devices.insert(device)
            }
            for (device, changes) in tail.pendingChanges where changes.contains(where: { $0.position <= last }) {
                devices.insert(device)
            }
        }
        return devices.sorted()
    }
}

extension UInt64 {
    fileprivate func max(_ other: UInt64) -> UInt64 { Swift.max(self, other) }
}
