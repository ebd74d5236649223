/// The fold rules of a store.
extension EventLog {
    /// Folds the events after this one by `rules`. They replace those before; the values of earlier events stay.
    ///
    /// The receipt is empty if the same rules hold already.
    ///
    /// ```swift
    /// try log.setRules(FoldRules(policies: ["plan": .lastOccurred]))
    /// ```
    @discardableResult
    public func setRules(_ rules: FoldRules, source: EventSource = .system) throws(AppendError) -> AppendReceipt {
        try commit(PreparedAppend(.rules(rules, EventContext(source: source))))
    }

    /// The rules by which the event after `position` (or the next one) is folded, and the event that set them; `.start`
    /// if none did.
    public func rules(
        asOf position: Position = Position(rawValue: .max)
    ) throws -> (position: Position, rules: FoldRules) {
        try withView { view in
            _ = try store.rules.timeline(view)
            let found = store.rules.rules(after: min(position.rawValue, view.last))
            return (Position(rawValue: found.position), found.rules)
        }
    }

    /// As `rules(asOf:)`, as folds of this store use them; nil if no rules were ever set.
    package func boundRules(asOf position: Position = Position(rawValue: .max)) throws -> BoundRules? {
        try withView { view in
            let next = position.rawValue == .max ? .max : position.rawValue + 1
            return try store.rules.timeline(view)?.rules(at: next)
        }
    }

    /// `rules` as folds of this store use them, for a fold by other rules than those that hold.
    package func bound(_ rules: FoldRules) throws -> BoundRules {
        try withView { view in BoundRules(rules, names: view.nameTable.current) }
    }
}

extension Decider {
    /// Stores `rules`, unless they hold already.
    mutating func decideRules(_ rules: FoldRules, _ context: EventContext) throws {
        var (newest, version) = self.rules.newest
        for position in try view.systemPositions(after: version) {
            if let later = FoldRules(setBy: try header(at: position)) { newest = later }
        }
        if newest == rules { return }
        let size = writer.count
        try event(.rulesChanged(rules.document), context, 0)
        guard writer.count - size <= Limits.bytesPerEvent else {
            throw AppendError.invalid(
                place: "The rules", reason: "must not be larger than \(Limits.bytesPerEvent) bytes together")
        }
    }
}
