extension EventLog {
    /// Lends the profile of every user who is not erased or merged into another, in the order of their creation, all of one read view. Answers
    /// the position of that view.
    ///
    /// The read transaction is open as long as this runs: it should not wait for anything. Erasures that come while it runs are not seen; a
    /// profile that they make unreadable is skipped.
    ///
    /// - Parameters:
    ///   - withUsage: whether `body` gets the state of ``UsageProjection`` too.
    ///   - body: gets the user, the time at which they were created, and the states.
    package func forEachProfile(
        withUsage: Bool, _ body: (UserInfo, Timestamp, ProfileState, UsageState?) throws -> Void
    ) throws -> Position {
        try withView { view, transaction in
            var number: UInt64 = 0
            let count = try view.userCount(transaction)
            while number < count {
                number += 1
                do {
                    let user = try info(number, view, transaction)
                    guard !user.isErased, try view.survivor(of: number, transaction) == number else { continue }
                    let version = user.version.rawValue
                    let profile = try state(ProfileProjection.self, number, version: version, view, transaction)
                    let usage =
                        withUsage ? try state(UsageProjection.self, number, version: version, view, transaction) : nil
                    let created = try Self.header(at: user.created.rawValue, transaction, view.tables).recordedAt
                    try body(user, Timestamp(rawValue: created), profile, usage)
                } catch let error as StorageError {
                    guard try find(UserNumber(rawValue: number))?.isErased == true else { throw error }
                }
            }
            return Position(rawValue: view.last)
        }
    }
}
