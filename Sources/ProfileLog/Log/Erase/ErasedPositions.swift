/// The records that an erasure of a user concerns: for copies of the log that have them still.
package struct ErasedPositions: Sendable {
    /// The user, and all who were merged into this one.
    package let users: Set<UInt64>
    /// The positions of their events, ascending.
    package let positions: [UInt64]
}

extension LogView {
    /// The positions of all events of `user` and of the users merged into this one, erased ones too. A damaged record
    /// throws: it may be a merge.
    package func erasedPositions(of user: UInt64) throws -> ErasedPositions {
        var scope = ErasureScope()
        try scope.follow(user, self)
        var found: [UInt64] = []
        for user in scope.users { found += try positions(of: user, from: 1, to: version(of: user)) }
        return ErasedPositions(users: scope.users, positions: found.sorted())
    }
}
