extension ProfileState {
    /// The state as it would be if everything that waits were flushed: custom events, then custom attributes, then user attributes,
    /// each in saved order, and also what the app cannot see. No launch and no flush is counted.
    public func flushingAllPending() -> ProfileState {
        var state = self
        let order = pending.sorted { ($0.kind, $0.position) < ($1.kind, $1.position) }
        for entry in order { state.flush(entry.position) }
        return state
    }
}
