/// Reads of an embedder: each call sees everything that was committed before it, and is of one moment.
extension EventLog {
    /// The direction in which a history is read.
    public enum Direction: Sendable { case forward, backward }

    // MARK: - Readers

    /// A reader that opens a view for each read: it follows the log.
    package var reader: LogReader { LogReader(store, states) }

    /// Lends a reader whose reads are all of one view, opened now: their results are of one moment.
    package func read<Result>(_ body: (LogReader) throws -> Result) throws -> Result {
        try store.withView { view in try body(LogReader(store, states, view)) }
    }

    // MARK: - Users

    /// The user with this ID, and how many events they have; nil if there is none.
    public func find(_ user: UserID) throws -> UserInfo? { try reader.users.find(user) }

    /// Returns the number of users.
    public func userCount() throws -> UInt64 { try reader.users.count() }

    /// Returns up to `limit` users with numbers above `after`, ascending.
    public func users(after: UserNumber = UserNumber(rawValue: 0), limit: Int) throws -> [UserInfo] {
        try reader.users.page(after: after, limit: limit)
    }

    // MARK: - Events

    /// The event at `position`; nil if the log does not reach so far.
    public func event(at position: Position) throws -> RecordedEvent? { try reader.event(at: position) }

    /// One user's events from version `from` to version `to`, both included, at most `limit` of them, in `direction`.
    public func history(
        of user: UserNumber, from: Version = Version(rawValue: 1), to: Version = Version(rawValue: .max),
        direction: Direction = .forward, limit: Int = .max, where filter: EventFilter = EventFilter()
    ) throws -> [RecordedEvent] {
        try reader.events.history(
            of: user, from: from, to: to, direction: direction, limit: limit, where: filter)
    }

    /// Calls `body` with one user's events from version `from` to version `to`, both included, in `direction`, until it
    /// returns false.
    ///
    /// Decodes only what is asked of an event: the cheap way through a long history.
    public func forEachEvent(
        of user: UserNumber, from: Version = Version(rawValue: 1), to: Version = Version(rawValue: .max),
        direction: Direction = .forward, _ body: (borrowing EventView) throws -> Bool
    ) throws {
        try reader.events.forEach(of: user, from: from, to: to, direction: direction, body)
    }

    /// Events from position `from` on, at most `limit` of them, in log order; with the last position that was looked
    /// at, and the last one of the log.
    ///
    /// - Parameter scanLimit: records to look at; with a filter, an answer may be short although more follows: go on
    ///   after `scanned`. With a limit of 0 or less nothing is looked at.
    public func events(
        from: Position, limit: Int, where filter: EventFilter = EventFilter(), scanLimit: Int = 100_000
    ) throws -> (events: [RecordedEvent], scanned: Position, last: Position) {
        try reader.events.page(from: from, limit: limit, where: filter, scanLimit: scanLimit)
    }

    // MARK: - States

    /// The state of a projection for one user, as of `version` (or now): nearest snapshot, and a fold of what follows.
    ///
    /// Sees everything that was acknowledged before the call.
    public func state<P: UserProjection>(
        _ projection: P.Type, of user: UserNumber, asOf version: Version = Version(rawValue: .max)
    ) throws -> P.State {
        try reader.state(P.self, of: user, asOf: version)
    }

    /// The user's profile, as of `version` (or now).
    public func profile(of user: UserNumber, asOf version: Version = Version(rawValue: .max)) throws -> ProfileState {
        try reader.profile(of: user, asOf: version)
    }

    /// The user's profile as it was at `moment`, folded in `order`.
    ///
    /// In the order of occurrence, a time says when things happened, whenever they were recorded; a position or a
    /// version says what was recorded. Throws ``MomentError``.
    ///
    /// ```swift
    /// let then = try log.profile(of: user.number, asOf: .time(monday))
    /// ```
    public func profile(
        of user: UserNumber, asOf moment: Moment, order: EventOrder = .recorded
    ) throws -> ProfileState {
        try reader.past.profile(of: user, asOf: moment, order: order)
    }

    /// The state of a projection over the whole store, and the position that it has reached: the stored state, and a
    /// fold of what follows. Sees everything that was acknowledged before the call.
    ///
    /// Its cost is that of the events after the stored state: if the log was opened with the projection, about as many
    /// as the caches may lag by (`LogOptions.indexLag`).
    ///
    /// After an event that voids or unvoids one which the stored state has, the first read folds the whole log.
    public func state<P: StoreProjection>(overStore _: P.Type) throws -> (state: P.State, position: Position) {
        try reader.state(overStore: P.self)
    }

    /// The state of a projection for the device with this ID: as ``state(overStore:)``, and one of the states there.
    public func state<P: DeviceProjection>(_: P.Type, onDevice device: String) throws -> P.State {
        try reader.state(P.self, onDevice: device)
    }

    /// `state`, which must be of this log, with its names.
    public func profileView(_ state: ProfileState) -> ProfileView { reader.profileView(state) }

    /// The rules by which the event after `position` (or the next one) is folded, and the event that set them; `.start`
    /// if none did.
    public func rules(
        asOf position: Position = Position(rawValue: .max)
    ) throws -> (position: Position, rules: FoldRules) {
        try reader.rules(asOf: position)
    }
}
