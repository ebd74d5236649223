extension EventLog {
    // MARK: - Appending

    /// Appends events of one user, and is done when they are on the disk.
    ///
    /// ```swift
    /// let receipt = try log.append(
    ///     [.customEventLogged(CustomEvent(name: "played song"))], to: user, idempotencyKey: "request-1")
    /// ```
    ///
    /// - Parameters:
    ///   - context: the app, unless you say otherwise. For what a server says give `.server`.
    ///   - key: makes the same append, sent again, change nothing.
    ///   - note: is given back with every receipt under `key`, as ``AppendReceipt/note``: what the first answer said
    ///     and the log does not. Needs a key; at most 1,024 bytes.
    @discardableResult
    public func append(
        _ events: [ProfileEvent], to user: UserID, expecting expected: ExpectedVersion = .any,
        context: EventContext = .app, idempotencyKey key: String? = nil, note: [UInt8] = []
    ) throws(AppendError) -> AppendReceipt {
        try commit(prepared(events, to: user, expecting: expected, context: context, idempotencyKey: key, note: note))
    }

    /// Appends the events that `build` adds, of any users: all of them or none. It is done when they are on the disk.
    ///
    /// The events are validated and encoded while `build` runs; what it throws stores nothing.
    ///
    /// ```swift
    /// try log.append { append in
    ///     append.expect(.externalID("ana"), at: .exactly(ana.version))
    ///     try append.add(.customEventLogged(CustomEvent(name: "gift sent")), to: .externalID("ana"))
    ///     try append.add(.customEventLogged(CustomEvent(name: "gift received")), to: .externalID("bo"))
    /// }
    /// ```
    @discardableResult
    public func append(
        idempotencyKey key: String? = nil, note: [UInt8] = [], _ build: (inout AppendBuilder) throws -> Void
    ) throws -> AppendReceipt {
        try commit(prepared(idempotencyKey: key, note: note, build))
    }

    // MARK: - Prepared appends

    /// A builder for an append of some `capacity` events (a hint).
    package func prepare(capacity: Int = 1) -> AppendBuilder { AppendBuilder(names: names, capacity: capacity) }

    /// Events of one user as an append.
    func prepared(
        _ events: [ProfileEvent], to user: UserID, expecting expected: ExpectedVersion = .any, context: EventContext,
        idempotencyKey key: String?, note: [UInt8] = [], content: [UInt8] = []
    ) throws(AppendError) -> PreparedAppend {
        try Self.check(note, key)
        var builder = prepare(capacity: events.count)
        for event in events { try builder.add(event, context, to: user) }
        builder.expect(user, at: expected)
        return try builder.finish(idempotencyKey: key, note: note, content: content)
    }

    /// An append of the events that `build` adds.
    func prepared(
        idempotencyKey key: String?, note: [UInt8], _ build: (inout AppendBuilder) throws -> Void
    ) throws -> PreparedAppend {
        try Self.check(note, key)
        var builder = prepare()
        try build(&builder)
        return try builder.finish(idempotencyKey: key, note: note)
    }

    /// Refuses a note that would not be given back, or is no note but a document.
    private static func check(_ note: [UInt8], _ key: String?) throws(AppendError) {
        if note.isEmpty { return }
        guard let key, !key.isEmpty else {
            throw .invalid(
                place: "The note", reason: "has no idempotency key under which it is given back",
                remedy: "Give the append a key, or no note.")
        }
        guard note.count <= Limits.bytesPerNote else {
            throw .invalid(place: "The note", reason: "must not be longer than \(Limits.bytesPerNote) bytes")
        }
    }

    /// Commits `appends` together: one transaction, one sync. Each is accepted or refused on its own, in this order.
    ///
    /// What is more than one commit may hold (48 MiB) takes several, each complete in itself.
    ///
    /// When it returns, the accepted ones are on the disk, and every later read sees them. If the disk failed, all of
    /// them say so (`outcomeUnknown`), and the log takes nothing more until it is opened again.
    ///
    /// With `endsAtRefusal` what comes after the first append that is refused is neither stored nor answered.
    package func commit(
        _ appends: [PreparedAppend], endsAtRefusal: Bool = false
    ) -> [Result<AppendReceipt, AppendError>] {
        committer.commit(appends, endsAtRefusal: endsAtRefusal)
    }

    /// Commits the append that `decide` returns, if any. The write lock is held, so nothing comes between its reads and
    /// the commit. Gives the value that it returns, and where the append was stored.
    ///
    /// All other writers of the store wait, so it should be short. It reads this log as usual, and must not write.
    package func commit<Value: Sendable>(
        decidingUnderLock decide: () throws -> (Value, PreparedAppend?)
    ) throws -> (value: Value, receipt: AppendReceipt?) {
        try committer.commit { decider in
            let (value, append) = try decide()
            return (value, try append.map { try decider.decide($0) })
        }
    }

    /// Commits one append.
    package func commit(_ append: PreparedAppend) throws(AppendError) -> AppendReceipt {
        try commit([append])[0].get()
    }
}
