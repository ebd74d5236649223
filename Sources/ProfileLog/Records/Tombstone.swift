/// The note about an append with an idempotency key in its first record (message `Append` of record.proto).
package struct AppendField: Hashable, Sendable {
    package var key: [UInt8] = []
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

    /// Keeps what a tombstone has of `field`: the hash of the key, and the number of events.
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

    /// Tells whether the append was stored under `key`, whose hash is `hash`.
    package func isUnder(_ key: [UInt8], hash: [UInt8]) -> Bool { self.key.isEmpty ? keyHash == hash : self.key == key }

    /// Tells whether the record is a tombstone: key, content hash and note are gone.
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

/// The rest of an erased record: its place, and what other records depend on.
///
/// Kind, user, version and time stay. An append with a key keeps its number of events and a hash of the key, so that a
/// retry is recognised. A merge keeps the number of its source.
package enum Tombstone {
    package static func record(of header: RecordHeader) -> [UInt8]? {
        guard let body = RecordBody(header.body) else { return nil }
        var writer = WireWriter()
        RecordHeader.write(
            kind: header.kindNumber, user: header.user, version: header.version, recordedAt: header.recordedAt,
            to: &writer)
        if let append = body.append { AppendField(erasing: append).write(to: &writer) }
        if header.kind == .usersMerged, let source = body.otherUser {
            writer.field(RecordField.otherUser, varint: source)
            writer.field(RecordField.otherVersion, varint: body.otherVersion)
        }
        writer.field(RecordField.erased, varint: 1)
        writer.littleEndian(crc32c(writer.bytes))
        return Array(writer.bytes)
    }
}

extension RecordBody {
    /// The numbers of all names that the record uses.
    package func forEachName(_ kind: EventKind?, _ body: (UInt32) -> Void) {
        for number in [name, process, storage] where number > 0 { body(number) }
        // Their entries have the numbers of standard attributes.
        if case .content(.userAttributes, _) = kind?.role { return }
        for entry in entries {
            var reader = WireReader(entry)
            while let field = reader.field() {
                if field.number == RecordField.Value.name, field.type == .varint {
                    body(UInt32(truncatingIfNeeded: reader.varint()))
                    break
                }
                reader.skip(field.type)
            }
        }
    }
}
