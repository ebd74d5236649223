/// What stays of an erased record: its place, and what other records depend on.
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
        switch kind {
        // Their entries have the numbers of standard attributes.
        case .userAttributeSaved, .userAttributesChanged, .userAttributesQueued: return
        default: break
        }
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
