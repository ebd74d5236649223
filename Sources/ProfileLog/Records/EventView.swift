/// One stored event, borrowed: it decodes what is asked of it, and cannot outlive the transaction that lends it.
public struct EventView: ~Copyable {
    /// The event's place in the log.
    public let position: Position
    @usableFromInline package let header: RecordHeader
    @usableFromInline unowned(unsafe) let names: NameTable
    /// The device of a fold by device: the device whose state it is applied to, one of `devices`.
    public let device: Name?

    /// A view of the record of `header`, which must outlive it, as must `names`.
    @inlinable
    @inline(__always)
    package init(header: RecordHeader, position: Position, names: NameTable, device: Name? = nil) {
        self.header = header
        self.position = position
        self.names = names
        self.device = device
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

    /// Its devices: the one on which it happened, and those whose anonymous user it creates, identifies or merges.
    package var devices: [Name] {
        var devices: [Name] = []
        var reader = WireReader(header.body)
        while let field = reader.field() {
            if field.number == RecordField.device, field.type == .bytes {
                devices.append(Name(String(decoding: reader.bytes(), as: UTF8.self)))
            } else if field.number == RecordField.identities, field.type == .bytes {
                if case .device(let device) = IdentityCodec.read(reader.bytes()), !devices.contains(Name(device)) {
                    devices.append(Name(device))
                }
            } else {
                reader.skip(field.type)
            }
        }
        return devices
    }

    /// The name of a custom event or the ID of a product; nil for other events.
    public var name: Name? { nameNumber == 0 ? nil : names.name(nameNumber) }

    /// As `name`, as the number that the store gave it.
    package var nameNumber: UInt32 {
        var reader = WireReader(header.body)
        return reader.seek(RecordField.name) ? UInt32(truncatingIfNeeded: reader.varint()) : 0
    }

    /// The whole event, copied out; nil if the record is damaged after its header.
    public func recorded() -> RecordedEvent? { RecordedEvent(header, position: position, names: names.current) }
}
