internal import ProfileLogRequests

/// The events of one user that led to some events, and those that followed from them.
enum EventChain {
    /// The links of the chain in `history`, which is ascending.
    ///
    /// An event follows from those whose positions it holds: a step from its `cause`, a flush from the items that it
    /// took. A flush also has its launch before it, and is between a saved item and what the item led to.
    static func links(_ history: [RecordedEvent], from isWanted: (RecordedEvent) -> Bool) -> [RecordedEvent] {
        var linked: Set<Position> = []
        for event in history where isWanted(event) || event.takes.contains(where: linked.contains) {
            linked.insert(event.position)
        }
        addCauses(history, to: &linked)
        for event in history {
            if case .message = event.event { continue }
            if event.takes.contains(where: linked.contains) { linked.insert(event.position) }
        }
        addCauses(history, to: &linked)
        return history.filter { linked.contains($0.position) }
    }

    private static func addCauses(_ history: [RecordedEvent], to linked: inout Set<Position>) {
        for event in history.reversed() where linked.contains(event.position) {
            if let cause = event.cause { linked.insert(cause) }
        }
    }
}

extension RecordedEvent {
    /// The event that led to this one; nil if it names none.
    fileprivate var cause: Position? {
        if case .message(let step) = event { return step.cause }
        if case .pendingFlushed(let flush) = event { return flush.launch }
        if case .sessionEnded(let started) = event { return started }
        return context.replaces
    }

    /// The events whose fate this one tells.
    fileprivate var takes: [Position] {
        if case .message(let step) = event { return step.cause.map { [$0] } ?? [] }
        if case .pendingFlushed(let flush) = event { return flush.flushed + flush.rejected.map(\.position) }
        if case .pendingDiscarded(let discard) = event { return discard.positions }
        if case .dataSent(let positions) = event { return positions }
        return context.replaces.map { [$0] } ?? []
    }
}
