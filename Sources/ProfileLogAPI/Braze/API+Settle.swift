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

/// The states over the whole store by which a request is decided, brought up to date before each of its decisions.
struct DecidedBy: Sendable {
    /// Catches up, however long that takes.
    var catchUp: @Sendable () async throws -> Void = {}
    /// Catches up if that is soon done, and tells whether it did.
    var catchUpIfNear: @Sendable () throws -> Bool = { true }
}

extension API {
    /// Decides a request and stores what it comes to; again, if somebody changes between the two what it was decided by.
    ///
    /// At first beside all others, then on the writer's thread, where nobody of this process comes between: no request is
    /// refused because others were faster. Neither the writer nor a connection waits for a fold of the log.
    func settle(
        _ states: DecidedBy = DecidedBy(), _ decide: @escaping @Sendable () throws -> Decision
    ) async throws -> APIAnswer {
        while true {
            for _ in 0..<Self.attemptsBesideOthers {
                try await states.catchUp()
                do {
                    switch try decide() {
                    case .answer(let answer): return answer
                    case .outdated(let addresses): for address in addresses { _ = try await commit(.release(address)) }
                    case .store(let append, let answer): return try answer(try await commit(append))
                    }
                } catch let error as AppendError where error.isOutrun {}
            }
            if let answer = try await settleAlone(states, decide) { return answer }
        }
    }

    /// As `settle`, on the writer's thread; nil if a state would have to be folded there.
    private func settleAlone(
        _ states: DecidedBy, _ decide: @escaping @Sendable () throws -> Decision
    ) async throws -> APIAnswer? {
        try await perform { [self] log in
            try untilItHolds {
                guard try states.catchUpIfNear() else { return nil }
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
