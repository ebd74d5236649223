/// The events that a fold of one user skips, by the `eventVoided` and `eventUnvoided` events in a part of the user's
/// stream and in the streams of users who were merged there.
///
/// A state as of a version knows the voids up to that version: an earlier state shows what was believed then.
package struct VoidedEvents: Sendable {
    /// The positions of the void events, by the positions of what they void.
    private var voids: [UInt64: UInt64] = [:]
    /// The first version of the user at which one of the events matters; nil if there are none. A state that includes
    /// this version must be folded again.
    package private(set) var since: UInt64?

    /// No event is void.
    package init() {}

    /// Whether the event at `position` is void.
    package func contains(_ position: UInt64) -> Bool { voids[position] != nil }

    /// The `eventVoided` event that made the event at `position` void; nil if it counts.
    package func void(of position: UInt64) -> UInt64? { voids[position] }

    /// Takes in what is said at `position`; in the order of the log.
    fileprivate mutating func apply(_ change: (position: UInt64, target: UInt64, isVoid: Bool)) {
        voids[change.target] = change.isVoid ? change.position : nil
    }

    fileprivate mutating func note(since version: UInt64) { since = min(since ?? .max, version) }
}

/// What the log says of one event: the canonical user, whose stream has or gets its voids, and whether it is void.
struct VoidStatus {
    var user: UInt64
    /// The version of `user` from which on the event matters: its own, or that of the merge which brought it.
    var since: UInt64
    /// The `eventVoided` event that made it void; nil if it counts.
    var void: UInt64?
}

extension LogView {
    /// The voided events by those at `positions`, which are of one user, and by those of users merged there.
    package func voidedEvents(among positions: [UInt64]) throws -> VoidedEvents {
        var voided = VoidedEvents()
        var changes: [(position: UInt64, target: UInt64, isVoid: Bool)] = []
        var waiting = [positions]
        var isOwn = true
        while let positions = waiting.popLast() {
            for position in positions {
                let header = try header(at: position)
                if header.kindNumber == EventKind.usersMerged.rawValue {
                    if let merged = try mergedPositions(header, position) { waiting.append(merged) }
                } else if header.isVoiding, let body = RecordBody(header.body), !body.erased, let target = body.target {
                    changes.append((position, target.rawValue, header.kind == .eventVoided))
                    // A merged user is folded from the start.
                    if isOwn { voided.note(since: max(1, body.targetVersion)) }
                }
            }
            isOwn = false
        }
        for change in changes.sorted(by: { $0.position < $1.position }) { voided.apply(change) }
        return voided
    }

    /// The voided events by all that the view sees up to `position`, or with `skipsDamage` by all that is readable.
    package func voidedEvents(upTo position: UInt64 = .max, skipsDamage: Bool = false) throws -> VoidedEvents {
        var voided = VoidedEvents()
        try scan(from: 1, to: min(position, last), skipping: skipsDamage ? { _, _ in } : nil) { position, header in
            if header.isVoiding, let body = RecordBody(header.body), !body.erased, let target = body.target {
                voided.apply((position, target.rawValue, header.kind == .eventVoided))
            }
            return true
        }
        return voided
    }

    /// Whether the event at `position` with `target` as its header is void. Reads the events of its user after it, from
    /// the last one back to where it is known. `header` reads a record, also one of the commit that is decided now.
    func voidStatus(
        of position: UInt64, _ target: RecordHeader, _ header: (UInt64) throws -> RecordHeader
    ) throws -> VoidStatus {
        var users = [target.user]
        let most = try userCount()
        while let next = try mergedInto(users[users.count - 1]) {
            users.append(next)
            guard users.count <= most else {
                throw StorageError.damaged(place: "the merges of user \(target.user) have no end")
            }
        }
        var status = VoidStatus(user: users[users.count - 1], since: target.version)
        for index in users.indices.reversed() {
            let source = index > 0 ? users[index - 1] : nil
            let isCanonical = index == users.count - 1
            var isKnown = false
            let user = users[index]
            try forEachPosition(
                of: user, after: source == nil ? target.version : 0, upTo: version(of: user)
            ) { at in
                let header = try header(at)
                if let source, header.kindNumber == EventKind.usersMerged.rawValue,
                    RecordBody(header.body)?.otherUser == source
                {
                    if isCanonical { status.since = header.version }
                    return false
                }
                if !isKnown, header.isVoiding, let body = RecordBody(header.body),
                    body.target == Position(rawValue: position)
                {
                    isKnown = true
                    status.void = header.kind == .eventVoided ? at : nil
                }
                return !isKnown || isCanonical && source != nil
            }
            if isKnown { break }
        }
        return status
    }
}
