extension RecordHeader {
    /// The event's source. Reads at most three fields after the header.
    var source: EventSource {
        var reader = WireReader(body)
        while let field = reader.field(), field.number <= RecordField.source {
            if field.number == RecordField.source {
                return EventSource(rawValue: UInt8(truncatingIfNeeded: reader.varint())) ?? .unknown
            }
            reader.skip(field.type)
        }
        return .unknown
    }

    /// Whether the event updates its user. Skipped parts of a request do not, nor does an attribute that the system set
    /// because of another user or an address.
    package var isUpdate: Bool {
        switch kind {
        case .objectsLeftOut: false
        case .userAttributesChanged: source != .system
        default: true
        }
    }
}
