extension EventLog {
    /// Changes the IDs of users: a second ID, another one, or the merge of two users, whose histories then belong
    /// together.
    ///
    /// The receipt is empty if there was nothing to change. Refused with `unknownUser` if there is no such user, and
    /// with `invalid` if the rules of the change forbid it.
    ///
    /// ```swift
    /// try log.change(.merge(source: .externalID("old"), target: .externalID("ana")))
    /// ```
    ///
    /// - Parameter key: makes the change, sent again, change nothing. A change without effect is not remembered.
    @discardableResult
    public func change(
        _ identity: IdentityChange, context: EventContext = .server, idempotencyKey key: String? = nil
    ) throws(AppendError) -> AppendReceipt {
        // The note is kept for ever, so it is a hash.
        let note = key == nil ? [] : identity.contentHash
        return try commit(PreparedAppend.identity(identity, context: context, idempotencyKey: key, note: note))
    }
}
