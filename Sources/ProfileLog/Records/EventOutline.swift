/// An event without its values: as much of a record as a mark on a time line needs.
package struct EventOutline: Sendable {
    /// The kind of fact; `unknown` for one of a newer program.
    package let kind: EventKind
    package let user: UInt64
    package let version: UInt64
    package let recordedAt: Timestamp
    /// The time at which it happened by the sender's clock; without one, when it was recorded.
    package private(set) var occurredAt: Timestamp
    /// The number of the name of a custom event, a product or a message; 0 if it has none.
    package private(set) var name: UInt32 = 0
    /// The attributes that it changes: numbers of names, or of a `StandardAttribute` if it is about user attributes.
    package private(set) var attributes: [UInt32] = []
    package private(set) var device: String?
    package private(set) var isErased = false

    /// Reads the fields up to the last one that it needs; nil if the record is damaged before it.
    package init?(_ header: RecordHeader) {
        kind = header.kind ?? .unknown
        (user, version) = (header.user, header.version)
        recordedAt = Timestamp(rawValue: header.recordedAt)
        occurredAt = recordedAt
        let readsAttributes =
            switch kind.role {
            case .content(.customAttributes, _), .content(.userAttributes, _): true
            case .content(.customEvent, _), .content(.purchase, _), .identity, .device, .outcome, .message, .note:
                false
            }
        var reader = WireReader(header.body)
        while let field = reader.field(), field.number <= RecordField.erased {
            switch field.type {
            case .varint where field.number == RecordField.occurredAtMilliseconds:
                occurredAt = Timestamp(rawValue: reader.milliseconds())
            case .varint where field.number == RecordField.occurredAt:
                occurredAt = Timestamp(rawValue: reader.signed())
            case .varint where field.number == RecordField.name: name = UInt32(truncatingIfNeeded: reader.varint())
            case .varint where field.number == RecordField.erased: isErased = reader.varint() != 0
            case .bytes where field.number == RecordField.device: device = String(exactly: reader.bytes())
            case .bytes where field.number == RecordField.entries && readsAttributes:
                var entry = WireReader(reader.bytes())
                if entry.field()?.number == RecordField.Value.name {
                    attributes.append(UInt32(truncatingIfNeeded: entry.varint()))
                }
            case .varint, .bytes, .fixed32, .fixed64: reader.skip(field.type)
            }
        }
        if reader.isBad { return nil }
    }
}
