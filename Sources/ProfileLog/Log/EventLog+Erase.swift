internal import Synchronization

extension EventLog {
    /// Erases persons: each user in `users`, with everybody who was merged into them.
    ///
    /// Their events become tombstones, which keep place, kind and time; values leave every table with them: IDs, addresses, keys,
    /// snapshots, what waits on devices, devices that were theirs alone, and names that nobody else uses. Each gets one last event,
    /// `userErased`. It is one commit: durable when the call returns, or nothing is changed. Copies of old pages stay in free space of the
    /// file until `compact(path:)`, and in backups.
    ///
    /// Costs a look at every record of the log if the person had a device or a name of their own, and memory for the pages of
    /// their events.
    ///
    /// - Parameters:
    ///   - actor: who erases; stands in the log for ever.
    ///   - reason: why; stands in the log for ever.
    public func erase(
        _ users: [UserID], actor: String, reason: String, source: EventSource = .system
    ) throws(AppendError) -> Erasure {
        for user in users { try Validation.check(user) }
        do {
            return try writing.withLock { _ in
                var erasure: Erasure?
                repeat {
                    // In a transaction of its own: one that puts a long value and deletes it leaves a file that looks cut off.
                    try writeIndexAlone()
                    try environment.withWriteTransaction { transaction in
                        let view = try catchUpWriting(transaction)
                        // Another process may have come between.
                        guard view.last == view.checkpoint else { return }
                        var eraser = Eraser(log: self, view: view, recordedAt: try recordedAtNow(view))
                        erasure = try eraser.erase(
                            users, ProfileEvent.userErased(actor: actor, reason: reason),
                            EventContext(source: source), transaction)
                    }
                } while erasure == nil
                try environment.withReadTransaction { transaction in
                    try forgetErasedNames(transaction)
                    try rebuildTail(transaction)
                }
                return erasure ?? Erasure()
            }
        } catch {
            throw Self.appendError(error)
        }
    }
}

/// What an erasure did.
public struct Erasure: Hashable, Sendable {
    /// Who was erased, by number.
    public internal(set) var users: [UserNumber] = []
    /// The given IDs that lead to nobody.
    public internal(set) var unknown: [UserID] = []
    /// How many events lost their content.
    public internal(set) var events = 0
    /// Position of the last event of the erasure; nil if nobody was erased.
    public internal(set) var position: Position?
}

/// How often names were erased: row `erasures` of table `meta`. A process that knows another number must load the names again.
enum NameErasures {
    private static let key = Array("erasures".utf8)

    static func count(_ tables: Tables, _ transaction: borrowing some Reading & ~Copyable) throws -> UInt32 {
        guard let row = try transaction.get(tables.meta, key) else { return 0 }
        guard row.count == 4 else { throw StorageError.damaged(place: "row erasures of table meta") }
        return row.bigEndian32()
    }

    static func raise(_ tables: Tables, _ transaction: borrowing WriteTransaction) throws {
        try transaction.put(tables.meta, key, NameRow.key(try count(tables, transaction) + 1))
    }
}

/// Takes persons out of the tables, inside one write transaction. The caches reach to the end of the log.
private struct Eraser {
    let log: EventLog
    let view: LogView
    let recordedAt: Int64
    private var users: Set<UInt64> = []
    private var found = Traces()
    /// Devices on which an erased user was, with who was there before them: nobody is there now.
    private var vacated: [(device: Name, user: UInt64)] = []

    /// What the erased records lead to.
    private struct Traces {
        var identifiers: Set<[UInt8]> = []
        var contacts: Set<[UInt8]> = []
        var keys: [[UInt8]: UInt64] = [:]
        var devices: Set<Name> = []
        var names: Set<UInt32> = []
        var events = 0
    }

    init(log: EventLog, view: LogView, recordedAt: Int64) {
        self.log = log
        self.view = view
        self.recordedAt = recordedAt
    }

