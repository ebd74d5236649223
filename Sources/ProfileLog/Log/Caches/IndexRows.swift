/// Rows of table `streams`: the positions of up to 128 consecutive versions, as varints of differences, and a checksum:
/// a version from a damaged row would get into the log.
enum StreamRow {
    /// The number of versions in a full row.
    static let capacity = 128

    /// The version with which the row that holds `version` begins.
    static func firstVersion(holding version: UInt64) -> UInt64 {
        version == 0 ? 1 : (version - 1) / UInt64(capacity) * UInt64(capacity) + 1
    }

    /// The positions of a row, without the checksum. Throws if that is wrong, or if no row can have these versions.
    @inline(__always)
    static func positions(_ row: Cursor.Row) throws(StorageError) -> UnsafeRawBufferPointer {
        guard row.key.count == 16, RecordHeader.hasRightChecksum(row.value),
            row.key.bigEndian64(at: 8) <= UInt64.max - UInt64(capacity)
        else { throw .damaged(place: "a row of table streams") }
        return row.value.slice(0..<(row.value.count - 4))
    }

    /// Throws unless `row` is the one of this user that begins with `version`.
    @inline(__always)
    static func expect(_ row: Cursor.Row?, of user: UInt64, version: UInt64) throws(StorageError) {
        guard let row, row.key.count == 16, row.key.bigEndian64() == user, row.key.bigEndian64(at: 8) == version
        else { throw missing(user) }
    }

    /// The table lacks events of `user`.
    static func missing(_ user: UInt64) -> StorageError {
        .damaged(place: "a row of user \(user) in table streams is missing")
    }

    @inline(__always)
    static func forEach(_ row: UnsafeRawBufferPointer, _ body: (Int, UInt64) -> Void) {
        var reader = WireReader(row)
        var position: UInt64 = 0
        var index = 0
        while !reader.isAtEnd {
            position &+= reader.varint()
            if reader.isBad { return }
            body(index, position)
            index += 1
        }
    }

    /// Returns the bytes of the first `entries`, and the last position among them.
    @inline(__always)
    static func prefix(_ row: UnsafeRawBufferPointer, entries: UInt64) -> (bytes: Int, position: UInt64) {
        var reader = WireReader(row)
        var position: UInt64 = 0
        for _ in 0..<entries where !reader.isAtEnd { position &+= reader.varint() }
        return (row.count - reader.rest.count, position)
    }

    static func count(_ row: UnsafeRawBufferPointer, upTo last: UInt64) -> Int {
        var count = 0
        forEach(row) { index, position in if position <= last { count = index + 1 } }
        return count
    }
}

/// A row of table `users`: a message and a checksum. Events for this user go to the user that it names.
struct UserRow: Hashable {
    var created: UInt64 = 0
    var identities: [UserID] = []
    /// The user that this one was merged into.
    var mergedInto: UInt64?
    /// Tells whether the person was erased: no ID resolves to them.
    var isErased = false
    /// Tells whether the user, or one merged into them, ever had an ID other than a device's, also if it was removed
    /// since.
    var isIdentified = false

    init() {}

    /// Returns nil if the row is damaged.
    init?(_ row: UnsafeRawBufferPointer) {
        guard RecordHeader.hasRightChecksum(row) else { return nil }
        var reader = WireReader(row.slice(0..<(row.count - 4)))
        while let field = reader.field() {
            switch (field.number, field.type) {
            case (1, .varint): created = reader.varint()
            case (2, .bytes):
                guard let identity = IdentityCodec.read(reader.bytes()) else { return nil }
                identities.append(identity)
                isIdentified = isIdentified || !identity.isDevice
            case (3, .varint): mergedInto = reader.varint()
            case (4, .varint): isErased = reader.varint() != 0
            case (5, .varint): isIdentified = isIdentified || reader.varint() != 0
            default: reader.skip(field.type)
            }
        }
        if reader.isBad { return nil }
    }

    /// Gives the user an ID. A repeated one changes nothing.
    mutating func add(_ id: UserID) {
        if !identities.contains(id) { identities.append(id) }
        if !id.isDevice { isIdentified = true }
    }

    /// Applies an event. What a merged user adds is not in it: the caller looks that up in their row.
    mutating func apply(_ news: Tail.IdentityNews) {
        if created == 0 { created = news.position }
        switch news.change {
        case .created, .tookIn: break
        case .given(let id): add(id)
        case .released(let id): identities.removeAll { $0 == id }
        case .erased:
            identities = []
            isErased = true
            isIdentified = false
        }
    }

