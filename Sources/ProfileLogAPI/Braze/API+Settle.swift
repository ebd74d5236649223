internal import ProfileLog

/// What a request comes to, by what the log holds when it is decided.
enum Decision {
    /// There is nothing to store.
    case answer(APIAnswer)
    /// Addresses that lead to somebody who has another one by now: they are made free, and the request is decided again.
    case outdated([UserID])
    /// It is stored, and answered by where. If `holds` is there, only if that is so on the writer's thread, where nobody of this process comes
    /// between it and the commit; else the request is decided again. What is decided on that thread holds.
    case store(
        PreparedAppend, holds: (@Sendable () throws -> Bool)? = nil, answer: (AppendReceipt) throws -> APIAnswer)
}

extension API {
    /// Decides a request and stores what it comes to; again, if somebody changes between the two what it was decided by.
    ///
    /// At first beside all others, then on the writer's thread, where nobody of this process comes between: no request is
    /// refused because others were faster. A decision that would keep a connection waiting, or the writer for a fold, throws ``TakesLong``, and
    /// is made again on a thread of its own.
    func settle(_ decide: @escaping @Sendable (DecisionBasis) throws -> Decision) async throws -> APIAnswer {
        let basis = DecisionBasis(self)
        do {
            return try await settle(basis, decide)
        } catch is TakesLong {
            return try await withTaskExecutorPreference(OwnThreads.shared) {
                try await settleOnOwnThread(basis.at(.ownThread), decide)
            }
        }
    }

    /// As `settle`, where the decision may take its time; the writer may still send it back.
    @concurrent
    private func settleOnOwnThread(
        _ basis: DecisionBasis, _ decide: @escaping @Sendable (DecisionBasis) throws -> Decision
    ) async throws -> APIAnswer {
        while true {
            do { return try await settle(basis, decide) } catch is TakesLong {}
        }
    }

    private func settle(
        _ basis: DecisionBasis, _ decide: @escaping @Sendable (DecisionBasis) throws -> Decision
    ) async throws -> APIAnswer {
        for _ in 0..<Self.attemptsBesideOthers {
            if let answer = try await settleBesideOthers({ try decide(basis) }) { return answer }
        }
        return try await settleAlone { try decide(basis.at(.writer)) }
    }

    /// As `settle`, once; nil if others came between.
    private func settleBesideOthers(_ decide: () throws -> Decision) async throws -> APIAnswer? {
        do {
            switch try decide() {
            case .answer(let answer): return answer
            case .outdated(let addresses): for address in addresses { _ = try await commit(.release(address)) }
            case .store(let append, nil, let answer): return try answer(try await commit(append))
            case .store(let append, let holds?, let answer):
                return try await commit(append, if: holds).map(answer)
            }
        } catch let error as AppendError where error.isOutrun {}
        return nil
    }

    /// Stores `append` if `holds` is so right before; nil if it is not.
    private func commit(
        _ append: PreparedAppend, if holds: @escaping @Sendable () throws -> Bool
    ) async throws -> AppendReceipt? {
        try await perform { [self] log in
            guard try holds() else { return nil }
            let receipt = try log.commit(append)
            activity.stored(receipt)
            return receipt
        }
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
                case .store(let append, _, let answer):
                    let receipt = try log.commit(append)
                    activity.stored(receipt)
                    return try answer(receipt)
                }
            }
        }
    }

    /// How often a request is decided beside all others.
    static let attemptsBesideOthers = 3
}

/// Runs `work`, which decides by what the log holds and commits; again if somebody comes between: on the writer's thread another process.
func untilItHolds<Value>(
    isOutrun: (AppendError) -> Bool = { $0.isOutrun }, _ work: () throws -> Value
) throws -> Value {
    for _ in 1..<64 {
        do { return try work() } catch let error as AppendError where isOutrun(error) {}
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
