/// The events that a fold of one user skips, by the `eventVoided` and `eventUnvoided` events in a part of the user's
/// stream and in the streams of users who were merged there.
///
/// A state as of a version knows the voids up to that version: an earlier state shows what was believed then.
@usableFromInline
package struct VoidedEvents: Sendable {
    /// The positions of the void events, by the positions of what they void; 0 for what counts again.
    @usableFromInline var voids: [UInt64: UInt64] = [:]
    /// The first version of the user at which one of the events matters; nil if there are none. A state that includes
    /// this version must be folded again.
    package private(set) var since: UInt64?

    /// The first event that one of them voids or unvoids; nil if there are none.
    package private(set) var first: UInt64?

    /// No event is void.
    package init() {}

    /// Tells whether the event at `position` is void.
    package func contains(_ position: UInt64) -> Bool { void(of: position) != nil }

    /// Tells whether one of the events is about the event at `position`: that it is void, or counts again.
    @inlinable package func decides(about position: UInt64) -> Bool { voids[position] != nil }

    /// The `eventVoided` event that made the event at `position` void; nil if it counts.
    @inlinable package func void(of position: UInt64) -> UInt64? {
        if let void = voids[position], void > 0 { void } else { nil }
    }

    /// Takes in what is said at `position`; in the order of the log.
    package mutating func apply(_ change: VoidChange) {
        voids[change.target] = change.isVoid ? change.position : 0
        first = min(first ?? .max, change.target)
    }

    fileprivate mutating func note(since version: UInt64) { since = min(since ?? .max, version) }
}

/// The statement of an event about another one: that it is void, or that it counts again.
@usableFromInline
package struct VoidChange: Sendable {
    package let position: UInt64
    package let target: UInt64
    /// The version of the user from which on the target matters.
    fileprivate let since: UInt64
    fileprivate let isVoid: Bool

    /// Returns nil for an event that says nothing of another one, and if it was erased.
    package init?(_ header: RecordHeader, at position: UInt64) {
        guard header.isVoiding, let body = RecordBody(header.body), !body.erased, let target = body.target else {
            return nil
        }
        (self.position, self.target) = (position, target.rawValue)
        (since, isVoid) = (max(1, body.targetVersion), header.kind == .eventVoided)
    }
}

extension FoldSource {
    /// The voided events by those at `positions`, which are of one user, and by those of users merged there.
    @usableFromInline
    package func voidedEvents(among positions: [UInt64]) throws -> VoidedEvents {
        var voided = VoidedEvents()
        var changes: [VoidChange] = []
        var waiting = [positions]
        var isOwn = true
        while let positions = waiting.popLast() {
            for position in positions {
                let header = try header(at: position)
                if header.kindNumber == EventKind.usersMerged.rawValue {
                    if let merged = try mergedPositions(header, position) { waiting.append(merged) }
                } else if let change = VoidChange(header, at: position) {
                    changes.append(change)
                    // A merged user is folded from the start.
                    if isOwn { voided.note(since: change.since) }
                }
            }
            isOwn = false
        }
        for change in changes.sorted(by: { $0.position < $1.position }) { voided.apply(change) }
        return voided
    }
}
