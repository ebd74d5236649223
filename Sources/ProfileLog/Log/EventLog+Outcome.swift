/// What became of a saved item, or of something logged that the SDK had to queue.
package enum ItemOutcome: Hashable, Sendable {
    /// It waits for a launch.
    case pending
    /// The SDK has taken it and not sent it.
    case queued
    /// It took effect with the `pendingFlushed` or `dataSent` event at this position.
    case flushed(Position)
    /// The SDK refused it, at this position.
    case rejected(Position, reason: String)
    /// It was given up, at this position.
    case discarded(Position, actor: String, reason: String)
}

/// An item that the SDK refused.
package struct RejectedItem: Hashable, Sendable {
    /// The item as it was saved.
    package var item: RecordedEvent
    /// Position of the `pendingFlushed` event that refused it.
    package var flush: Position
    /// Why.
    package var reason: String
    /// The item that replaces it, if it was repaired.
    package var repairedBy: Position?
}

extension EventLog {
    /// What became of the item at `position`; nil if no item stands there. Reads its user's history behind it.
    package func outcome(of position: Position) throws -> ItemOutcome? {
        guard let item = try event(at: position), item.event.kind.isSaved || item.event.kind.unqueued != nil else {
            return nil
        }
        if let device = item.context.device, let waiting = try deviceState(device).items[position.rawValue] {
            return waiting.queued == nil ? .pending : .queued
        }
        // What was decided before a merge stands in the user's own stream, what came later in that of the one who took them over.
        var owner = item.user
        while true {
            var outcome: ItemOutcome?
            try forEachEvent(of: owner, direction: .backward) { event in
                if event.position < position { return false }
                outcome = event.outcome(of: position)
                return outcome == nil
            }
            if let outcome { return outcome }
            let target = try withView { try $0.mergedInto(owner.rawValue, $1) }
            guard let target, target != owner.rawValue else { return nil }
            owner = UserNumber(rawValue: target)
        }
    }

    /// The user into whom this one was merged, through all merges; the user itself if there was none.
    package func survivor(of user: UserNumber) throws -> UserNumber {
        try withView { view, transaction in
            UserNumber(rawValue: try view.survivor(of: user.rawValue, transaction))
        }
    }

    /// All items that the SDK refused, in the order in which it did. Looks at the kind of every event of the log.
    ///
    /// - Parameter isOpen: leaves out those that were repaired.
    package func rejected(of user: UserNumber? = nil, isOpen: Bool = true) throws -> [RejectedItem] {
        let filter = EventFilter(kinds: [
            .pendingFlushed, .customEventSaved, .customAttributesSaved, .userAttributeSaved,
        ])
        var refusals: [(item: Position, flush: Position, reason: String)] = []
        var repairs: [Position: Position] = [:]
        var next = Position.start.next
        while true {
            let page = try events(from: next, limit: 10_000, where: filter)
            for event in page.events {
                if let replaced = event.context.replaces { repairs[replaced] = event.position }
                guard case .pendingFlushed(let flush) = event.event else { continue }
                for refusal in flush.rejected {
                    refusals.append((refusal.position, event.position, refusal.reason))
                }
            }
            if page.scanned >= page.last { break }
            next = page.scanned.next
        }
        let wanted = try user.map { try survivor(of: $0) }
        return try refusals.compactMap { refusal in
            let repair = repairs[refusal.item]
            if isOpen, repair != nil { return nil }
            guard let item = try event(at: refusal.item) else { return nil }
            if let wanted, try survivor(of: item.user) != wanted { return nil }
            return RejectedItem(item: item, flush: refusal.flush, reason: refusal.reason, repairedBy: repair)
        }
    }

    /// Saves a rejected item once more, as it is or corrected; it waits for the next launch of its device, with the time of the first save.
    ///
    /// The same repair, sent again, changes nothing.
    package func retry(
        _ position: Position, with correction: ProfileEvent? = nil, source: EventSource = .cli
    ) throws -> AppendReceipt {
        guard let item = try event(at: position), item.event.kind.isSaved else {
            throw AppendError.invalid(place: "Position \(position.rawValue)", reason: "is no saved item")
        }
        guard case .rejected = try outcome(of: position) else {
            throw AppendError.invalid(place: "The item at position \(position.rawValue)", reason: "is not rejected")
        }
        if let correction, correction.kind != item.event.kind {
            throw AppendError.invalid(
                place: "The correction", reason: "must be of the same kind as the item, \(item.event.kind.name)")
        }
        // The ID that the store gave leads to the same user after a merge, so that the same repair stays the same append.
        guard let owner = try find(item.user) else { throw StorageError.damaged(place: "user \(item.user.rawValue)") }
        var context = item.context
        context.replaces = position
        if context.occurredAt == nil { context.occurredAt = item.occurredAt }
        // What the person corrected must be right; what is tried again as it was may still not be.
        if correction != nil { context.source = source }
        return try append(
            [correction ?? item.event], to: .brazeID(owner.brazeID), context: context,
            idempotencyKey: "retry \(position.rawValue)")
    }
}

extension EventView {
    /// What this event decides about the item at `position`; nil if nothing.
    fileprivate func outcome(of item: Position) -> ItemOutcome? {
        switch recorded()?.event {
        case .pendingFlushed(let flush):
            if let refusal = flush.rejected.first(where: { $0.position == item }) {
                return .rejected(position, reason: refusal.reason)
            }
            return !flush.isQueued && flush.flushed.contains(item) ? .flushed(position) : nil
        case .dataSent(let positions): return positions.contains(item) ? .flushed(position) : nil
        case .pendingDiscarded(let discard):
            guard discard.positions.contains(item) else { return nil }
            return .discarded(position, actor: discard.actor, reason: discard.reason)
        default: return nil
        }
    }
}
