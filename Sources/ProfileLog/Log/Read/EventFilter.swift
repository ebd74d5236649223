/// A filter of events. What is nil lets everything through.
public struct EventFilter: Hashable, Sendable {
    /// The kinds; any of them passes.
    package var kinds: Set<EventKind>?
    /// A custom event, a product or a message with this name, or a change of the attribute with it.
    package var name: Name?
    /// A change of this attribute, or of a member of it, as in `address.city`.
    package var field: Name?
    /// The device, by its ID.
    package var device: String?
    /// The positions; any of them passes.
    package var positions: Set<Position>?
    /// Recorded at or after this time.
    package var since: Timestamp?
    /// Recorded before this time.
    package var before: Timestamp?
    /// The order in which `since` and `before` are times: of recording, or of occurrence.
    package var order = EventOrder.recorded

    /// Lets everything through.
    public init(
        kinds: Set<EventKind>? = nil, name: Name? = nil, field: Name? = nil, device: String? = nil,
        since: Timestamp? = nil, before: Timestamp? = nil
    ) {
        self.kinds = kinds
        self.name = name
        self.field = field
        self.device = device
        self.since = since
        self.before = before
    }

    func mayMatch(_ kind: EventKind?) -> Bool {
        guard let kinds else { return true }
        return kinds.contains(kind ?? .unknown)
    }

    func matches(_ event: RecordedEvent) -> Bool {
        if since != nil || before != nil {
            let time = order == .recorded ? event.recordedAt : event.occurredAt.timestamp
            if let since, time < since { return false }
            if let before, time >= before { return false }
        }
        if let kinds, !kinds.contains(event.event.kind) { return false }
        if let positions, !positions.contains(event.position) { return false }
        if let device, event.context.device.map({ !$0.hasSameBytes(as: device) }) ?? true { return false }
        if let field, !event.event.changes(field) { return false }
        guard let name else { return true }
        return event.event.isAbout(name)
    }
}
