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

extension LogView {
    /// The positions of all events of `user` and of the users merged into this one, erased ones too. A damaged record
    /// throws: it may be a merge.
    package func erasedPositions(of user: UInt64) throws -> ErasedPositions {
        var scope = ErasureScope()
        try scope.follow(user, self)
        var erased = ErasedPositions()
        for user in scope.users.sorted() {
            let positions = try positions(of: user, from: 1, to: version(of: user))
            guard let first = positions.first else { continue }
            erased.users.append(
                .init(
                    number: UserNumber(rawValue: user), first: Position(rawValue: first),
                    firstAt: Timestamp(rawValue: try header(at: first).recordedAt)))
            erased.positions += positions.map { Position(rawValue: $0) }
        }
        return erased
    }
}
