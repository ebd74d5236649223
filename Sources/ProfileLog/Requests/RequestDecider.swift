internal import ProfileLogSnippets

/// The decision about a request, by what a view of the log shows.
package enum Decision<Answer: Sendable> {
    /// The answer, if there is nothing to store.
    case answer(Answer)
    /// The append is stored if all that the decision relied on still holds, and answered by where.
    case store(PreparedAppend, answer: (AppendReceipt) throws -> Answer)
}

/// Decides requests and stores what they come to: the one way for every write that depends on what the log holds.
///
/// A decision is a pure function of a ``DecisionView``:
/// ```swift
/// let answer = try await decider.decide { view in
///     guard let user = try view.find(id) else { return .answer(noUser) }
///     view.requireUnchanged(id)
///     return .store(try append(for: user)) { receipt in stored(receipt) }
/// }
/// ```
/// It runs optimistically: without a lock, and what the view recorded goes with the append as preconditions, which the
/// commit checks under the write lock. On a conflict it runs again, at last while the lock is held, where nothing can
/// come between. What it may read is bounded (``DecisionView/Effort``): a decision that needs more moves from the
/// caller's thread, where other connections may wait, to the slow path. If it needs more under the lock too, the answer
/// is 503 with `Retry-After`, and nothing is stored.
package struct RequestDecider: Sendable {
    package let store: RequestStore

    /// The number of decisions about a request without the lock, on each path.
    package static let optimisticAttempts = 3

    /// - Parameter evenIfFull: whether the writer's queue takes the append when it is full.
    package func decide<Answer: Sendable>(
        evenIfFull: Bool = false, _ decide: @escaping @Sendable (DecisionView) throws -> Decision<Answer>
    ) async throws -> Answer {
        do {
            return try await attempt(.fast, evenIfFull, decide)
        } catch is WorkBudgetExceeded {}
        do {
            return try await SlowPath.run { try await attempt(.slow, evenIfFull, decide) }
        } catch is WorkBudgetExceeded {
            throw APIProblem.busy
        }
    }

    private func attempt<Answer: Sendable>(
        _ effort: DecisionView.Effort, _ evenIfFull: Bool,
        _ decide: @escaping @Sendable (DecisionView) throws -> Decision<Answer>
    ) async throws -> Answer {
        for _ in 0..<Self.optimisticAttempts {
            let view = DecisionView(store.log, effort)
            switch try decide(view) {
            case .answer(let answer): return answer
            case .store(let append, let answer):
                guard let receipt = try await commit(view.completed(append), evenIfFull) else { continue }
                return try answer(receipt)
            }
        }
        return try await store.perform(evenIfFull: evenIfFull) { log in
            try decideUnderLock(log, decide)
        }
    }

    /// Returns nil on a conflict.
    private func commit(_ append: PreparedAppend, _ evenIfFull: Bool) async throws -> AppendReceipt? {
        do {
            return try await store.commit(append, evenIfFull: evenIfFull)
        } catch AppendError.conflict {
            return nil
        }
    }

    private func decideUnderLock<Answer: Sendable>(
        _ log: EventLog, _ decide: (DecisionView) throws -> Decision<Answer>
    ) throws -> Answer {
        var decision: Decision<Answer>?
        let receipt = try log.commit(decidingUnderLock: {
            let view = DecisionView(log, .underLock)
            let made = try decide(view)
            decision = made
            guard case .store(let append, _) = made else { return nil }
            return view.completed(append)
        })
        switch (decision, receipt) {
        case (.answer(let answer)?, _): return answer
        case (.store(_, let answer)?, let receipt?):
            store.activity.stored(receipt)
            return try answer(receipt)
        default: throw AppendError.conflict(over: "what the request was decided by")
        }
    }
}

/// A decision needs to read more than it may where it runs.
package struct WorkBudgetExceeded: Error {}

extension APIProblem {
    /// Status 503: the request cannot be decided now.
    package static let busy = APIProblem(
        status: 503, code: "busy",
        error: "What the request depends on keeps changing, and is too much to read while all other writers wait; "
            + "nothing was stored.",
        remedy: "Send the same request again in a second, or in smaller parts.")
}
