internal import ProfileLogRequests

/// The events of one user that led to some events, and those that followed from them.
///
/// An event follows from those whose positions it holds: a step from its `cause`, a flush from the items that it took.
/// A flush also has its launch before it, and is between a saved item and what the item led to.
struct EventChain {
    private var links: [Link] = []

    /// The part of an event that is kept.
    private struct Link {
        let position: Position
        let isWanted: Bool
        let isStep: Bool
        let cause: Position?
        let takes: [Position]
    }

    /// Adds the next event of the user's history. Keeps nothing of an event that is not wanted and names no other.
    mutating func add(_ event: RecordedEvent, isWanted: Bool) {
        let (cause, takes) = (event.cause, event.takes)
        guard isWanted || cause != nil || !takes.isEmpty else { return }
        let isStep = if case .message = event.event { true } else { false }
        links.append(
            Link(position: event.position, isWanted: isWanted, isStep: isStep, cause: cause, takes: takes))
    }

    /// Returns the positions of the chain's events, ascending. A cause may be an event of another user.
    func positions() -> [Position] {
        var linked: Set<Position> = []
        for link in links where link.isWanted || link.takes.contains(where: linked.contains) {
            linked.insert(link.position)
        }
        addCauses(to: &linked)
        for link in links where !link.isStep && link.takes.contains(where: linked.contains) {
            linked.insert(link.position)
        }
        addCauses(to: &linked)
        return linked.sorted()
    }

    private func addCauses(to linked: inout Set<Position>) {
        for link in links.reversed() where linked.contains(link.position) {
            if let cause = link.cause { linked.insert(cause) }
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
    var takes: [Position] {
        if case .message(let step) = event { return step.cause.map { [$0] } ?? [] }
        if case .pendingFlushed(let flush) = event { return flush.flushed + flush.rejected.map(\.position) }
        if case .pendingDiscarded(let discard) = event { return discard.positions }
        if case .dataSent(let positions) = event { return positions }
        return context.replaces.map { [$0] } ?? []
    }
}
