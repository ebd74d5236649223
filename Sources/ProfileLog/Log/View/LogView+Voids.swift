/// The log's statement about one event: the canonical user, whose stream has or gets its voids, and whether it is void.
struct VoidStatus {
    var user: UInt64
    /// The version of `user` from which on the event matters: its own, or that of the merge which brought it.
    var since: UInt64
    /// The `eventVoided` event that made it void; nil if it counts.
    var void: UInt64?
}

extension LogView {
    /// The voided events by all that the view sees after `begin` and up to `position`, or with `skipsDamage` by all
    /// that is readable.
    package func voidedEvents(
        after begin: UInt64 = 0, upTo position: UInt64 = .max, skipsDamage: Bool = false
    ) throws -> VoidedEvents {
        var voided = VoidedEvents()
        try scan(
            from: begin + 1, to: min(position, last), skipping: skipsDamage ? { _, _ in } : nil
        ) { position, header in
            if let change = VoidChange(header, at: position) { voided.apply(change) }
            return true
        }
        return voided
    }

    package func voidChanges(by owner: UInt64, after begin: UInt64, before end: UInt64) throws -> [VoidChange] {
        var changes: [VoidChange] = []
        if begin + 1 >= end { return changes }
        for user in try mergedUsers(of: owner) {
            let known = try version(of: user, upTo: begin)
            try forEachPosition(of: user, after: known, upTo: version(of: user, upTo: end - 1)) { position in
                if let change = VoidChange(try header(at: position), at: position) { changes.append(change) }
                return true
            }
        }
        return changes
    }

    /// Returns `user`, and after each one the user who took them over: the canonical one is the last.
    private func mergedUsers(of user: UInt64) throws -> [UInt64] {
        var users = [user]
        let most = try userCount()
        while let next = try mergedInto(users[users.count - 1]) {
            users.append(next)
            guard users.count <= most else {
                throw StorageError.damaged(place: "the merges of user \(user) have no end")
            }
        }
        return users
    }

    /// Tells whether the event at `position` with `target` as its header is void. Reads the events of its user after
    /// it, from the last one back to where it is known. `header` reads a record, also one of the commit that is decided
    /// now.
    func voidStatus(
        of position: UInt64, _ target: RecordHeader, _ header: (UInt64) throws -> RecordHeader
    ) throws -> VoidStatus {
        let users = try mergedUsers(of: target.user)
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
