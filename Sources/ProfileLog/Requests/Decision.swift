internal import ProfileLogSnippets

/// The decision about a request, by what a view of the log shows.
package struct Decision<Value: Sendable>: Sendable {
    /// The value that the caller gets when `append` is stored.
    package let value: Value
    /// Stored if all that the decision relied on still holds; nil if there is nothing to store.
    package let append: PreparedAppend?

    package init(_ value: Value, storing append: PreparedAppend? = nil) {
        (self.value, self.append) = (value, append)
    }
}

extension RequestStore {
    /// The number of times that a request is decided without the lock, on each path.
    package static let optimisticAttempts = 3

    /// Decides a request and stores what it comes to: the one way for every write that depends on what the log holds.
    ///
    /// A decision is a pure function of a ``DecisionView``:
    /// ```swift
    /// let (name, receipt) = try await store.decide { view in
    ///     guard let user = try view.find(id) else { return Decision(nil) }
    ///     try view.requireUnchanged(id)
    ///     return Decision(user.name, storing: try append(for: user))
    /// }
    /// ```
    ///
    /// It runs optimistically: without a lock, and what the view recorded goes with the append as preconditions, which
    /// the commit checks under the write lock. On a conflict it runs again, at last while the lock is held, where
    /// nothing can come between. What it may read is bounded (``DecisionView/Effort``): a decision that needs more
    /// moves from the caller's thread, where other connections may wait, to the slow path. If it needs more under the
    /// lock too, the answer is 503 with `Retry-After`, and nothing is stored.
    ///
    /// A node of a cluster that lags neither refuses nor finds nothing to do by what is outdated: it catches up once,
    /// and if there was anything, the decision runs again.
    ///
    /// - Parameter evenIfFull: whether the writer's queue takes the append when it is full.
    package func decide<Value: Sendable>(
        evenIfFull: Bool = false, _ decide: @escaping @Sendable (DecisionView) throws -> Decision<Value>
    ) async throws -> (value: Value, receipt: AppendReceipt?) {
        do {
            return try await attempt(.fast, evenIfFull, decide)
        } catch is WorkBudgetExceeded {}
        do {
            return try await SlowPath.run { try await self.attempt(.slow, evenIfFull, decide) }
        } catch is WorkBudgetExceeded {
            throw APIError.busy
        }
    }

    private func attempt<Value: Sendable>(
        _ effort: DecisionView.Effort, _ evenIfFull: Bool,
        _ decide: @escaping @Sendable (DecisionView) throws -> Decision<Value>
    ) async throws -> (value: Value, receipt: AppendReceipt?) {
        var mayBeBehind = true
        for _ in 0..<Self.optimisticAttempts {
            let last = log.options.transport.isReplicated ? try log.lastPosition() : nil
            let view = DecisionView(log, effort)
            let decision: Decision<Value>
            do {
                decision = try RequestPhases.measuring(.decide) { try decide(view) }
            } catch {
                if error is WorkBudgetExceeded || !mayBeBehind { throw error }
                mayBeBehind = false
                guard await catchUp(since: last) else { throw error }
                continue
            }
            guard let append = decision.append else {
                guard mayBeBehind else { return (decision.value, nil) }
                mayBeBehind = false
                guard await catchUp(since: last) else { return (decision.value, nil) }
                continue
            }
            do {
                return (decision.value, try await commit(view.completed(append), evenIfFull: evenIfFull))
            } catch AppendError.conflict {
            } catch AppendError.unknownUser(let user) where view.hasFound(user) {
                // Erased since.
            }
        }
        let (value, receipt) = try await perform(evenIfFull: evenIfFull) { log in
            try log.commit(decidingUnderLock: {
                let view = DecisionView(log, .underLock)
                let decision = try decide(view)
                return (decision.value, decision.append.map(view.completed))
            })
        }
        if let receipt { activity.stored(receipt) }
        return (value, receipt)
    }

    /// Applies what other nodes of the cluster have stored by now, on a thread that may wait; tells whether the log has
    /// gone on since `last`, the end that was decided by; nil where there are no other nodes.
    private func catchUp(since last: Position?) async -> Bool {
        guard let last else { return false }
        let isNew = try? await SlowPath.run { [log] in log.catchUp(since: last) }
        return isNew ?? false
    }
}

/// A decision needs to read more than it may where it runs.
package struct WorkBudgetExceeded: Error {}

extension APIError {
    /// Status 503: the request cannot be decided now.
    package static let busy = APIError(
        status: 503, code: "busy",
        error: "What the request depends on keeps changing, and is too much to read while all other writers wait; "
            + "nothing was stored.",
        remedy: "Send the same request again in a second, or in smaller parts.")
}