    /// Applies events in their order. Of many, each costs the same, however many IDs the user has.
    mutating func apply(all news: [Tail.IdentityNews]) {
        if news.count < 16 {
            for each in news { apply(each) }
            return
        }
        var slots: [UserID?] = identities
        var places = Dictionary(zip(identities, identities.indices)) { first, _ in first }
        if created == 0 { created = news[0].position }
        for each in news {
            switch each.change {
            case .created, .tookIn: break
            case .given(let id):
                if places[id] == nil {
                    places[id] = slots.count
                    slots.append(id)
                }
                isIdentified = isIdentified || !id.isDevice
            case .released(let id): places.removeValue(forKey: id).map { slots[$0] = nil }
            case .erased:
                (slots, places) = ([], [:])
                (isErased, isIdentified) = (true, false)
            }
        }
        identities = slots.compactMap { $0 }
    }

    /// The user that the one of this row was merged into. Decodes no other field.
    static func mergedInto(_ row: UnsafeRawBufferPointer) throws(StorageError) -> UInt64? {
        guard RecordHeader.hasRightChecksum(row) else { throw damage }
        var reader = WireReader(row.slice(0..<(row.count - 4)))
        while let field = reader.field() {
            if field.number == 3, field.type == .varint { return reader.varint() }
            reader.skip(field.type)
        }
        if reader.isBad { throw damage }
        return nil
    }

    static let damage = StorageError.damaged(place: "a row of table users")

    func write(to writer: inout WireWriter) {
        let begin = writer.count
        writer.field(1, varint: created)
        for identity in identities { IdentityCodec.write(identity, field: 2, to: &writer) }
        if let mergedInto { writer.field(3, varint: mergedInto) }
        if isErased { writer.field(4, varint: 1) }
        // The IDs of nearly all users tell it.
        if isIdentified, identities.allSatisfy(\.isDevice) { writer.field(5, varint: 1) }
        writer.littleEndian(crc32c(writer.bytes.slice(begin..<writer.count)))
    }

    /// Tells whether the user is known by devices only, and neither they nor anyone merged into them ever was
    /// otherwise.
    var isAnonymous: Bool { !identities.isEmpty && !isIdentified }

    /// The ID by which the user is best known: external ID, alias, e-mail, phone, device, in this order. Of several
    /// external IDs the last counts: the others were renamed.
    var primary: UserID? {
        identities.last { if case .externalID = $0 { true } else { false } }
            ?? identities.min { $0.kindNumber < $1.kindNumber }
    }
}

/// A row of table `devices`: a message and a checksum. Events for the device go to the user that it names.
enum DeviceRow {
    static func write(_ status: DeviceStatus, to writer: inout WireWriter) {
        let begin = writer.count
        status.write(to: &writer)
        writer.littleEndian(crc32c(writer.bytes.slice(begin..<writer.count)))
    }

    /// Returns nil if the row is damaged.
    static func status(_ row: UnsafeRawBufferPointer) -> DeviceStatus? {
        guard RecordHeader.hasRightChecksum(row) else { return nil }
        return DeviceStatus(row.slice(0..<(row.count - 4)))
    }
}

/// A row of table `pending`: a key that names the item's user, a value, and a checksum over both. A launch gives the
/// item to that user.
enum PendingRow {
    static func key(_ item: PendingItem, on device: Name) -> [UInt8] {
        KeyCoding.pending(device: device, storage: item.storage.rawValue, user: item.user, position: item.position)
    }

    /// The list (0: none), then the place in the SDK's queue, if the SDK has the item.
    static func value(_ item: PendingItem, key: [UInt8]) -> [UInt8] {
        var writer = WireWriter()
        key.withUnsafeBytes { writer.raw($0) }
        writer.byte(item.kind?.rawValue ?? 0)
        if let place = item.queued {
            writer.varint(place.position)
            writer.varint(place.index)
        }
        writer.littleEndian(crc32c(writer.bytes))
        return Array(writer.bytes.dropFirst(key.count))
    }

