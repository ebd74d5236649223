/// All fields after a record's header, read in one pass. Names stay numbers, values stay bytes.
package struct RecordBody {
    package private(set) var occurredAt: Int64?
    private(set) var source: UInt64 = 0
    package private(set) var name: UInt32 = 0
    private(set) var utcOffset: Int32 = 0
    package private(set) var process: UInt32 = 0
    package private(set) var device: UnsafeRawBufferPointer?
    package private(set) var storage: UInt32 = 0
    package private(set) var launch: UInt64 = 0
    private(set) var hasEmptyProperties = false
    package private(set) var launchKind: UInt64 = 0
    package private(set) var otherUser: UInt64?
    package private(set) var erased = false
    package private(set) var price = 0.0
    package private(set) var quantity: UInt32 = 1
    private(set) var item: String?
    private(set) var app: String?
    private(set) var chunk: UInt32 = 0
    package private(set) var isQueued = false
    private(set) var replaces: UInt64 = 0
    package private(set) var skippedLists: UInt64 = 0
    package private(set) var otherVersion: UInt64 = 0
    private(set) var entries: RecordEntries
    private var rarities: Rarities?

    /// Fields of few records, in a class of their own: reading a history copies and frees a body for each event.
    private final class Rarities {
        var append: AppendField?
        var currency = ""
        var reason = ""
        var actor = ""
        var settings: DeviceSettings?
        var identities: [UserID] = []
        var released: [UserID] = []
        var flushed: [Position] = []
        var rejected: [Flush.Rejection] = []
        var discarded: [Position] = []
        var leftOut: [LeftOut] = []
    }

    var append: AppendField? { rarities?.append }
    package var currency: String { rarities?.currency ?? "" }
    var reason: String { rarities?.reason ?? "" }
    var actor: String { rarities?.actor ?? "" }
    package var settings: DeviceSettings? { rarities?.settings }
    package var identities: [UserID] { rarities?.identities ?? [] }
    package var released: [UserID] { rarities?.released ?? [] }
    package var flushed: [Position] { rarities?.flushed ?? [] }
    package var rejected: [Flush.Rejection] { rarities?.rejected ?? [] }
    package var discarded: [Position] { rarities?.discarded ?? [] }
    var leftOut: [LeftOut] { rarities?.leftOut ?? [] }

    /// Reads `bytes`, which must outlive the body; nil if they are not a message.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        entries = RecordEntries(bytes)
        var reader = WireReader(bytes)
        while let field = reader.field() {
            switch field.type {
            case .varint: readNumber(field.number, &reader)
            case .bytes where field.number == RecordField.entries:
                _ = reader.bytes()
                entries.count += 1
            case .bytes: if !readBytes(field.number, &reader) { return nil }
            case .fixed64:
                let value = reader.double()
                if field.number == RecordField.price { price = value }
            case .fixed32: reader.skip(.fixed32)
            }
        }
        if reader.isBad { return nil }
    }

    private mutating func readNumber(_ field: UInt32, _ reader: inout WireReader) {
        switch field {
        case RecordField.occurredAtMilliseconds: occurredAt = reader.milliseconds()
        case RecordField.occurredAt: occurredAt = reader.signed()
        case RecordField.utcOffset: utcOffset = Int32(truncatingIfNeeded: reader.signed())
        default:
            let value = reader.varint()
            switch field {
            case RecordField.source: source = value
            case RecordField.name: name = UInt32(truncatingIfNeeded: value)
            case RecordField.process: process = UInt32(truncatingIfNeeded: value)
            case RecordField.storage: storage = UInt32(truncatingIfNeeded: value)
            case RecordField.launch: launch = value
            case RecordField.emptyProperties: hasEmptyProperties = value != 0
            case RecordField.launchKind: launchKind = value
            case RecordField.otherUser: otherUser = value
            case RecordField.erased: erased = value != 0
            case RecordField.quantity: quantity = UInt32(truncatingIfNeeded: value)
            case RecordField.chunk: chunk = UInt32(truncatingIfNeeded: value)
            case RecordField.queued: isQueued = value != 0
            case RecordField.replaces: replaces = value
            case RecordField.skippedLists: skippedLists = value
            case RecordField.otherVersion: otherVersion = value
            default: break
            }
        }
    }

    private mutating func readBytes(_ field: UInt32, _ reader: inout WireReader) -> Bool {
        switch field {
        case RecordField.device: device = reader.bytes()
        case RecordField.item: item = reader.text()
        case RecordField.app: app = reader.text()
        default:
            let rarities = rarities ?? Rarities()
            self.rarities = rarities
            return Self.readRarity(field, &reader, into: rarities)
        }
        return true
    }

    private static func readRarity(_ field: UInt32, _ reader: inout WireReader, into rarities: Rarities) -> Bool {
        switch field {
        case RecordField.append:
            guard let field = AppendField(reader.bytes()) else { return false }
            rarities.append = field
        case RecordField.flushed: rarities.flushed += positions(reader.bytes())
        case RecordField.discarded: rarities.discarded += positions(reader.bytes())
        case RecordField.rejected:
            guard let rejection = rejection(reader.bytes()) else { return false }
            rarities.rejected.append(rejection)
        case RecordField.identities:
            guard let identity = IdentityCodec.read(reader.bytes()) else { return false }
            rarities.identities.append(identity)
        case RecordField.released:
            guard let identity = IdentityCodec.read(reader.bytes()) else { return false }
            rarities.released.append(identity)
        case RecordField.leftOut:
            guard let item = LeftOutCodec.read(reader.bytes()) else { return false }
            rarities.leftOut.append(item)
        case RecordField.settings:
            guard let read = SettingsCodec.read(reader.bytes()) else { return false }
            rarities.settings = read
        case RecordField.reason: rarities.reason = reader.text()
        case RecordField.actor: rarities.actor = reader.text()
        case RecordField.currency: rarities.currency = reader.text()
        default: reader.skip(.bytes)
        }
        return true
    }

    private static func positions(_ bytes: UnsafeRawBufferPointer) -> [Position] {
        var positions: [Position] = []
        var reader = WireReader(bytes)
        while !reader.isAtEnd { positions.append(Position(rawValue: reader.varint())) }
        return positions
    }

    private static func rejection(_ bytes: UnsafeRawBufferPointer) -> Flush.Rejection? {
        var rejection = Flush.Rejection(position: .start, reason: "")
        var reader = WireReader(bytes)
        while let field = reader.field() {
            switch (field.number, field.type) {
            case (1, .varint): rejection.position = Position(rawValue: reader.varint())
            case (2, .bytes): rejection.reason = reader.text()
            default: reader.skip(field.type)
            }
        }
        return reader.isBad ? nil : rejection
    }
}

