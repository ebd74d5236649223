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

/// Folds events into what took effect: a saved or queued item when it is flushed or sent, with the time at which it was
/// saved, and never if it was rejected or discarded.
///
/// It takes the events of a whole log, or those of one user and all who were merged into them, in the order of the log.
package struct OccurrenceFold {
    private var waiting: [Position: Occurrence] = [:]

    package init() {}

    /// Folds one event in, and calls `body` with what takes effect by it and is not blocked by `rules`, those of its
    /// position. As in a profile, a saved event is flushed under the rules of the flush.
    package mutating func apply(
        _ event: borrowing EventView, under rules: BoundRules?, _ body: (Occurrence) throws -> Void
    ) rethrows {
        let (header, position) = (event.header, event.position)
        switch header.kind?.role {
        case .content(let content, let timing):
            guard let occurrence = Occurrence(header, content, position) else { return }
            if timing != .logged {
                waiting[position] = occurrence
            } else if !occurrence.isBlocked(by: rules) {
                try body(occurrence)
            }
        case .identity(.created): try Occurrence(.created, header, position).map(body)
        case .device(.sessionStarted): try Occurrence(.session, header, position).map(body)
        case .device(.launched): try Occurrence(.launch, header, position).map(body)
        case .device(.removed): try Occurrence(.removal, header, position).map(body)
        case .outcome:
            guard !waiting.isEmpty, let outcome = RecordBody(header.body), !outcome.erased else { return }
            for rejection in outcome.rejected { waiting[rejection.position] = nil }
            for item in outcome.discarded { waiting[item] = nil }
            if header.kind == .pendingFlushed, outcome.isQueued { return }
            for item in outcome.flushed {
                if let occurrence = waiting.removeValue(forKey: item), !occurrence.isBlocked(by: rules) {
                    try body(occurrence)
                }
            }
        case .identity, .device, .message, .note, nil: break
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

    fileprivate func isBlocked(by rules: BoundRules?) -> Bool {
        if case .event(let name) = what { rules?.blocks(event: name) == true } else { false }
    }

    fileprivate init?(_ what: What, _ header: RecordHeader, _ position: Position) {
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