    mutating func erase(
        _ ids: [UserID], _ event: ProfileEvent, _ context: EventContext, _ transaction: borrowing WriteTransaction
    ) throws -> Erasure {
        var erasure = Erasure()
        for id in ids {
            guard let user = try view.user(id, braze: log.braze, transaction) else {
                erasure.unknown.append(id)
                continue
            }
            let survivor = try view.survivor(of: user, transaction)
            if erasure.users.contains(UserNumber(rawValue: survivor)) { continue }
            erasure.users.append(UserNumber(rawValue: survivor))
            try bury(survivor, transaction)
        }
        if erasure.users.isEmpty { return erasure }
        erasure.events = found.events
        try removeRows(transaction)
        try removeSnapshots(transaction)
        try readRest(transaction)
        var events = vacated.map { (user: $0.user, event: ProfileEvent.userLoggedOut, context: context.on($0.device)) }
        events += erasure.users.map { ($0.rawValue, event, context) }
        erasure.position = try append(events, transaction)
        return erasure
    }

    // MARK: - Records

    /// Makes tombstones of a user's records, and of those who were merged into them.
    private mutating func bury(_ user: UInt64, _ transaction: borrowing WriteTransaction) throws {
        guard users.insert(user).inserted else { return }
        let version = try view.version(of: user, transaction)
        for position in try view.positions(of: user, from: 1, to: version, transaction) {
            guard let record = try transaction.get(view.tables.log, position), let header = RecordHeader(record),
                let body = RecordBody(header.body), let tombstone = Tombstone.record(of: header)
            else { throw StorageError.damaged(place: "the record at position \(position) is unreadable") }
            let source = header.kind == .usersMerged ? body.otherUser : nil
            if !body.erased {
                take(header, body, position)
                try withNumberKey(position) { key in
                    try tombstone.withUnsafeBytes { try transaction.put(view.tables.log, key, $0) }
                }
            }
            if let source { try bury(source, transaction) }
        }
    }

    private mutating func take(_ header: RecordHeader, _ body: RecordBody, _ position: UInt64) {
        found.events += 1
        for id in body.identities + body.released {
            if let key = KeyCoding.identifier(id) { found.identifiers.insert(key) }
            if let contact = ContactKey.prefix(id) { found.contacts.insert(contact) }
            if case .device(let device) = id { found.devices.insert(Name(device)) }
        }
        ContactKey.forEach(in: header.body) { found.contacts.insert($0) }
        if let append = body.append, !append.key.isEmpty { found.keys[KeyCoding.hash(append.key)] = position }
        if let device = body.device { found.devices.insert(Name(String(decoding: device, as: UTF8.self))) }
        body.forEachName(header.kind) { found.names.insert($0) }
    }

    private func append(
        _ events: [(user: UInt64, event: ProfileEvent, context: EventContext)],
        _ transaction: borrowing WriteTransaction
    ) throws -> Position {
        var writer = WireWriter()
        var ends: [Int] = []
        var names = NewNames(log.names)
        var versions: [UInt64: UInt64] = [:]
        for (user, event, context) in events {
            let begin = writer.count
            let version = try (versions[user] ?? view.version(of: user, transaction)) + 1
            versions[user] = version
            RecordHeader.write(
                kind: event.kind.rawValue, user: user, version: version, recordedAt: recordedAt, to: &writer)
            _ = EventEncoder.write(event, context, names: &names, to: &writer)
            writer.littleEndian(crc32c(writer.bytes.slice(begin..<writer.count)))
            ends.append(writer.count)
        }
        let batch = CommitBatch(
            firstPosition: view.last + 1, firstName: names.firstNumber, names: [], bytes: Array(writer.bytes),
            ends: ends)
        try batch.apply(to: transaction, view.tables)
        return Position(rawValue: view.last + UInt64(ends.count))
    }

    // MARK: - Caches

