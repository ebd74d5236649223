extension ProfileState {
    /// The state after a flush of everything that waits: custom events, then custom attributes, then user attributes,
    /// each in saved order, and also what the app cannot see. No launch and no flush is counted.
    package func flushingAllPending(under rules: BoundRules? = nil) -> ProfileState {
        var state = self
        // What the SDK took comes first; it has no list.
        let order = pending.sorted { ($0.list?.rawValue ?? 0, $0.position) < ($1.list?.rawValue ?? 0, $1.position) }
        state.pending = []
        for entry in order { state.flush(entry, under: rules) }
        return state
    }
}

extension ProfileState.PendingEntry {
    /// The list of the guide in which it waits; nil for what the SDK took from the app.
    package var list: PendingKind? { PendingKind(kind) }
}
