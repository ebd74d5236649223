/// Reads what became of saved items, and what requests said in vain.
package struct ItemReader: ReaderPart {
    let log: LogReader

    /// Returns the outcome of the item at `position`; nil if no item is there. Reads its user's history after it.
    package func outcome(of position: Position) throws -> ItemOutcome? {
        guard let item = try log.event(at: position), item.event.kind.isSaved || item.event.kind.isQueued else {
            return nil
        }
        if let device = item.context.device, let waiting = try log.devices.state(of: device).items[position.rawValue] {
            return waiting.queued == nil ? .pending : .queued
        }
        // Outcomes from before a merge are in the user's own stream, later ones in that of the canonical user.
        var owner = item.user
        while true {
            var outcome: ItemOutcome?
            try log.events.forEach(of: owner, direction: .backward) { event in
                if event.position < position { return false }
                outcome = event.outcome(of: position)
                return outcome == nil
            }
            if let outcome { return outcome }
            let target = try withView { try $0.mergedInto(owner.rawValue) }
            guard let target, target != owner.rawValue else { return nil }
            owner = UserNumber(rawValue: target)
        }
    }

    /// All items that the SDK refused, in this order. Looks at the kind of every event of the log.
    ///
    /// - Parameter isOpen: skips those that were repaired.
    package func rejected(of user: UserNumber? = nil, isOpen: Bool = true) throws -> [RejectedItem] {
        let kinds: Set<EventKind> = [
            .pendingFlushed, .customEventSaved, .customAttributesSaved, .userAttributeSaved,
        ]
        var refusals: [(item: Position, flush: Position, reason: String)] = []
        var repairs: [Position: Position] = [:]
        try forEachEvent(of: kinds) { event in
            if let replaced = event.context.replaces { repairs[replaced] = event.position }
            guard case .pendingFlushed(let flush) = event.event else { return }
            refusals += flush.rejected.map { ($0.position, event.position, $0.reason) }
        }
        let wanted = try user.map { try log.users.canonicalUser(of: $0) }
        return try refusals.compactMap { refusal in
            let repair = repairs[refusal.item]
            if isOpen, repair != nil { return nil }
            guard let item = try log.event(at: refusal.item) else { return nil }
            if let wanted, try log.users.canonicalUser(of: item.user) != wanted { return nil }
            return RejectedItem(item: item, flush: refusal.flush, reason: refusal.reason, repairedBy: repair)
        }
    }

    /// All skipped parts of requests, in the order of their positions. Looks at the kind of every event of the log.
    package func leftOut(of user: UserNumber? = nil) throws -> [RefusedObject] {
        let wanted = try user.map { try log.users.canonicalUser(of: $0) }
        var found: [RefusedObject] = []
        try forEachEvent(of: [.objectsLeftOut]) { event in
            guard case .objectsLeftOut(let items) = event.event else { return }
            if let wanted, try log.users.canonicalUser(of: event.user) != wanted { return }
            found += items.map {
                RefusedObject(position: event.position, user: event.user, recordedAt: event.recordedAt, what: $0)
            }
        }
        return found
    }

    /// Calls `body` with the events of these kinds in the order of the log, page by page.
    private func forEachEvent(of kinds: Set<EventKind>, _ body: (RecordedEvent) throws -> Void) throws {
        var next = Position.start.next
        while true {
            let page = try log.events.page(from: next, limit: 10_000, where: EventFilter(kinds: kinds))
            for event in page.events { try body(event) }
            if page.scanned >= page.last { return }
            next = page.scanned.next
        }
    }
}

/// The outcome of a saved item, or of a logged one that the SDK had to queue.
public enum ItemOutcome: Hashable, Sendable {
    /// The item waits for a launch.
    case pending
    /// The SDK has taken it and not sent it.
    case queued
    /// The item took effect with the `pendingFlushed` or `dataSent` event at this position.
    case flushed(Position)
    /// The SDK refused it, at this position.
    case rejected(Position, reason: String)
    /// The item was given up, at this position.
    case discarded(Position, actor: String, reason: String)
}

/// An item that the SDK refused.
package struct RejectedItem: Hashable, Sendable {
    /// The item as it was saved.
    package var item: RecordedEvent
    /// Position of the `pendingFlushed` event that refused it.
    package var flush: Position
    package var reason: String
    /// The item that replaces it, if it was repaired.
    package var repairedBy: Position?
}

/// A part of a request that was skipped.
package struct RefusedObject: Hashable, Sendable {
    /// Position of the `objectsLeftOut` event that tells of it.
    package var position: Position
    /// Its user; the system if there was none.
    package var user: UserNumber
    /// The time at which the request came.
    package var recordedAt: Timestamp
    /// The part of the request, and the reason.
    package var what: ObjectRefusal
}

extension EventView {
    /// Returns this event's decision about the item at `position`; nil if nothing.
    fileprivate func outcome(of item: Position) -> ItemOutcome? {
        guard case .outcome(let outcome) = kind?.role, let body = RecordBody(header.body) else { return nil }
        switch outcome {
        case .flushed, .sent:
            if let refusal = body.rejected.first(where: { $0.position == item }) {
                return .rejected(position, reason: refusal.reason)
            }
            return !body.isQueued && body.flushed.contains(item) ? .flushed(position) : nil
        case .discarded:
            guard body.discarded.contains(item) else { return nil }
            return .discarded(position, actor: body.actor, reason: body.reason)
        }
    }
}
