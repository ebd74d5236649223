internal import ProfileLogRequests

/// The events of one user that led to some events, and those that followed from them.
enum EventChain {
    /// The links of the chain in `history`, which is ascending.
    ///
    /// An event follows from those whose positions it holds: a step from its `cause`, a flush from the items that it
    /// took. A flush also has its launch before it.
    static func links(_ history: [RecordedEvent], from isWanted: (RecordedEvent) -> Bool) -> [RecordedEvent] {
        var linked: Set<Position> = []
        for event in history where isWanted(event) || event.takes.contains(where: linked.contains) {
            linked.insert(event.position)
        }
        for event in history.reversed() where linked.contains(event.position) {
            if let cause = event.cause { linked.insert(cause) }
        }
        return history.filter { linked.contains($0.position) }
    }
}

extension RecordedEvent {
    /// The event that led to this one; nil if it names none.
    fileprivate var cause: Position? {
        switch event {
        case .message(let step): step.cause
        case .pendingFlushed(let flush): flush.launch
        case .sessionEnded(let started): started
        default: context.replaces
        }
    }

    /// The events whose fate this one tells.
    fileprivate var takes: [Position] {
        switch event {
        case .message(let step): step.cause.map { [$0] } ?? []
        case .pendingFlushed(let flush): flush.flushed + flush.rejected.map(\.position)
        case .pendingDiscarded(let discard): discard.positions
        case .dataSent(let positions): positions
        default: context.replaces.map { [$0] } ?? []
        }
    }
}
