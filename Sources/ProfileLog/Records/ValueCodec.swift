/// Values to wire bytes and back (message `Value` of record.proto).
package enum ValueCodec {
    /// Writes the field that holds `value`, without name or key. The common values are written in line: a call would
    /// copy the element of an array.
    @inline(__always)
    package static func write(_ value: borrowing AttributeValue, to writer: inout WireWriter) {
        switch value {
        case .null: writer.field(RecordField.Value.null, varint: 1)
        case .bool(let bool): writer.field(RecordField.Value.bool, varint: bool ? 1 : 0)
        case .int(let int): writer.field(RecordField.Value.int, signed: int)
        case .double(let double): writer.field(RecordField.Value.double, double: double)
        case .string(let string): write(string, to: &writer)
        default: writeComposed(copy value, to: &writer)
        }
    }

    private static func writeComposed(_ value: AttributeValue, to writer: inout WireWriter) {
        switch value {
        case .date(let date):
            let begin = writer.beginMessage(RecordField.Value.date)
            writer.field(1, signed: date.timestamp.rawValue)
            if date.utcOffsetMinutes != 0 { writer.field(2, signed: Int64(date.utcOffsetMinutes)) }
            writer.endMessage(begin)
        case .array(let values):
            let begin = writer.beginMessage(RecordField.Value.array)
            let values = values.span
            for index in values.indices {
                let item = writer.beginMessage(1)
                write(values[index], to: &writer)
                writer.endMessage(item)
            }
            writer.endMessage(begin)
        case .object(let members): writeObject(members, to: &writer)
        default: write(value, to: &writer)
        }
    }

    @inline(__always)
    private static func write(_ string: borrowing String, to writer: inout WireWriter) {
        string.withRawUTF8 { utf8 in
            if utf8.count == UUIDText.characters, writer.field(RecordField.Value.uuid, uuid: utf8) { return }
            writer.tag(RecordField.Value.string, .bytes)
            writer.varint(UInt64(utf8.count))
            writer.raw(utf8)
        }
    }

    /// Writes the members in ascending order, whatever their order is.
    static func writeObject(_ members: [AttributeValue.Member], to writer: inout WireWriter) {
        let members = members.ascending
        let begin = writer.beginMessage(RecordField.Value.object)
        let span = members.span
        for index in span.indices {
            let item = writer.beginMessage(1)
            write(span[index].value, to: &writer)
            writer.field(RecordField.Value.key, text: span[index].key.text)
            writer.endMessage(item)
        }
        writer.endMessage(begin)
    }

    /// A value in a message, with its name or key.
    package struct Named {
        var name: UInt32 = 0
        var key: Name?
        package var value: AttributeValue = .null
        package var operation: RecordField.Operation = .set
    }

    /// Reads one `Value` message; nil if the bytes are invalid.
    package static func read(_ bytes: UnsafeRawBufferPointer, depth: Int = 0) -> Named? {
        guard depth <= maxDepth else { return nil }
        var named = Named()
        var reader = WireReader(bytes)
        while let field = reader.field() {
            switch (field.number, field.type) {
            case (RecordField.Value.name, .varint): named.name = UInt32(truncatingIfNeeded: reader.varint())
            case (RecordField.Value.operation, .varint):
                guard let operation = RecordField.Operation(rawValue: reader.varint()) else { return nil }
                named.operation = operation
            case (RecordField.Value.key, .bytes): named.key = Name(reader.text())
            default:
                if let value = readPayload(field, &reader, depth: depth) {
                    named.value = value
                } else if RecordField.Value.isPayload(field.number) {
                    return nil
                } else {
                    reader.skip(field.type)
                }
            }
        }
        return reader.isBad ? nil : named
    }

    /// Deeper than any value that `Validation` accepts.
    static let maxDepth = 128

    private static func readPayload(
        _ field: WireReader.Field, _ reader: inout WireReader, depth: Int
    ) -> AttributeValue? {
        switch (field.number, field.type) {
        case (RecordField.Value.bool, .varint): return .bool(reader.varint() != 0)
        case (RecordField.Value.int, .varint): return .int(reader.signed())
        case (RecordField.Value.double, .fixed64): return .double(reader.double())
        case (RecordField.Value.string, .bytes): return .string(reader.text())
        case (RecordField.Value.uuid, .bytes):
            let bytes = reader.bytes()
            return bytes.count == UUIDText.bytes ? .string(UUIDText.text(bytes)) : nil
        case (RecordField.Value.null, .varint):
            _ = reader.varint()
            return .null
        case (RecordField.Value.date, .bytes): return readDate(reader.bytes()).map { .date($0) }
        case (RecordField.Value.array, .bytes):
            return readItems(reader.bytes(), depth: depth).map { .array($0.map(\.value)) }
        case (RecordField.Value.object, .bytes):
            guard let items = readItems(reader.bytes(), depth: depth) else { return nil }
            var members: [AttributeValue.Member] = []
            members.reserveCapacity(items.count)
            for item in items {
                guard let key = item.key else { return nil }
                members.append(AttributeValue.Member(key, item.value))
            }
            return .object(OldForm.ascending(members))
        default: return nil
        }
    }

    private static func readDate(_ bytes: UnsafeRawBufferPointer) -> OccurredAt? {
        var date = OccurredAt(Timestamp(rawValue: 0))
        var reader = WireReader(bytes)
        while let field = reader.field() {
            switch (field.number, field.type) {
            case (1, .varint): date.timestamp = Timestamp(rawValue: reader.signed())
            case (2, .varint): date.utcOffsetMinutes = Int32(truncatingIfNeeded: reader.signed())
            default: reader.skip(field.type)
            }
        }
        return reader.isBad ? nil : date
    }

    private static func readItems(_ bytes: UnsafeRawBufferPointer, depth: Int) -> [Named]? {
        var items: [Named] = []
        var reader = WireReader(bytes)
        while let bytes = reader.bytes(of: 1) {
            guard let item = read(bytes, depth: depth + 1) else { return nil }
            items.append(item)
        }
        return reader.isBad ? nil : items
    }
}
