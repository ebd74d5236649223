package import ProfileLog

/// Reads by the log's own numbers, for tests that make all users themselves.
extension EventLog {
    package func profile(of user: UserNumber, asOf version: Version = Version(rawValue: .max)) throws -> ProfileState {
        try reader.profile(of: user, asOf: version)
    }

    package func profile(
        of user: UserNumber, asOf moment: Moment, order: EventOrder = .recorded
    ) throws -> ProfileState {
        try reader.past.profile(of: user, asOf: moment, order: order)
    }

    /// The state with its names, without its version: states of two versions may say the same.
    package func named(_ state: ProfileState) -> Profile {
        var profile = reader.named(state)
        profile.version = .none
        return profile
    }

    package func state<P: UserProjection>(
        _: P.Type, of user: UserNumber, asOf version: Version = Version(rawValue: .max)
    ) throws -> P.State {
        try reader.state(P.self, of: user, asOf: version)
    }

    package func state<P: StoreProjection>(overStore _: P.Type) throws -> (state: P.State, position: Position) {
        try reader.state(overStore: P.self)
    }

    package func state<P: DeviceProjection>(_: P.Type, onDevice device: String) throws -> P.State {
        try reader.state(P.self, onDevice: device)
    }

    package func history(
        of user: UserNumber, from: Version = Version(rawValue: 1), to: Version = Version(rawValue: .max),
        direction: Direction = .forward, limit: Int = .max, where filter: EventFilter = EventFilter()
    ) throws -> [RecordedEvent] {
        try reader.events.history(of: user, from: from, to: to, direction: direction, limit: limit, where: filter)
    }

    package func forEachEvent(
        of user: UserNumber, from: Version = Version(rawValue: 1), to: Version = Version(rawValue: .max),
        direction: Direction = .forward, _ body: (borrowing EventView) throws -> Bool
    ) throws {
        try reader.events.forEach(of: user, from: from, to: to, direction: direction, body)
    }

    package func events(
        from: Position, limit: Int, where filter: EventFilter = EventFilter(), scanLimit: Int = 100_000
    ) throws -> (events: [RecordedEvent], scanned: Position, last: Position) {
        try reader.events.page(from: from, limit: limit, where: filter, scanLimit: scanLimit)
    }

    package func users(after: UserNumber = UserNumber(rawValue: 0), limit: Int) throws -> [UserInfo] {
        try reader.users.page(after: after, limit: limit)
    }

    package func blame(of user: UserNumber, field: String? = nil, withLog: Bool = false) throws -> [FieldBlame] {
        let blame = try reader.blameWithCounts(of: user, field: field, withLog: withLog)
        return blame.attributes
    }
}