    private func removeRows(_ transaction: borrowing WriteTransaction) throws {
        for key in found.identifiers {
            guard let row = try transaction.get(view.tables.identifiers, key), row.count >= 8,
                users.contains(row.bigEndian64())
            else { continue }
            try transaction.delete(view.tables.identifiers, key)
        }
        for contact in found.contacts {
            for user in users {
                try transaction.delete(view.tables.contacts, ContactKey.key(contact, user: user))
            }
        }
        for (key, position) in found.keys {
            guard let row = try transaction.get(view.tables.keys, key), row.count == 8, row.bigEndian64() == position
            else { continue }
            try transaction.delete(view.tables.keys, key)
        }
        var writer = WireWriter()
        for user in users.sorted() {
            var row = UserRow()
            let before = try view.identities(of: user, transaction)
            row.created = before.created
            row.mergedInto = before.mergedInto
            writer.removeAll()
            row.write(to: &writer)
            try withNumberKey(user) { try transaction.put(view.tables.users, $0, writer.bytes) }
        }
    }

    /// Snapshots by whatever projection, and all states over the whole store: they are folded anew.
    private func removeSnapshots(_ transaction: borrowing WriteTransaction) throws {
        var gone: [[UInt8]] = []
        try transaction.withCursor(view.tables.snapshots) { cursor in
            var row = try cursor.first()
            while let found = row, let length = found.key.first.map(Int.init), found.key.count == length + 17 {
                let projection = Array(found.key.slice(0..<(length + 1)))
                for user in users.sorted() {
                    let prefix = ContactKey.key(projection, user: user)
                    var snapshot = try cursor.seek(prefix)
                    while let found = snapshot, found.key.starts(with: prefix) {
                        gone.append(Array(found.key))
                        snapshot = try cursor.next()
                    }
                }
                row = try cursor.seek(ContactKey.key(projection, user: .max))
                if let found = row, found.key.starts(with: projection) { row = try cursor.next() }
            }
        }
        for key in gone { try transaction.delete(view.tables.snapshots, key) }
        var states: [[UInt8]] = []
        try transaction.withCursor(view.tables.checkpoints) { cursor in
            var row = try cursor.first()
            while let found = row {
                let key = Array(found.key)
                if key != IndexCheckpoint.key, key != IndexFlush.key { states.append(key) }
                row = try cursor.next()
            }
        }
        for key in states { try transaction.delete(view.tables.checkpoints, key) }
    }

    /// What the rest of the log says about the names and devices of the erased: names that nobody else uses go, devices are what others
    /// made of them.
    private mutating func readRest(_ transaction: borrowing WriteTransaction) throws {
        if found.names.isEmpty, found.devices.isEmpty { return }
        var devices: [Name: DeviceState] = [:]
        var unused = found.names
        let touched = found.devices
        try EventLog.scan(view.tables, from: 1, to: view.last, transaction) { position, header in
            guard let body = RecordBody(header.body), !body.erased else { return true }
            if !unused.isEmpty { body.forEachName(header.kind) { unused.remove($0) } }
            DeviceChange.forEach(header, body, position) { device, change in
                if touched.contains(device) { devices[device, default: DeviceState()].apply(change) }
            }
            return !(unused.isEmpty && touched.isEmpty)
        }
        for device in touched.sorted() { try write(device, devices[device], transaction) }
        if unused.isEmpty { return }
        for number in unused { try transaction.put(view.tables.names, NameRow.key(number), NameRow.bytes("")) }
        try NameErasures.raise(view.tables, transaction)
    }

    private mutating func write(
        _ device: Name, _ state: DeviceState?, _ transaction: borrowing WriteTransaction
    ) throws {
        if let gone = try view.device(device, transaction).user, users.contains(gone), let before = state?.status.user {
            vacated.append((device, try view.survivor(of: before, transaction)))
        }
        for (position, item) in try view.storedItems(device, transaction) where state?.items[position] == nil {
            try transaction.delete(
                view.tables.pending,
                KeyCoding.pending(device: device, storage: item.storage.rawValue, user: item.user, position: position))
        }
        if device.text.isEmpty { return }
        let key = Array(device.text.utf8)
        guard let state else { return try transaction.delete(view.tables.devices, key) }
        var writer = WireWriter()
        state.status.write(to: &writer)
        try transaction.put(view.tables.devices, key, Array(writer.bytes))
    }
}
