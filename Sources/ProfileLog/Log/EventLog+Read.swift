extension EventLog {
    /// Which way a history is read.
    public enum Direction: Sendable { case forward, backward }

    /// The user with this ID, and how many events they have; nil if there is none.
    public func find(_ user: UserID) throws -> UserInfo? {
        try withView { view, transaction in
            guard let number = try view.user(user, braze: braze, transaction) else { return nil }
            return try info(number, view, transaction)
        }
    }

    /// The user with this number; nil if there is none.
    package func find(_ user: UserNumber) throws -> UserInfo? {
        try withView { view, transaction in
            guard try view.version(of: user.rawValue, transaction) > 0 else { return nil }
            return try info(user.rawValue, view, transaction)
        }
    }

    /// The erased user to whom the store gave this `braze_id`, which leads to nobody any more; nil for all other IDs.
    package func findErased(_ user: UserID) throws -> UserInfo? {
        guard case .brazeID(let text) = user, let number = braze.user(text), number > 0,
            let info = try find(UserNumber(rawValue: number)), info.isErased
        else { return nil }
        return info
    }

    func info(
        _ user: UInt64, _ view: LogView, _ transaction: borrowing ReadTransaction
    ) throws -> UserInfo {
        let row = try view.identities(of: user, transaction)
        var isErased = row.isErased
        if row.mergedInto != nil {
            isErased = try view.identities(of: view.survivor(of: user, transaction), transaction).isErased
        }
        return UserInfo(
            number: UserNumber(rawValue: user), version: Version(rawValue: try view.version(of: user, transaction)),
            ids: row.identities, brazeID: braze.id(user), created: Position(rawValue: row.created), isErased: isErased)
    }

    /// How many users there are.
    public func userCount() throws -> UInt64 { try withView { view, transaction in try view.userCount(transaction) } }

    /// Up to `limit` users with numbers above `after`, ascending.
    public func users(after: UserNumber = .system, limit: Int) throws -> [UserInfo] {
        try withView { view, transaction in
            let count = try view.userCount(transaction)
            var users: [UserInfo] = []
            var number = after.rawValue
            while number < count, users.count < limit {
                number += 1
                users.append(try info(number, view, transaction))
            }
            return users
        }
    }

    /// One user's events from version `from` to version `to`, both included, at most `limit` of them, in `direction`.
    public func history(
        of user: UserNumber, from: Version = Version(rawValue: 1), to: Version = Version(rawValue: .max),
        direction: Direction = .forward, limit: Int = .max, where filter: EventFilter = EventFilter()
    ) throws -> [RecordedEvent] {
        try withView { view, transaction in
            let positions = try positions(of: user, from, to, direction, view, transaction)
            let names = names.current
            let takesAll = filter == EventFilter()
            var events: [RecordedEvent] = []
            events.reserveCapacity(takesAll ? min(positions.count, max(0, limit)) : 0)
            try transaction.withCursor(environment.tables.log) { cursor in
                for position in positions where events.count < limit {
                    let event = try Self.recorded(position, names, &cursor)
                    if takesAll || filter.matches(event) { events.append(event) }
                }
            }
            return events
        }
    }

    /// Lends one user's events from version `from` to version `to`, both included, in `direction`, for as long as `body` answers true.
    ///
    /// Nothing of an event is decoded but what is asked of it: the cheap way through a long history.
    public func forEachEvent(
        of user: UserNumber, from: Version = Version(rawValue: 1), to: Version = Version(rawValue: .max),
        direction: Direction = .forward, _ body: (borrowing EventView) throws -> Bool
    ) throws {
        try withView { view, transaction in
            let positions = try positions(of: user, from, to, direction, view, transaction)
            try transaction.withCursor(environment.tables.log) { cursor in
                for position in positions {
                    let header = try RecordHeader(cursor.find(position), at: position)
                    let event = EventView(header: header, position: Position(rawValue: position), names: names)
                    if try !body(event) { return }
                }
            }
        }
    }

    private func positions(
        of user: UserNumber, _ from: Version, _ to: Version, _ direction: Direction, _ view: LogView,
        _ transaction: borrowing ReadTransaction
    ) throws -> [UInt64] {
        let version = try view.version(of: user.rawValue, transaction)
        let positions = try view.positions(
            of: user.rawValue, from: from.rawValue, to: min(to.rawValue, version), transaction)
        return direction == .forward ? positions : positions.reversed()
    }

    /// Events from position `from` on, at most `limit` of them, in log order.
    ///
    /// - Parameter scanLimit: records to look at; with a filter, an answer may be short although more follows: go on behind `scanned`. With
    ///   a limit of 0 or less nothing is looked at.
    public func events(
        from: Position, limit: Int, where filter: EventFilter = EventFilter(), scanLimit: Int = 100_000
    ) throws -> EventPage {
        try withView { view, transaction in
            let names = names.current
            var events: [RecordedEvent] = []
            var scanned = from.rawValue == 0 ? 0 : from.rawValue - 1
            let count = limit > 0 && scanned < view.last ? min(UInt64(max(0, scanLimit)), view.last - scanned) : 0
            try transaction.withCursor(view.tables.log) { log in
                try Self.scan(view.tables, from: scanned + 1, to: scanned + count, transaction) { position, header in
                    scanned = position
                    if filter.mayMatch(header.kind) {
                        let event = try Self.recorded(position, names, &log)
                        if filter.matches(event) { events.append(event) }
                    }
                    return events.count < limit
                }
            }
            return EventPage(events: events, scanned: Position(rawValue: scanned), last: Position(rawValue: view.last))
        }
    }

    @inline(__always)
    private static func recorded(
        _ position: UInt64, _ names: NameMap, _ log: inout Cursor
    ) throws -> RecordedEvent {
        let header = try RecordHeader(log.find(position), at: position)
        guard let event = RecordedEvent(header, position: Position(rawValue: position), names: names) else {
            throw StorageError.damaged(place: "the record at position \(position) is unreadable")
        }
        return event
    }

    /// The state of a projection for one user, as of `version` (or now): nearest snapshot, and a fold of what follows.
    ///
    /// Sees everything that was acknowledged before the call. Refuses a projection that is not folded by user.
    public func state<P: Projection>(
        _ projection: P.Type, of user: UserNumber, asOf version: Version = Version(rawValue: .max)
    ) throws -> P.State {
        try P.check(scope: .user)
        return try withView { view, transaction in
            let now = try view.version(of: user.rawValue, transaction)
            return try state(P.self, user.rawValue, version: min(now, version.rawValue), view, transaction)
        }
    }

    /// The user's profile, as of `version` (or now).
    public func profile(of user: UserNumber, asOf version: Version = Version(rawValue: .max)) throws -> ProfileState {
        try state(ProfileProjection.self, of: user, asOf: version)
    }

    /// The user's version at `position` of the log: how many of their events have that position or a smaller one.
    package func version(of user: UserNumber, at position: Position) throws -> Version {
        try withView { view, transaction in
            let version = try view.version(of: user.rawValue, transaction)
            let positions = try view.positions(of: user.rawValue, from: 1, to: version, transaction)
            return Version(rawValue: UInt64(positions.prefix { $0 <= position.rawValue }.count))
        }
    }

    /// The last position that was recorded at or before `time`.
    package func position(at time: Timestamp) throws -> Position {
        try withView { view, transaction in
            var low: UInt64 = 0
            var high = view.last
            while low < high {
                let middle = low + (high - low + 1) / 2
                let recordedAt = try Self.header(at: middle, transaction, view.tables).recordedAt
                if recordedAt <= time.rawValue { low = middle } else { high = middle - 1 }
            }
            return Position(rawValue: low)
        }
    }

    /// What waits on `device` for a launch, in the order in which it was saved.
    package func pending(on device: String) throws -> [PendingSave] {
        try withView { view, transaction in
            let names = names.current
            let items = try view.items(Name(device), transaction).values.filter { $0.queued == nil }
            return try transaction.withCursor(view.tables.log) { log in
                try items.sorted { $0.position < $1.position }.compactMap { item in
                    guard let kind = item.kind else { return nil }
                    return PendingSave(
                        device: device, storage: item.storage.storage(names.name), kind: kind,
                        event: try Self.recorded(item.position, names, &log))
                }
            }
        }
    }

    /// What the SDK on `device` has taken and not sent, in the order in which it will.
    package func queue(on device: String) throws -> [RecordedEvent] {
        try withView { view, transaction in
            let names = names.current
            let queue = try view.deviceState(Name(device), transaction).queue
            return try transaction.withCursor(view.tables.log) { log in
                try queue.map { try Self.recorded($0.position, names, &log) }
            }
        }
    }

    /// The pending-flush state of `device`: `PendingProjection` as it is kept live.
    package func deviceState(_ device: String) throws -> DeviceState {
        try withView { view, transaction in try view.deviceState(Name(device), transaction) }
    }

    /// Every device that has an event, with who is on it.
    package func devices() throws -> [DeviceInfo] {
        try withView { view, transaction in
            try view.devices(transaction).map { device in
                DeviceInfo(device: device.text, try view.device(device, transaction))
            }
        }
    }
}
