/// A message of the wire format as a table of its fields, each said once: it writes a value and reads it back. For
/// messages that are seldom on a hot path.
package struct WireTable<Value: Sendable>: Sendable {
    /// The value read from no bytes.
    let initial: Value
    let fields: [WireField<Value>]
    /// Tells whether a field that is not in the table makes the bytes bad; otherwise it is skipped.
    let isStrict: Bool

    package init(_ initial: Value, isStrict: Bool = false, _ fields: [WireField<Value>]) {
        (self.initial, self.isStrict, self.fields) = (initial, isStrict, fields)
    }

    /// Writes the fields in the order of the table.
    package func write(_ value: Value, to writer: inout WireWriter) {
        for field in fields { field.write(value, &writer) }
    }

    package func write(_ value: Value, as field: UInt32, to writer: inout WireWriter) {
        let begin = writer.beginMessage(field)
        write(value, to: &writer)
        writer.endMessage(begin)
    }

    /// Returns nil if the bytes are not such a message.
    package func read(_ bytes: UnsafeRawBufferPointer) -> Value? {
        var value = initial
        var reader = WireReader(bytes)
        while let found = reader.field() {
            if let field = fields.first(where: { $0.number == found.number && $0.type == found.type }) {
                field.read(&value, &reader)
            } else if isStrict {
                return nil
            } else {
                reader.skip(found.type)
            }
        }
        return reader.isBad ? nil : value
    }
}

