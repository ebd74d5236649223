/// The records that an erasure of a user concerns: for copies of the log that have them still.
package struct ErasedPositions: Sendable {
    /// A user, with the place and the time of their first event, which an erasure leaves.
    package struct User: Hashable, Sendable {
        package let number: UserNumber
        package let first: Position
        package let firstAt: Timestamp
    }

    /// The user, and all who were merged into this one, by their numbers.
    package fileprivate(set) var users: [User] = []
    /// The positions of their events, in no order.
    package fileprivate(set) var positions: [Position] = []
}

extension EventLog {
    /// The most events of a user that one read transaction looks at: an open reader keeps old pages in use.
    private static let eventsPerRead: UInt64 = 65_536

    /// The positions of all events of `user` and of the users merged into this one, erased ones too. A damaged record
    /// throws: it may be a merge.
    package func erasedPositions(of user: UInt64) throws -> ErasedPositions {
        var erased = ErasedPositions()
        var (known, waiting): (Set<UInt64>, [UInt64]) = ([], [user])
        while let user = waiting.popLast() {
            guard known.insert(user).inserted else { continue }
            var next: UInt64 = 1
            while true {
                let part = try withView { try $0.part(of: user, from: next, count: Self.eventsPerRead) }
                if let first = part.first { erased.users.append(first) }
                erased.positions += part.positions.map { Position(rawValue: $0) }
                waiting += part.merged
                next += UInt64(part.positions.count)
                if next > part.version { break }
            }
        }
        erased.users.sort { $0.number < $1.number }
        return erased
    }
}

extension LogView {
    /// Some of a user's events.
    fileprivate struct Part {
        /// The user's version, and the positions of the events.
        var version: UInt64
        var positions: [UInt64]
        /// The user, if the first event is among them.
        var first: ErasedPositions.User?
        /// Users who were merged into this one by these events.
        var merged: [UInt64] = []
    }

    fileprivate func part(of user: UInt64, from: UInt64, count: UInt64) throws -> Part {
        let version = try version(of: user)
        let positions = try positions(of: user, from: from, to: Swift.min(version, from + count - 1))
        var part = Part(version: version, positions: positions)
        for (index, position) in positions.enumerated() {
            let header = try header(at: position)
            if from == 1, index == 0 {
                part.first = ErasedPositions.User(
                    number: UserNumber(rawValue: user), first: Position(rawValue: position),
                    firstAt: Timestamp(rawValue: header.recordedAt))
            }
            guard let body = RecordBody(header.body) else {
                throw StorageError.damaged(place: "the record at position \(position) is unreadable")
            }
            if header.kind == .usersMerged, let source = body.otherUser { part.merged.append(source) }
        }
        return part
    }
}
