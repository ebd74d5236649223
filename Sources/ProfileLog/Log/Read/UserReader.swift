/// Reads users as they are now.
package struct UserReader: ReaderPart {
    package let log: LogReader

    /// As ``EventLog/find(_:)``.
    package func find(_ user: UserID) throws -> UserInfo? {
        try withView { view in
            guard let number = try view.user(user, braze: braze) else { return nil }
            return try info(number, view)
        }
    }

    /// The user with this number; nil if there is none.
    package func find(_ user: UserNumber) throws -> UserInfo? {
        try withView { view in
            guard try view.version(of: user.rawValue) > 0 else { return nil }
            return try info(user.rawValue, view)
        }
    }

    /// The erased user with this `braze_id`, which resolves to no user now; nil for all other IDs.
    package func findErased(_ user: UserID) throws -> UserInfo? {
        guard case .assignedID(let text) = user, let number = braze.user(text), number > 0,
            let info = try find(UserNumber(rawValue: number)), info.isErased
        else { return nil }
        return info
    }

    /// As ``EventLog/userCount()``.
    package func count() throws -> UInt64 { try withView { view in try view.userCount() } }

    /// Up to `limit` users with numbers above `after`, ascending.
    package func page(after: UserNumber = UserNumber(rawValue: 0), limit: Int) throws -> [UserInfo] {
        try withView { view in
            let count = try view.userCount()
            var users: [UserInfo] = []
            var number = after.rawValue
            while number < count, users.count < limit {
                number += 1
                users.append(try info(number, view))
            }
            return users
        }
    }

    /// The user that this one was merged into, through all merges; the user itself if there was none.
    package func canonicalUser(of user: UserNumber) throws -> UserNumber {
        try withView { view in
            UserNumber(rawValue: try view.canonicalUser(of: user.rawValue))
        }
    }

    // MARK: - All profiles

    /// Calls `body` with the profile of every user who is not erased or merged into another, in the order of their
    /// creation, all from one view. Returns the position of that view. In the past there are the users who were there,
    /// with the IDs that they had then.
    ///
    /// The read transaction stays open, so `body` should not wait. Erasures during it are not seen; a profile
    /// that they make unreadable is skipped.
    ///
    /// - Parameters:
    ///   - user: the number after which it begins.
    ///   - end: the number with which it ends.
    ///   - past: of which profiles are read; nil for the present. By occurrence there is no usage.
    ///   - withUsage: whether `body` gets the state of ``UsageProjection`` too.
    ///   - skipping: gets each user with damage, who is then skipped; nil to throw at the first. Also for damage that
    ///     `body` met.
    ///   - body: gets the user, the time at which they were created (by occurrence: of what they did first), and the
    ///     states.
    package func forEachProfile(
        after user: UserNumber = UserNumber(rawValue: 0), through end: UserNumber = UserNumber(rawValue: .max),
        in past: PastHistory? = nil, withUsage: Bool, skipping: ((UserNumber, StorageError) -> Void)? = nil,
        _ body: (UserInfo, Timestamp, ProfileState, UsageState?) throws -> Void
    ) throws -> Position {
        try withView { view in
            var number = user.rawValue
            let count = min(try view.userCount(), end.rawValue)
            let past = past.flatMap { $0.order == .occurred || $0.position.rawValue < view.last ? $0 : nil }
            var merges = PastMerges()
            while number < count {
                number += 1
                view.addresses?.noteUser(last: view.last)
                do {
                    let found =
                        try past.map { try log.past.user(number, $0, view, &merges) }
                        ?? view.presentUser(number, braze)
                    let user = found.info
                    // Users are numbered in the order of their creation.
                    if let past, user.version == .none {
                        if past.order == .recorded { break }
                        continue
                    }
                    guard !user.isErased, found.canonical == user.number else { continue }
                    let version = user.version.rawValue
                    if let past, past.order == .occurred {
                        guard let first = try view.events(of: number, in: past)?.first,
                            let state = try log.past.state(of: number, in: past, view)
                        else { continue }
                        try body(user, first, state, nil)
                        continue
                    }
                    let profile = try states.state(ProfileProjection.self, number, version: version, view)
                    let usage =
                        withUsage
                        ? try states.state(UsageProjection.self, number, version: version, view) : nil
                    let created = try view.header(at: user.created.rawValue).recordedAt
                    try body(user, Timestamp(rawValue: created), profile, usage)
                } catch let error as StorageError {
                    let user = UserNumber(rawValue: number)
                    // The view does not see an erasure that came after it, whose names are gone.
                    if (try? LogReader(store, states).users.find(user))?.isErased == true { continue }
                    guard case .damaged = error, let skipping else { throw error }
                    skipping(user, error)
                }
            }
            return Position(rawValue: view.last)
        }
    }
}

extension ReaderPart {
    func info(_ user: UInt64, _ view: LogView) throws -> UserInfo { try view.presentUser(user, braze).info }
}

extension LogView {
    /// The user as they are now, and who they were merged into; the user itself if they were not.
    fileprivate func presentUser(_ user: UInt64, _ braze: BrazeIDs) throws -> PastReader.PastUser {
        let row = try identities(of: user)
        var (canonical, isErased) = (user, row.isErased)
        if row.mergedInto != nil {
            canonical = try canonicalUser(of: user)
            isErased = try identities(of: canonical).isErased
        }
        let info = UserInfo(
            number: UserNumber(rawValue: user), version: Version(rawValue: try version(of: user)),
            ids: row.identities, brazeID: braze.id(user), created: Position(rawValue: row.created), isErased: isErased)
        return (info, UserNumber(rawValue: canonical))
    }
}
