/// Something that a user did, as it took effect: a custom event, a purchase, a session, a launch or a
/// removal of the app, and their creation.
package struct Occurrence: Hashable, Sendable {
    /// The kind of step; names by their numbers.
    package enum What: Hashable, Sendable { case created, event(UInt32), purchase(UInt32), session, launch, removal }

    package let what: What
    /// The event; for a saved item, the event that saved it.
    package let position: Position
    /// The user of the event; they may be merged since.
    package let user: UserNumber
    /// The time at which it happened; for a saved item, the time of its save.
    package let at: Timestamp
    /// The app that the event names.
    package let app: String?
    /// The number of items bought; 1 for all else.
    package var quantity: UInt64 = 1
    /// Of one; 0 for what is no purchase.
    package var price = 0.0
    package var currency = ""

    /// Price times quantity.
    package var revenue: ExactSum { ExactSum(price, times: Int64(clamping: quantity)) }
}

extension Occurrence {
    /// Makes the step that took effect by `event`, as a fold gets it: of a saved or queued item with the time at which
    /// it was saved. Nil if nothing did, or if the rules of its effect block it.
    package init?(effective event: borrowing EventView) {
        let (header, position) = (event.header, event.position)
        switch header.kind?.role {
        case .content(let content, let timing):
            if timing != .logged, event.effect == position { return nil }
            self.init(header, content, position)
            if case .event(let name) = what, event.rules?.blocks(event: name) == true { return nil }
        case .identity(.created): self.init(.created, header, position)
        case .device(.sessionStarted): self.init(.session, header, position)
        case .device(.launched): self.init(.launch, header, position)
        case .device(.removed): self.init(.removal, header, position)
        case .identity, .device, .outcome, .message, .note, nil: return nil
        }
    }
}

extension Occurrence {
    /// Makes the step of the event with `content` at `position`, whether or not it took effect. Nil for changes of
    /// attributes, and for erased events.
    package init?(_ header: RecordHeader, _ content: EventRole.Content, _ position: Position) {
        switch content {
        case .customAttributes, .userAttributes: return nil
        case .customEvent, .purchase: break
        }
        guard let body = RecordBody(header.body), !body.erased, body.name > 0 else { return nil }
        self.init(content == .purchase ? .purchase(body.name) : .event(body.name), header, body, position)
        if content == .purchase {
            quantity = UInt64(body.quantity)
            price = body.price
            currency = body.currency
        }
    }

    private init?(_ what: What, _ header: RecordHeader, _ position: Position) {
        guard let body = RecordBody(header.body), !body.erased else { return nil }
        self.init(what, header, body, position)
    }

    private init(_ what: What, _ header: RecordHeader, _ body: RecordBody, _ position: Position) {
        (self.what, self.position) = (what, position)
        user = UserNumber(rawValue: header.user)
        // A user is new when the log says so: the first event of a user may be about the past.
        at = Timestamp(rawValue: what == .created ? header.recordedAt : body.occurredAt ?? header.recordedAt)
        app = body.app
    }
}