    /// Returns nil if the row is damaged.
    static func item(_ row: Cursor.Row, prefixBytes: Int) -> PendingItem? {
        guard row.value.count > 4, (Array(row.key) + Array(row.value)).withUnsafeBytes(RecordHeader.hasRightChecksum)
        else { return nil }
        var reader = WireReader(row.value.slice(0..<(row.value.count - 4)))
        let list = reader.varint()
        let kind = PendingKind(rawValue: UInt8(truncatingIfNeeded: list))
        var item = PendingItem(
            storage: StorageCode(rawValue: row.key.bigEndian32(at: prefixBytes)),
            user: row.key.bigEndian64(at: prefixBytes + 4), position: row.key.bigEndian64(at: prefixBytes + 12),
            kind: kind)
        if !reader.isAtEnd { item.queued = .init(position: reader.varint(), index: reader.varint()) }
        return reader.isBad || !reader.isAtEnd || (kind == nil && list != 0) ? nil : item
    }
}

/// The checkpoint of the caches: the row `index` of table `checkpoints`.
struct IndexCheckpoint: Hashable {
    /// Raised when the layout of a cache or of the row `flush` changes, or what a row says; caches of another revision
    /// are dropped and rebuilt.
    static let currentRevision: UInt32 = 8
    static let key = Array("index".utf8)

    var revision = currentRevision
    var position: UInt64
    var users: UInt64
    /// The flush that is under way from here.
    var flush: FlushProgress?

    /// Returns nil if the caches cannot be used and must be rebuilt: the row is missing, damaged, of another revision,
    /// or ahead of the end of the log, `last`; or it does not tell which rows are ahead of it.
    static func read(
        _ tables: Tables, _ transaction: borrowing some Reading & ~Copyable, last: UInt64? = nil
    ) throws -> IndexCheckpoint? {
        let last = try last ?? OpenStore.last(transaction, tables)
        guard let row = try transaction.get(tables.checkpoints, key), row.count == 24,
            RecordHeader.hasRightChecksum(row), row.bigEndian32() == currentRevision, row.bigEndian64(at: 4) <= last
        else { return nil }
        var checkpoint = IndexCheckpoint(position: row.bigEndian64(at: 4), users: row.bigEndian64(at: 12))
        do {
            checkpoint.flush = try FlushProgress.read(tables, transaction, checkpoint: checkpoint.position, last: last)
        } catch StorageError.damaged {
            return nil
        }
        return checkpoint
    }

    /// Returns the position up to which usable caches reach; 0 if none are usable.
    static func position(_ tables: Tables, _ transaction: borrowing some Reading & ~Copyable) throws -> UInt64 {
        try read(tables, transaction)?.position ?? 0
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendBigEndian(revision)
        bytes.appendBigEndian(position)
        bytes.appendBigEndian(users)
        bytes.appendChecksum()
        return bytes
    }
}

/// The IDs that the store gives to users: 24 hexadecimal digits, 8 of the store and 16 of the user's number.
struct BrazeIDs: Sendable {
    let prefix: String

    init(uuid: [UInt8]) { prefix = Hexadecimal.text(uuid.prefix(4)) }

    /// The `braze_id` of a user.
    func id(_ user: UInt64) -> String { prefix + withUnsafeBytes(of: user.bigEndian) { Hexadecimal.text($0) } }

    /// The user's number in `id`, or nil if this store did not assign it.
    func user(_ id: String) -> UInt64? {
        guard id.utf8.count == 24, id.lowercased().hasPrefix(prefix) else { return nil }
        return UInt64(id.dropFirst(8), radix: 16)
    }
}

extension [UInt64: UserRow] {
    /// Applies what `tail` has on users at the positions for which `isNew` returns true.
    mutating func apply(_ tail: borrowing Tail, where isNew: (UInt64) -> Bool) {
        var merges: [(position: UInt64, source: UInt64, target: UInt64)] = []
        for (user, changes) in tail.identities {
            let news = changes.filter { isNew($0.position) }
            if news.isEmpty { continue }
            self[user, default: UserRow()].apply(all: news)
            for each in news {
                if let source = each.tookIn { merges.append((each.position, source, user)) }
            }
        }
        // In the order of the log: a merged user may have been the target of an earlier merge.
        for merge in merges.sorted(by: { $0.position < $1.position }) where self[merge.source]?.isIdentified == true {
            self[merge.target]?.isIdentified = true
        }
        for (source, merge) in tail.merges where isNew(merge.position) {
            self[source, default: UserRow()].mergedInto = merge.target
        }
    }
}
