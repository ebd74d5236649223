extension EventLog {
    /// Reads the user's state, lets `decide` make events of it, and appends these only if the user got no event in
    /// between; otherwise reads and decides again. So no coin is spent twice:
    ///
    /// ```swift
    /// try log.update(user, Balance.self) { balance in
    ///     guard balance >= 5 else { return [] }
    ///     return [.customEventLogged(CustomEvent(name: "spent", properties: [.init("coins", .int(5))]))]
    /// }
    /// ```
    ///
    /// `decide` may run several times and should do nothing else: the last run counts. After some attempts it runs
    /// while the store's write lock is held, and then no append comes between. It must not append. An unknown user has
    /// the initial state. If it returns no events, nothing is stored, and the receipt is empty. If the append is stored
    /// under the key already, the receipt is that of the first time, and `decide` does not run.
    @discardableResult
    public func update<P: UserProjection>(
        _ user: UserID, _: P.Type, context: EventContext = .app, idempotencyKey key: String? = nil,
        _ decide: (P.State) throws -> [ProfileEvent]
    ) throws -> AppendReceipt {
        let update = try UserUpdate<P>(log: self, user: user, context: context, key: key)
        for _ in 0..<update.optimisticAttempts {
            switch try update.decided(decide) {
            case .nothing(let receipt): return receipt
            case .events(let append):
                do throws(AppendError) { return try commit(append) } catch { if !error.isConflict { throw error } }
            }
        }
        return try update.committed(decidingUnderLock: decide)
    }
}

extension LogWriter {
    /// As ``EventLog/update(_:_:context:idempotencyKey:_:)``, in a commit that callers share. `decide` runs on the
    /// caller's thread, and on the writer's after some attempts. Throws `CancellationError` before an attempt if the
    /// task is cancelled.
    @discardableResult
    public func update<P: UserProjection>(
        _ user: UserID, _: P.Type, context: EventContext = .app, idempotencyKey key: String? = nil,
        _ decide: @escaping @Sendable (P.State) throws -> [ProfileEvent]
    ) async throws -> AppendReceipt {
        let update = try UserUpdate<P>(log: log, user: user, context: context, key: key)
        for _ in 0..<update.optimisticAttempts {
            try Task.checkCancellation()
            switch try update.decided(decide) {
            case .nothing(let receipt): return receipt
            case .events(let append):
                do throws(AppendError) { return try await commit(append) } catch {
                    if !error.isConflict { throw error }
                }
            }
        }
        try Task.checkCancellation()
        return try await perform { _ in try update.committed(decidingUnderLock: decide) }
    }
}

/// A decision about one user by their state, that holds only while the user stays as they were read.
private struct UserUpdate<P: UserProjection>: Sendable {
    let log: EventLog
    let user: UserID
    let context: EventContext
    let key: String?
    /// Under a key a retry may decide otherwise, and is the same append: it is of the same user.
    private let content: [UInt8]

    /// Attempts without the write lock.
    let optimisticAttempts = 8

    init(log: EventLog, user: UserID, context: EventContext, key: String?) throws(AppendError) {
        try Validation.check(user)
        (self.log, self.user, self.context, self.key) = (log, user, context, key)
        content = key == nil ? [] : KeyCoding.hash(Array("update \(user)".utf8))
    }

    func decided(_ decide: (P.State) throws -> [ProfileEvent]) throws -> UpdateDecision {
        // Variables: each generic function on the way of a result would look up its type.
        var (end, isStored) = (Position.start, false)
        var (number, version): (UserNumber?, Version?) = (nil, nil)
        var state = P.initial
        try log.store.withView { view in
            if let key {
                isStored = try LogReader(log.store, log.states, view).events.hasAppend(underOneOf: [key])
                if isStored { return }
            }
            end = Position(rawValue: view.last)
            guard let user = try view.user(user, braze: log.store.braze) else { return }
            let now = try view.version(of: user)
            state = try log.states.recentState(P.self, of: user, version: now, view)
            (number, version) = (UserNumber(rawValue: user), Version(rawValue: now))
        }
        // The commit compares the content, and syncs what the first append stored.
        if isStored { return .events(try prepared([])) }
        let events = try decide(state)
        if events.isEmpty {
            return .nothing(AppendReceipt(first: end.next, places: [], isRepetition: false, note: []))
        }
        var append = try prepared(events)
        var preconditions = Preconditions()
        preconditions.require(.user(user, number, version))
        append.require(preconditions)
        return .events(append)
    }

    private func prepared(_ events: [ProfileEvent]) throws(AppendError) -> PreparedAppend {
        try log.prepared(events, to: user, context: context, idempotencyKey: key, content: content)
    }

    func committed(decidingUnderLock decide: (P.State) throws -> [ProfileEvent]) throws -> AppendReceipt {
        let (nothing, stored) = try log.commit(decidingUnderLock: { () -> (AppendReceipt?, PreparedAppend?) in
            switch try decided(decide) {
            case .nothing(let receipt): (receipt, nil)
            case .events(let append): (nil, append)
            }
        })
        guard let receipt = stored ?? nothing else { preconditionFailure("A decision is events or nothing.") }
        return receipt
    }
}

private enum UpdateDecision {
    case events(PreparedAppend)
    /// There is nothing to append.
    case nothing(AppendReceipt)
}

extension AppendError {
    /// Tells whether the caller should decide again.
    fileprivate var isConflict: Bool {
        switch self {
        case .conflict, .versionConflict: true
        default: false
        }
    }
}
