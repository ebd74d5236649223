internal import ProfileLog

/// What a request comes to, by what the log holds when it is decided.
enum Decision {
    /// There is nothing to store.
    case answer(APIAnswer)
    /// Addresses that lead to somebody who has another one by now: they are made free, and the request is decided again.
    case outdated([UserID])
    /// It is stored, and answered by where.
    case store(PreparedAppend, answer: (AppendReceipt) throws -> APIAnswer)
}

extension API {
    /// Decides a request and stores what it comes to; again, if somebody changes between the two what it was decided by.
    ///
    /// At first beside all others, then on the writer's thread, where nobody of this process comes between: no request is
    /// refused because others were faster. Neither the writer nor a connection waits for a fold of the log: a decision that asks a state
    /// that is far behind throws ``StateIsFar``, and is made again when the state has caught up.
    func settle(_ decide: @escaping @Sendable () throws -> Decision) async throws -> APIAnswer {
        var attempts = 0
        while true {
            do {
                if attempts == Self.attemptsBesideOthers { return try await settleAlone(decide) }
                attempts += 1
                if let answer = try await settleBesideOthers(decide) { return answer }
            } catch let far as StateIsFar {
                try await performBeside { _ in try far.catchUp() }
            }
        }
    }

    /// As `settle`, once; nil if others came between.
    private func settleBesideOthers(_ decide: @escaping @Sendable () throws -> Decision) async throws -> APIAnswer? {
        do {
            switch try decide() {
            case .answer(let answer): return answer
            case .outdated(let addresses): for address in addresses { _ = try await commit(.release(address)) }
            case .store(let append, let answer): return try answer(try await commit(append))
            }
        } catch let error as AppendError where error.isOutrun {}
        return nil
    }

    /// As `settle`, on the writer's thread.
    private func settleAlone(_ decide: @escaping @Sendable () throws -> Decision) async throws -> APIAnswer {
        try await perform { [self] log in
            try untilItHolds {
                switch try decide() {
                case .answer(let answer): return answer
                case .outdated(let addresses):
                    for address in addresses { _ = try log.commit(.release(address)) }
                    throw AppendError.versionConflict(user: addresses[0], expected: .noUser, actual: .none)
                case .store(let append, let answer):
                    let receipt = try log.commit(append)
                    activity.stored(receipt)
                    return try answer(receipt)
                }
            }
        }
    }

    /// How often a request is decided beside all others.
    private static let attemptsBesideOthers = 3
}

/// A state by which a request is to be decided is so far behind the log that nobody may wait for it here.
struct StateIsFar: Error {
    /// Catches up, however long that takes.
    let catchUp: @Sendable () throws -> Void
}

extension LiveState {
    /// Catches up, if that is soon done.
    func catchUpForDecision() throws {
        guard try catchUpIfNear() else { throw far }
    }

    /// Lends the state as the last catching up left it.
    func withStateForDecision<Result>(_ body: (P.State) throws -> Result) throws -> Result {
        guard let result = try withStateIfThere(body) else { throw far }
        return result
    }

    private var far: StateIsFar { StateIsFar { [self] in _ = try catchUp() } }
}

/// Runs `work` on the writer's thread, which decides by what the log holds and commits; again if another process comes between.
func untilItHolds<Value>(_ work: () throws -> Value) throws -> Value {
    for _ in 1..<64 {
        do { return try work() } catch let error as AppendError where error.isOutrun {}
    }
    return try work()
}

extension AppendError {
    /// Whether somebody changed what the append was decided by: a user has other events by now, or is gone.
    ///
    /// Who is looked up for a decision is stored by their `braze_id`; other IDs make users.
    fileprivate var isOutrun: Bool {
        switch self {
        case .versionConflict, .unknownUser(.brazeID): true
        default: false
        }
    }
}
