extension Decider {
    /// Decides the discard of items that `selection` names and that will never be flushed.
    mutating func decideDiscard(
        _ device: Name, _ selection: PendingSelection, _ actor: String, _ reason: String, _ context: EventContext
    ) throws {
        let names = names.map  // with those that this very commit adds
        let waiting = try view.items(device).values.filter { $0.queued == nil }
        let items = waiting.sorted { $0.position < $1.position }.filter { item in
            switch selection {
            case .all: true
            case .storage(let storage): item.storage.storage(names.name) == storage
            case .positions(let positions): positions.contains(Position(rawValue: item.position))
            }
        }
        let owners = try owners(of: items)
        let byOwner = Dictionary(grouping: items) { owners[$0.user] ?? $0.user }
        for (owner, items) in byOwner.sorted(by: { $0.key < $1.key }) {
            let positions = items.map { Position(rawValue: $0.position) }
            let discard = Discard(positions: positions, actor: actor, reason: reason)
            try event(.pendingDiscarded(discard), context.on(device), owner)
        }
    }
}
