extension RecordHeader {
    /// Through which door the event came. Reads at most three fields behind the header.
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

    /// Whether the event updates its user. What a request left out does not, nor does an attribute that the system gave
    /// them: it was set for somebody else, or for an address.
    package var isUpdate: Bool {
        switch kind {
        case .objectsLeftOut: false
        case .userAttributesChanged: source != .system
        default: true
        }
    }
}
