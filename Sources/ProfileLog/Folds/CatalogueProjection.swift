/// Folds all events of a store into its catalogue: which custom events, custom attributes and products there are.
///
/// An item counts when it takes effect, with the time at which it was saved: rejected and discarded items never count,
/// saved and flushed ones once. A merge changes nothing: the source's events were counted when they happened.
package enum CatalogueProjection: StoreProjection {
    package static let name = "catalogue"
    package static let revision: UInt32 = 3
    package static var initial: CatalogueState { CatalogueState() }

    package static func apply(_ event: borrowing EventView, to state: inout CatalogueState) {
        let header = event.header
        switch header.kind?.role {
        case .content(let content, _):
            if content.isCatalogued { forEachMention(header, content) { state.add($0, event.position) } }
        case .identity, .device, .outcome, .message, .note, nil: break
        }
    }

    /// Calls `body` with what the event says about each name. Values are not decoded.
    @inline(__always)
    private static func forEachMention(
        _ header: RecordHeader, _ content: EventRole.Content, _ body: (CatalogueState.Mention) -> Void
    ) {
        let isPurchase = if case .purchase = content { true } else { false }
        var at = header.recordedAt
        var name: UInt32 = 0
        var quantity: UInt64 = 1
        var reader = WireReader(header.body)
        while let field = reader.field() {
            switch field.number {
            case RecordField.occurredAtMilliseconds: at = reader.milliseconds()
            case RecordField.occurredAt: at = reader.signed()
            case RecordField.name:
                name = UInt32(truncatingIfNeeded: reader.varint())
                if !isPurchase {
                    body(.event(name, at: at))
                    return
                }
            case RecordField.entries where !isPurchase:
                if let mention = attribute(reader.bytes()) { body(mention) }
            case RecordField.quantity: quantity = reader.varint()
            default: reader.skip(field.type)
            }
        }
        // An erased purchase has no name.
        if isPurchase, name > 0, !reader.isBad { body(.product(name, at: at, quantity: quantity)) }
    }

    /// Reads an entry's statement about its attribute; nil if it sets no value.
    private static func attribute(_ entry: UnsafeRawBufferPointer) -> CatalogueState.Mention? {
        var reader = WireReader(entry)
        var name: UInt32 = 0
        var operation = RecordField.Operation.set
        var type: AttributeType?
        var elements: UInt64 = 0
        while let field = reader.field() {
            switch field.number {
            case RecordField.Value.name: name = UInt32(truncatingIfNeeded: reader.varint())
            case RecordField.Value.operation:
                guard let read = RecordField.Operation(rawValue: reader.varint()) else { return nil }
                operation = read
            case RecordField.Value.array: (type, elements) = array(reader.bytes())
            default:
                type = scalar(field.number) ?? type
                reader.skip(field.type)
            }
        }
        guard !reader.isBad, name > 0 else { return nil }
        switch operation {
        case .set: break
        case .increment: type = .number
        case .arrayAdd: type = .array
        case .objectMerge: type = .object
        case .objectsAdd: type = .objectArray
        case .unset, .arrayRemove, .objectsUpdate, .objectsUpdateMerging, .objectsRemove: return nil
        }
        return type.map { .attribute(name, $0, elements: elements) }
    }

    private static func scalar(_ field: UInt32) -> AttributeType? {
        switch field {
        case RecordField.Value.bool: .boolean
        case RecordField.Value.int, RecordField.Value.double: .number
        case RecordField.Value.string, RecordField.Value.uuid: .string
        case RecordField.Value.date: .time
        case RecordField.Value.object: .object
        default: nil
        }
    }

    /// The type of an array by its first element (nil if it is empty), and how many elements it has.
    private static func array(_ bytes: UnsafeRawBufferPointer) -> (AttributeType?, UInt64) {
        var type: AttributeType?
        var elements: UInt64 = 0
        var reader = WireReader(bytes)
        while let element = reader.bytes(of: 1) {
            if elements == 0 {
                var inner = WireReader(element)
                type = inner.field()?.number == RecordField.Value.object ? .objectArray : .array
            }
            elements += 1
        }
        return (type, elements)
    }
}