/// A field of a message, or several of the same number.
package struct WireField<Value: Sendable>: Sendable {
    let number: UInt32
    let type: WireType
    let write: @Sendable (Value, inout WireWriter) -> Void
    let read: @Sendable (inout Value, inout WireReader) -> Void

    package init(
        number: UInt32, type: WireType, write: @escaping @Sendable (Value, inout WireWriter) -> Void,
        read: @escaping @Sendable (inout Value, inout WireReader) -> Void
    ) {
        (self.number, self.type, self.write, self.read) = (number, type, write, read)
    }

    /// A field of the value at a key path.
    package typealias Place<Field> = any WritableKeyPath<Value, Field> & Sendable

    /// An unsigned number; not written if it is `omitted`.
    package static func number<Number: FixedWidthInteger & UnsignedInteger & Sendable>(
        _ number: UInt32, _ place: Place<Number>, omitted: Number? = nil
    ) -> Self {
        Self(number: number, type: .varint) { value, writer in
            let field = value[keyPath: place]
            if field != omitted { writer.field(number, varint: UInt64(field)) }
        } read: {
            $0[keyPath: place] = Number(truncatingIfNeeded: $1.varint())
        }
    }

    /// A field that is true or false; not written if it is `omitted`.
    package static func flag(_ number: UInt32, _ place: Place<Bool>, omitted: Bool = false) -> Self {
        Self(number: number, type: .varint) { value, writer in
            if value[keyPath: place] != omitted { writer.field(number, varint: 1) }
        } read: {
            $0[keyPath: place] = ($1.varint() != 0) != omitted
        }
    }

    /// A case by its stored number; not written if that is 0. A number that no case has is read as `unknown`.
    package static func choice<Choice: RawRepresentable<UInt8> & Sendable>(
        _ number: UInt32, _ place: Place<Choice>, unknown: Choice
    ) -> Self {
        Self(number: number, type: .varint) { value, writer in
            let raw = value[keyPath: place].rawValue
            if raw > 0 { writer.field(number, varint: UInt64(raw)) }
        } read: {
            $0[keyPath: place] = Choice(rawValue: UInt8(truncatingIfNeeded: $1.varint())) ?? unknown
        }
    }

    /// A case by its stored number, if there is one.
    package static func choice<Choice: RawRepresentable<UInt8> & Sendable>(
        _ number: UInt32, _ place: Place<Choice?>
    ) -> Self {
        Self(number: number, type: .varint) { value, writer in
            if let raw = value[keyPath: place]?.rawValue { writer.field(number, varint: UInt64(raw)) }
        } read: {
            $0[keyPath: place] = Choice(rawValue: UInt8(truncatingIfNeeded: $1.varint()))
        }
    }

    package static func signed(_ number: UInt32, _ place: Place<Int64>) -> Self {
        Self(number: number, type: .varint) {
            $1.field(number, signed: $0[keyPath: place])
        } read: {
            $0[keyPath: place] = $1.signed()
        }
    }

    /// A signed number, if there is one.
    package static func signed(_ number: UInt32, _ place: Place<Int64?>) -> Self {
        Self(number: number, type: .varint) { value, writer in
            if let field = value[keyPath: place] { writer.field(number, signed: field) }
        } read: {
            $0[keyPath: place] = $1.signed()
        }
    }

    package static func text(_ number: UInt32, _ place: Place<String>) -> Self {
        Self(number: number, type: .bytes) {
            $1.field(number, text: $0[keyPath: place])
        } read: {
            $0[keyPath: place] = $1.text()
        }
    }

    /// A text, if there is one.
    package static func text(_ number: UInt32, _ place: Place<String?>) -> Self {
        Self(number: number, type: .bytes) { value, writer in
            if let text = value[keyPath: place] { writer.field(number, text: text) }
        } read: {
            $0[keyPath: place] = $1.text()
        }
    }

    package static func name(_ number: UInt32, _ place: Place<Name>) -> Self {
        Self(number: number, type: .bytes) {
            $1.field(number, text: $0[keyPath: place].text)
        } read: {
            $0[keyPath: place] = Name($1.text())
        }
    }

    /// A name each.
    package static func names(_ number: UInt32, _ place: Place<[Name]>) -> Self {
        names(number) {
            $0[keyPath: place]
        } add: {
            $0[keyPath: place].append($1)
        }
    }

    /// A name for each of `all`, given to `add` when it is read.
    package static func names(
        _ number: UInt32, all: @escaping @Sendable (Value) -> [Name],
        add: @escaping @Sendable (inout Value, Name) -> Void
    ) -> Self {
        Self(number: number, type: .bytes) { value, writer in
            for name in all(value) { writer.field(number, text: name.text) }
        } read: {
            add(&$0, Name($1.text()))
        }
    }

    /// A message; not written if it is `omitted`.
    package static func message<Message: Equatable>(
        _ number: UInt32, _ place: Place<Message>, _ table: WireTable<Message>, omitted: Message
    ) -> Self {
        messages(number, table) {
            $0[keyPath: place] == omitted ? [] : [$0[keyPath: place]]
        } add: {
            $0[keyPath: place] = $1
        }
    }

    /// A message, if there is one.
    package static func message<Message>(
        _ number: UInt32, _ place: Place<Message?>, _ table: WireTable<Message>
    ) -> Self {
        messages(number, table) {
            $0[keyPath: place].map { [$0] } ?? []
        } add: {
            $0[keyPath: place] = $1
        }
    }

    /// A message each.
    package static func messages<Message>(
        _ number: UInt32, _ place: Place<[Message]>, _ table: WireTable<Message>
    ) -> Self {
        messages(number, table) {
            $0[keyPath: place]
        } add: {
            $0[keyPath: place].append($1)
        }
    }

    /// A message for each of `all`, given to `add` when it is read.
    package static func messages<Message>(
        _ number: UInt32, _ table: WireTable<Message>, all: @escaping @Sendable (Value) -> [Message],
        add: @escaping @Sendable (inout Value, Message) -> Void
    ) -> Self {
        Self(number: number, type: .bytes) { value, writer in
            for message in all(value) { table.write(message, as: number, to: &writer) }
        } read: { value, reader in
            if let message = table.read(reader.bytes()) { add(&value, message) } else { reader.fail() }
        }
    }
}