/// The entries of a record, borrowed from its bytes: reading these twice costs less than an array.
struct RecordEntries: Sequence {
    private let bytes: UnsafeRawBufferPointer
    fileprivate(set) var count = 0

    fileprivate init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    func makeIterator() -> Iterator { Iterator(reader: WireReader(bytes), left: count) }

    struct Iterator: IteratorProtocol {
        fileprivate var reader: WireReader
        fileprivate var left: Int

        mutating func next() -> UnsafeRawBufferPointer? {
            while left > 0, let field = reader.field() {
                if field.number == RecordField.entries, field.type == .bytes {
                    left -= 1
                    return reader.bytes()
                }
                reader.skip(field.type)
            }
            return nil
        }
    }
}

/// What the first record of an append with an idempotency key says about the append (message `Append` of record.proto).
package struct AppendField: Hashable, Sendable {
    var key: [UInt8] = []
    package var content: [UInt8] = []
    package var count: UInt64 = 0
    package var note: [UInt8] = []
    /// The key's hash in a tombstone; empty in other records.
    var keyHash: [UInt8] = []

    package init(key: [UInt8], content: [UInt8], count: UInt64, note: [UInt8]) {
        self.key = key
        self.content = content
        self.count = count
        self.note = note
    }

    /// What a tombstone keeps: the hash of the key, and the number of events.
    init(erasing field: AppendField) {
        keyHash = field.hash ?? []
        count = field.count
    }

    init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = WireReader(bytes)
        while let field = reader.field() {
            switch (field.number, field.type) {
            case (1, .bytes): key = Array(reader.bytes())
            case (2, .bytes): content = Array(reader.bytes())
            case (3, .varint): count = reader.varint()
            case (4, .bytes): note = Array(reader.bytes())
            case (5, .bytes): keyHash = Array(reader.bytes())
            default: reader.skip(field.type)
            }
        }
        if reader.isBad { return nil }
    }

    /// The field at the front of `body`, if it begins with one.
    package static func first(in body: UnsafeRawBufferPointer) -> AppendField? {
        guard body.first == UInt8(RecordField.append << 3 | 2) else { return nil }
        var reader = WireReader(body)
        _ = reader.field()
        return AppendField(reader.bytes())
    }

    /// `body` without the field at its front.
    package static func skipped(in body: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard body.first == UInt8(RecordField.append << 3 | 2) else { return body }
        var reader = WireReader(body)
        _ = reader.field()
        _ = reader.bytes()
        return reader.rest
    }

    /// The hash of the key, which is the append's key in table `keys`; nil if an older program erased the key without
    /// its hash.
    package var hash: [UInt8]? { key.isEmpty ? (keyHash.isEmpty ? nil : keyHash) : KeyCoding.hash(key) }

    /// Whether the append was stored under `key`, whose hash is `hash`.
    package func isUnder(_ key: [UInt8], hash: [UInt8]) -> Bool { self.key.isEmpty ? keyHash == hash : self.key == key }

    /// Whether the record is a tombstone: key, content hash and note are gone.
    package var isErased: Bool { key.isEmpty }

    package func write(to writer: inout WireWriter) {
        let begin = writer.beginMessage(RecordField.append)
        if !key.isEmpty { writer.field(1, bytes: key) }
        if !content.isEmpty { writer.field(2, bytes: content) }
        writer.field(3, varint: count)
        if !note.isEmpty { writer.field(4, bytes: note) }
        if !keyHash.isEmpty { writer.field(5, bytes: keyHash) }
        writer.endMessage(begin)
    }
}
