extension PreparedAppend {
    /// Saves the rejected item at `position` again, as it is or corrected. It waits for the next launch of its device,
    /// with the time of the first save.
    ///
    /// The same repair, sent again, changes nothing.
    package static func repair(
        of position: Position, with correction: ProfileEvent? = nil, source: EventSource = .cli, in log: EventLog
    ) throws -> PreparedAppend {
        let (item, owner) = try log.withReader { log in
            guard let item = try log.event(at: position), item.event.kind.isSaved else {
                throw AppendError.invalid(place: "Position \(position.rawValue)", reason: "is no saved item")
            }
            guard case .rejected = try log.items.outcome(of: position) else {
                throw AppendError.invalid(
                    place: "The item at position \(position.rawValue)", reason: "is not rejected")
            }
            // The `braze_id` resolves to the same user after a merge, so that a repeated repair is the same append.
            guard let owner = try log.users.find(item.user) else {
                throw StorageError.damaged(place: "user \(item.user.rawValue)")
            }
            return (item, owner)
        }
        if let correction, correction.kind != item.event.kind {
            throw AppendError.invalid(
                place: "The correction", reason: "must be of the same kind as the item, \(item.event.kind.name)")
        }
        var context = item.context
        context.replaces = position
        if context.occurredAt == nil { context.occurredAt = item.occurredAt }
        // A correction must be valid; an item that is retried as it was may be invalid again.
        if correction != nil { context.source = source }
        var builder = log.prepare()
        try builder.add(correction ?? item.event, context, to: .assignedID(owner.brazeID))
        return try builder.finish(idempotencyKey: "retry \(position.rawValue)")
    }
}
