internal import Synchronization

/// The voids of items that a fold which goes on has not seen, as its state includes the events before it.
///
/// The items of one owner come in their order, so each outcome reads only what followed the last one.
@usableFromInline
final class EarlierVoids: Sendable {
    /// The statements in the owner's events after position `begin` and before `end`.
    private struct Known {
        var begin: UInt64
        var end: UInt64
        var changes: [VoidChange]
    }

    private let known = Mutex<[UInt64: Known]>([:])

    @usableFromInline
    init() {}

    /// Returns those of `items` that are void by what was recorded before `end`; of the items of `user`, whose events
    /// from `begin` on the fold sees itself, by what was recorded before `begin`.
    @usableFromInline
    func voidedEvents(
        of items: [UInt64], before end: UInt64, user: UInt64, from begin: UInt64, _ source: some FoldSource
    ) throws -> VoidedEvents {
        var wanted: [UInt64: Set<UInt64>] = [:]
        for item in items { wanted[try source.header(at: item).user, default: []].insert(item) }
        var changes: [VoidChange] = []
        for (owner, items) in wanted {
            let end = owner == user ? min(end, begin) : end
            let first = items.min() ?? end
            var all = known.withLock { $0[owner] }
            if let found = all, found.begin > first || found.end > end { all = nil }
            var owned = all ?? Known(begin: first, end: first + 1, changes: [])
            owned.changes += try source.voidChanges(by: owner, after: owned.end - 1, before: end)
            owned.end = end
            known.withLock { [owned] in $0[owner] = owned }
            changes += owned.changes.filter { items.contains($0.target) }
        }
        var voided = VoidedEvents()
        for change in changes.sorted(by: { $0.position < $1.position }) { voided.apply(change) }
        return voided
    }
}
