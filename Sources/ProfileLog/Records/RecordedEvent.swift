/// An event with its place and both times, copied out of the log.
public struct RecordedEvent: Hashable, Sendable {
    /// Its place in the log.
    public var position: Position
    /// The owner of an event.
    public var user: UserNumber
    /// Its place among the user's events.
    public var version: Version
    /// The time at which the log recorded it.
    public var recordedAt: Timestamp
    /// The time at which it happened by the sender's clock, and its source. `occurredAt` is nil if the sender gave no
    /// time.
    public var context: EventContext
    /// The fact.
    public var event: ProfileEvent
    /// Tells whether the content was erased; the place stays.
    public var isErased: Bool
    /// The idempotency key, on the first event of an append that had one; from a scan with `AppendKeys` on all of them.
    package var idempotencyKey: String?

    /// The time at which it happened: the sender's time, or else the time of the recording.
    package var occurredAt: OccurredAt { context.occurredAt ?? OccurredAt(recordedAt) }
}

extension RecordedEvent {
    /// The event of the record at `position`. Throws `StorageError.damaged` if it cannot be read after its header.
    package init(reading header: RecordHeader, at position: UInt64, names: NameMap) throws(StorageError) {
        guard let event = RecordedEvent(header, position: Position(rawValue: position), names: names) else {
            throw .damaged(place: "the record at position \(position) is unreadable")
        }
        self = event
    }

    package init?(_ header: RecordHeader, position: Position, names: NameMap) {
        guard let body = RecordBody(header.body) else { return nil }
        var context = EventContext(source: EventSource(rawValue: UInt8(truncatingIfNeeded: body.source)) ?? .unknown)
        if let at = body.occurredAt {
            context.occurredAt = OccurredAt(Timestamp(rawValue: at), utcOffsetMinutes: body.utcOffset)
        }
        if body.process > 0 { context.process = names.name(body.process) }
        if let device = body.device { context.device = String(exactly: device) }
        context.item = body.item
        context.app = body.app
        if body.replaces > 0 { context.replaces = Position(rawValue: body.replaces) }
        let kind = header.kind
        if body.storage > 0 {
            guard let group = names.name(body.storage) else { return nil }
            context.storage = .appGroup(group)
        } else if kind?.isSaved == true, !body.erased {
            context.storage = .privateTo(process: context.process ?? DeviceStorage.app)
        }
        guard let event = ProfileEvent(kind, body, names) else { return nil }
        self.init(
            position: position, user: UserNumber(rawValue: header.user), version: Version(rawValue: header.version),
            recordedAt: Timestamp(rawValue: header.recordedAt), context: context, event: event, isErased: body.erased,
            idempotencyKey: body.append.flatMap { $0.isErased ? nil : String(decoding: $0.key, as: UTF8.self) })
    }
}
