/// Questions about the past and about what would be: blame, changes, what-if, a fold of everybody.
extension EventLog {
    /// Returns the reason why the attributes of `user` have their values: for each value, also inside arrays and
    /// objects, the last event that wrote it, and what was there before. Void events are skipped; attributes that came
    /// with a merge name the user whose events they were.
    ///
    /// ```swift
    /// for entry in try log.blame(.customAttribute("address", path: "city"), of: "ana") {
    ///     print(entry.field, entry.value ?? .null, entry.write.event.position)
    /// }
    /// ```
    ///
    /// Of a custom event or a product the value is the count, and the write is the event that was counted last.
    ///
    /// ```swift
    /// let seen = try log.blame(.customEvent("Viewed Home"), of: "ana", withLog: true).first
    /// print(seen?.value ?? 0, seen?.log.map(\.event.context.device) ?? [])
    /// ```
    ///
    /// One attribute costs the events between its last write and the snapshot before that; the log, an array that grew
    /// over time and a user with void events cost the user's whole history.
    ///
    /// - Parameters:
    ///   - subject: what is blamed; nil for all attributes. A path cannot name a member with a dot or a bracket in its
    ///     name: ask for the whole attribute.
    ///   - withLog: whether the answer has all writes of each value.
    /// - Returns: the values in the order of their names; nothing if the user never had any, or is not known.
    public func blame(_ subject: BlameSubject? = nil, of user: UserID, withLog: Bool = false) throws -> [FieldBlame] {
        do {
            return try withReader { log in
                try log.users.find(user).map { try log.blame(subject, of: $0.number, withLog: withLog) } ?? []
            }
        } catch ReadError.tooLarge(let bytes) {
            throw AppendError.invalid(
                place: "The log of these values", reason: "takes more than \(bytes >> 20) MiB",
                remedy: "Ask for one attribute or one part of it, or without the log.")
        }
    }

    /// Returns the differences between the profiles of `user` at two moments, field by field.
    ///
    /// ```swift
    /// for change in try log.changes(of: "ana", from: .time(monday)) { print(change.field, change.after ?? .null) }
    /// ```
    ///
    /// Throws ``MomentError`` for a moment that cannot be asked. At a moment before the user's first event they have
    /// nothing.
    public func changes(of user: UserID, from earlier: Moment, to later: Moment = .now) throws -> [FieldChange] {
        try withReader { log in
            let before = try log.past.profile(of: user, asOf: earlier, order: .recorded)
            return log.changes(from: before, to: try log.past.profile(of: user, asOf: later, order: .recorded))
        }
    }

    /// Returns the profiles that would differ if the history were `history`. Writes nothing.
    ///
    /// ```swift
    /// let impact = try log.whatIf(AlteredHistory(without: [.event(receipt.last)]))
    /// ```
    ///
    /// Folds each user twice in one pass over the log; once more only for those with altered events. A question about
    /// single events or users reads their events only. Throws ``AppendError/invalid(place:reason:remedy:)`` for an
    /// event that is not there, that was erased, or that has no content.
    ///
    /// - Parameter threads: users are folded in parallel; the answer is the same for any number.
    public func whatIf(_ history: AlteredHistory, threads: Int = 1) throws -> ProfileImpact {
        var options = WhatIfOptions()
        options.threads = threads
        return try whatIf(withReader { try Alteration(history, of: $0) }, options)
    }

    /// As `whatIf(_:threads:)`. `progress` may stop it by returning false.
    package func whatIf(
        _ alteration: Alteration, _ options: WhatIfOptions, progress: (LogProgress) -> Bool = { _ in true }
    ) throws -> ProfileImpact {
        try AlteredFold(log: self, alteration: alteration, options: options).run(progress)
    }

    /// Folds the whole log again, on `threads` threads, and calls `body` with each user who is not erased or merged
    /// into another, and their state, in the order of their creation. Uses no stored state: this is the way to try a
    /// projection before it is one of the store's.
    ///
    /// ```swift
    /// var total: Int64 = 0
    /// try log.forEachState(of: MinutesPlayed.self, threads: 2) { _, minutes in total += minutes }
    /// ```
    ///
    /// Memory grows with the number of users.
    public func forEachState<P: UserProjection>(
        of _: P.Type, threads: Int = 1, _ body: (UserInfo, P.State) throws -> Void
    ) throws {
        let replayer = try replayWithoutErasure {
            let replayer = Replayer<P>(self, threads: threads)
            _ = try replayer.run()
            return replayer
        }
        try withReader { log in
            try replayer.forEachUser { number, version, state in
                guard number != .system, var user = try log.users.find(number), !user.isErased,
                    try log.users.canonicalUser(of: number) == number
                else { return }
                user.version = version
                try body(user, state)
            }
        }
    }
}
