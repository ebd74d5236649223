/// Reads of an embedder: each call sees everything that was committed before it, and is of one moment.
extension EventLog {
    /// The direction in which a history is read.
    public enum Direction: Sendable { case forward, backward }

    // MARK: - Readers

    /// A reader that opens a view for each read: it follows the log.
    package var reader: LogReader { LogReader(store, states) }

    /// Lends a reader whose reads are all of one view, opened now: their results are of one moment.
    package func withReader<Result>(_ body: (LogReader) throws -> Result) throws -> Result {
        try store.withView { view in try body(LogReader(store, states, view)) }
    }

    /// Lends one moment of the log, for several questions whose answers must belong together.
    ///
    /// ```swift
    /// let (balance, version) = try log.read { moment in
    ///     (try moment.state(of: Balance.self, for: "ana"), try moment.find("ana")?.version)
    /// }
    /// ```
    ///
    /// To append what such an answer decides, use ``update(_:_:context:idempotencyKey:_:)``.
    public func read<Result>(_ body: (borrowing LogMoment) throws -> Result) throws -> Result {
        try withReader { try body(LogMoment($0)) }
    }

    // MARK: - Users

    /// The user with this ID, and how many events they have; nil if there is none.
    public func find(_ user: UserID) throws -> UserInfo? { try reader.users.find(user) }

    /// The user with this number, as events and receipts name them; nil if there is none.
    public func find(_ user: UserNumber) throws -> UserInfo? { try reader.users.find(user) }

    /// Returns the number of users.
    public func userCount() throws -> UInt64 { try reader.users.count() }

    /// Calls `body` with the profile of every user who is not erased or merged into another, in the order of their
    /// creation, all of one moment.
    ///
    /// ```swift
    /// var silver: [UserID] = []
    /// try log.forEachUser { user, profile in
    ///     if profile["plan"] == "silver" { silver.append(user.id) }
    /// }
    /// ```
    ///
    /// To stop, throw. Pages of the store cannot be used again until it ends, so `body` should not wait.
    public func forEachUser(
        asOf moment: Moment = .now, _ body: (UserInfo, Profile) throws -> Void
    ) throws {
        try withReader { log in
            let past = try log.past.history(at: moment)
            _ = try log.users.forEachProfile(in: past, withUsage: false) { user, _, state, _ in
                try body(user, log.named(state))
            }
        }
    }

    // MARK: - Events

    /// The event at `position`; nil if the log does not reach so far.
    public func event(at position: Position) throws -> RecordedEvent? { try reader.event(at: position) }

    /// One user's events from version `from` to version `to`, both included, at most `limit` of them, in `direction`;
    /// none of an unknown user.
    public func history(
        of user: UserID, from: Version = Version(rawValue: 1), to: Version = Version(rawValue: .max),
        direction: Direction = .forward, limit: Int = .max, where filter: EventFilter = EventFilter()
    ) throws -> [RecordedEvent] {
        try read { moment in
            try moment.history(of: user, from: from, to: to, direction: direction, limit: limit, where: filter)
        }
    }

    /// Calls `body` with one user's events from version `from` to version `to`, both included, in `direction`, until it
    /// returns false.
    ///
    /// Decodes only what is asked of an event: the cheap way through a long history.
    public func forEachEvent(
        of user: UserID, from: Version = Version(rawValue: 1), to: Version = Version(rawValue: .max),
        direction: Direction = .forward, _ body: (borrowing EventView) throws -> Bool
    ) throws {
        try withReader { log in
            guard let number = try log.users.find(user)?.number else { return }
            try log.events.forEach(of: number, from: from, to: to, direction: direction, body)
        }
    }

    // MARK: - States

    /// The profile of a user as it was at `moment`, folded in `order`; an empty one of a user who was not there.
    ///
    /// In the order of occurrence, a time says when things happened, whenever they were recorded; a position or a
    /// version says what was recorded. Throws ``MomentError`` for what cannot be asked: see ``LogMoment``.
    ///
    /// ```swift
    /// let then = try log.profile(of: "ana", asOf: .time(monday))
    /// ```
    public func profile(of user: UserID, asOf moment: Moment = .now, order: EventOrder = .recorded) throws -> Profile {
        try read { try $0.profile(of: user, asOf: moment, order: order) }
    }

    /// The state of a projection for one user at `moment`: nearest snapshot, and a fold of what follows. The initial
    /// state of a user who was not there; ``MomentError`` for what cannot be asked (``LogMoment``).
    ///
    /// ```swift
    /// let minutes = try log.state(of: MinutesPlayed.self, for: "ana", asOf: .version(7))
    /// ```
    public func state<P: UserProjection>(of _: P.Type, for user: UserID, asOf moment: Moment = .now) throws -> P.State {
        try read { try $0.state(of: P.self, for: user, asOf: moment) }
    }

    /// The state of a projection over the whole store at `moment`: the stored state, and a fold of what follows.
    ///
    /// Its cost is that of the events after the stored state: if the log was opened with the projection, about as many
    /// as the caches may lag by. Before the stored state, and after an event that voids or unvoids one which that state
    /// has, the read folds the log from its first event; the next read of the present is cheap again.
    public func state<P: StoreProjection>(of _: P.Type, asOf moment: Moment = .now) throws -> P.State {
        // Outside of a view the state may be stored for the next reader.
        if moment == .now { return try reader.state(overStore: P.self).state }
        return try read { try $0.state(of: P.self, asOf: moment) }
    }

    /// The state of a projection for the device with this ID at `moment`; the initial state of an unknown device. Costs
    /// what that of a ``StoreProjection`` costs.
    public func state<P: DeviceProjection>(
        of _: P.Type, on device: String, asOf moment: Moment = .now
    ) throws -> P.State {
        if moment == .now { return try reader.state(P.self, onDevice: device) }
        return try read { try $0.state(of: P.self, on: device, asOf: moment) }
    }

    /// The value of a trait of a user at `moment`; nil, or 0 for a count or a sum, if nothing counted.
    ///
    /// Nothing of it is stored: it reads the user's events. So a trait that is new today has its value for every past
    /// moment too, with a window that ends there. ``MomentError`` for what cannot be asked (``LogMoment``).
    ///
    /// ```swift
    /// let genre = UserTrait.mostFrequent(.event("played song"), property: "genre", within: .seconds(86_400))
    /// let now = try log.value(of: genre, for: "ana")
    /// ```
    public func value(
        of trait: UserTrait, for user: UserID, asOf moment: Moment = .now
    ) throws -> AttributeValue? {
        try read { try $0.value(of: trait, for: user, asOf: moment) }
    }

    /// The rules by which the event after `moment` is folded, and the event that set them; position 0 if none did.
    public func rules(asOf moment: Moment = .now) throws -> (position: Position, rules: FoldRules) {
        try withReader { log in try log.rules(asOf: log.past.position(at: moment)) }
    }

    // MARK: - Sizes

    /// The numbers of the store, of one moment. Looks at every device and at everything that waits.
    public func statistics() throws -> LogStatistics { try reader.statistics() }
}
