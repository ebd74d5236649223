/// One stored event, borrowed: it decodes what is asked of it, and cannot outlive the transaction that lends it.
///
/// A fold gets a saved or queued event when it takes effect: ``position`` and both times are those of the save, and
/// ``effect`` is the position of the flush or the sending.
public struct EventView: ~Copyable {
    /// The event's place in the log.
    public let position: Position
    /// The position at which its content takes effect: its own, or that of the flush or the sending.
    public let effect: Position
    @usableFromInline package let header: RecordHeader
    @usableFromInline unowned(unsafe) let names: NameTable
    /// The knowledge of folds about the event's moment: the rules that hold for it; nil if there were never any.
    @usableFromInline package unowned(unsafe) let context: AnyObject?
    /// The device of a fold by device: the device whose state it is applied to, one of `devices`.
    public let device: Name?

    /// A view of the record of `header`, which must outlive it, as must `names` and `context`. It takes effect at
    /// `effect`; nil for its own position.
    @inlinable
    @inline(__always)
    package init(
        header: RecordHeader, position: Position, names: NameTable, device: Name? = nil, effect: Position? = nil,
        context: AnyObject? = nil
    ) {
        self.header = header
        self.position = position
        self.effect = effect ?? position
        self.names = names
        self.context = context
        self.device = device
    }

    /// The same event for the state of `device`.
    package func on(_ device: Name) -> EventView {
        EventView(
            header: header, position: position, names: names, device: device, effect: effect, context: context)
    }

    /// The kind of fact; nil for a kind that this program does not know.
    @inlinable public var kind: EventKind? { header.kind }
    /// The owner of an event.
    @inlinable public var user: UserNumber { UserNumber(rawValue: header.user) }
    /// Its place among the user's events.
    @inlinable public var version: Version { Version(rawValue: header.version) }
    /// The time at which the log recorded it; never falls along the log.
    @inlinable public var recordedAt: Timestamp { Timestamp(rawValue: header.recordedAt) }

    /// The time at which it happened by the sender's clock; without one, when it was recorded. Reads one field.
    public var occurredAt: Timestamp {
        var reader = WireReader(header.body)
        while let field = reader.field(), field.number <= RecordField.occurredAt {
            if field.number == RecordField.occurredAtMilliseconds { return Timestamp(rawValue: reader.milliseconds()) }
            if field.number == RecordField.occurredAt { return Timestamp(rawValue: reader.signed()) }
            reader.skip(field.type)
        }
        return recordedAt
    }

    /// Its source. Reads at most three fields.
    public var source: EventSource { header.source }

    /// As `RecordHeader.devices`.
    package var devices: [Name] { header.devices }

    /// The name of a custom event or the ID of a product; nil for other events.
    public var name: Name? { nameNumber == 0 ? nil : names.name(nameNumber) }

    /// As `name`, as the number that the store gave it.
    package var nameNumber: UInt32 {
        var reader = WireReader(header.body)
        return reader.seek(RecordField.name) ? UInt32(truncatingIfNeeded: reader.varint()) : 0
    }

    /// The statement about the profile, decoded; nil for other events, and for what was erased.
    ///
    /// ```swift
    /// if case .purchase(let purchase)? = event.content { spent += purchase.price }
    /// ```
    public var content: EventContent? {
        guard case .content? = kind?.role, let body = RecordBody(header.body), !body.erased else { return nil }
        return ProfileEvent(header.kind, body, names.current)?.content
    }

    /// One property of a custom event or a purchase; nil if it has none. Decodes only that one.
    public func property(_ key: Name) -> AttributeValue? {
        guard let number = names.number(key), number > 0, case .content(let content, _)? = kind?.role
        else { return nil }
        switch content {
        case .customEvent, .purchase: break
        case .customAttributes, .userAttributes: return nil
        }
        var reader = WireReader(header.body)
        while let field = reader.field() {
            guard field.number == RecordField.entries, field.type == .bytes else {
                reader.skip(field.type)
                continue
            }
            let entry = reader.bytes()
            var first = WireReader(entry)
            guard first.field()?.number == RecordField.Value.name, first.varint() == number else { continue }
            return ValueCodec.read(entry)?.value
        }
        return nil
    }

    /// The whole event, copied out; nil if the record is damaged after its header.
    public func recorded() -> RecordedEvent? { RecordedEvent(header, position: position, names: names.current) }
}
