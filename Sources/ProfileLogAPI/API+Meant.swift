internal import ProfileLog

/// Writes for whom an address means: who that is when they are stored.
extension API {
    /// Commits `append`, which `prepare` made of writes for `users`.
    ///
    /// If one of them whom an address means is merged or erased before it is stored, nothing of it is: `prepare` makes another one, in the
    /// end on the writer's thread, where nobody of this process comes between.
    func commit(
        _ append: PreparedAppend, for users: [UserID], anew prepare: @escaping @Sendable () throws -> PreparedAppend
    ) async throws -> AppendReceipt {
        var seen: Set<UserID> = []
        let users = users.filter { seen.insert($0).inserted }
        for attempt in 0..<Self.attemptsBesideOthers {
            let append = attempt == 0 ? append : try prepare()
            for user in users where try log.isOutdated(user) { _ = try await commit(.release(user)) }
            do throws(AppendError) {
                return try await commit(append)
            } catch {
                guard error.isOutrun(for: users) else { throw error }
            }
        }
        return try await perform { [activity] log in
            try untilItHolds(isOutrun: { $0.isOutrun(for: users) }) {
                for user in users where try log.isOutdated(user) { _ = try log.commit(.release(user)) }
                let receipt = try log.commit(prepare())
                activity.stored(receipt)
                return receipt
            }
        }
    }
}

extension AppendBuilder {
    /// Adds all events of `write`, or nothing if one cannot be stored. The append is refused if who is meant by an address is not by then;
    /// `holders` is who that is, looked up once for all writes of an append.
    mutating func add(_ write: Write, in log: EventLog, _ holders: inout [UserID: UserInfo?]) throws {
        let holder = try holders[write.user] ?? log.holder(of: write.user)
        holders[write.user] = .some(holder)
        let user = holder.map { .brazeID($0.brazeID) } ?? write.user
        try add(write.events, write.context, to: user)
        if let holder { expect(user, toLeadTo: holder.number) }
        expect(user, at: write.expected)
    }
}

extension AppendError {
    /// Whether somebody whom an address among `users` meant was merged or erased meanwhile: what `users` themselves name and expect, is theirs
    /// to put right.
    fileprivate func isOutrun(for users: [UserID]) -> Bool {
        switch self {
        case .versionConflict(_, .any, _): true
        case .unknownUser(.brazeID(let id)): !users.contains(.brazeID(id))
        default: false
        }
    }
}
