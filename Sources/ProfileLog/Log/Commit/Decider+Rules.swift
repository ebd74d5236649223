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
