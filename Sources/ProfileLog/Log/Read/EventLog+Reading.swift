extension EventLog {
    // MARK: - All profiles

    /// Calls `body` with the profile of every user who is not erased or merged into another, in the order of their
    /// creation, all from one view. Returns the position of that view. In the past there are the users who were there,
    /// with the IDs of then.
    ///
    /// The read transaction stays open, so `body` should not wait. Erasures during it are not seen; a profile
    /// that they make unreadable is skipped.
    ///
    /// - Parameters:
    ///   - user: the number after which it begins.
    ///   - end: the number with which it ends.
    ///   - past: of which profiles are read; nil for the present. By occurrence there is no usage.
    ///   - withUsage: whether `body` gets the state of ``UsageProjection`` too.
    ///   - skipping: gets each user with damage, who is then skipped; nil to throw at the first. Also for damage that
    ///     `body` met.
    ///   - body: gets the user, the time at which they were created (by occurrence: of what they did first), and the
    ///     states.
    package func forEachProfile(
        after user: UserNumber = UserNumber(rawValue: 0), through end: UserNumber = UserNumber(rawValue: .max),
        in past: PastHistory? = nil, withUsage: Bool, skipping: ((UserNumber, StorageError) -> Void)? = nil,
        _ body: (UserInfo, Timestamp, ProfileState, UsageState?) throws -> Void
    ) throws -> Position {
        try withView { view in
            var number = user.rawValue
            let count = min(try view.userCount(), end.rawValue)
            let past = past.flatMap { $0.order == .occurred || $0.position.rawValue < view.last ? $0 : nil }
            var merges = PastMerges()
            while number < count {
                number += 1
                view.addresses?.noteUser(last: view.last)
                do {
                    let found =
                        try past.map { try pastUser(number, $0, view, &merges) }
                        ?? presentUser(number, view)
                    let user = found.info
                    // Users are numbered in the order of their creation.
                    if let past, user.version == .none {
                        if past.order == .recorded { break }
                        continue
                    }
                    guard !user.isErased, found.canonical == user.number else { continue }
                    let version = user.version.rawValue
                    if let past, past.order == .occurred {
                        guard let first = try view.events(of: number, in: past)?.first,
                            let state = try pastState(of: number, in: past, view)
                        else { continue }
                        try body(user, first, state, nil)
                        continue
                    }
                    let profile = try states.state(ProfileProjection.self, number, version: version, view)
                    let usage =
                        withUsage
                        ? try states.state(UsageProjection.self, number, version: version, view) : nil
                    let created = try view.header(at: user.created.rawValue).recordedAt
                    try body(user, Timestamp(rawValue: created), profile, usage)
                } catch let error as StorageError {
                    let user = UserNumber(rawValue: number)
                    if (try? find(user))?.isErased == true { continue }
                    guard case .damaged = error, let skipping else { throw error }
                    skipping(user, error)
                }
            }
            return Position(rawValue: view.last)
        }
    }

    // MARK: - Users and events

    /// The direction in which a history is read.
    public enum Direction: Sendable { case forward, backward }

    /// The user with this ID, and how many events they have; nil if there is none.
    public func find(_ user: UserID) throws -> UserInfo? {
        try withView { view in
            guard let number = try view.user(user, braze: braze) else { return nil }
            return try info(number, view)
        }
    }

    /// The user with this number; nil if there is none.
    package func find(_ user: UserNumber) throws -> UserInfo? {
        try withView { view in
            guard try view.version(of: user.rawValue) > 0 else { return nil }
            return try info(user.rawValue, view)
        }
    }

    /// The erased user with this `braze_id`, which resolves to no user now; nil for all other IDs.
    package func findErased(_ user: UserID) throws -> UserInfo? {
        guard case .brazeID(let text) = user, let number = braze.user(text), number > 0,
            let info = try find(UserNumber(rawValue: number)), info.isErased
        else { return nil }
        return info
    }

    func info(_ user: UInt64, _ view: LogView) throws -> UserInfo { try presentUser(user, view).info }

    private func presentUser(_ user: UInt64, _ view: LogView) throws -> PastUser {
        let row = try view.identities(of: user)
        var (canonical, isErased) = (user, row.isErased)
        if row.mergedInto != nil {
            canonical = try view.canonicalUser(of: user)
            isErased = try view.identities(of: canonical).isErased
        }
        let info = UserInfo(
            number: UserNumber(rawValue: user), version: Version(rawValue: try view.version(of: user)),
            ids: row.identities, brazeID: braze.id(user), created: Position(rawValue: row.created), isErased: isErased)
        return (info, UserNumber(rawValue: canonical))
    }

    /// Returns the number of users.
    public func userCount() throws -> UInt64 { try withView { view in try view.userCount() } }

    /// Up to `limit` users with numbers above `after`, ascending.
    public func users(after: UserNumber = UserNumber(rawValue: 0), limit: Int) throws -> [UserInfo] {
        try withView { view in
            let count = try view.userCount()
            var users: [UserInfo] = []
            var number = after.rawValue
            while number < count, users.count < limit {
                number += 1
                users.append(try info(number, view))
            }
            return users
        }
    }

    /// One user's events from version `from` to version `to`, both included, at most `limit` of them, in `direction`.
    public func history(
        of user: UserNumber, from: Version = Version(rawValue: 1), to: Version = Version(rawValue: .max),
        direction: Direction = .forward, limit: Int = .max, where filter: EventFilter = EventFilter()
    ) throws -> [RecordedEvent] {
        try history(of: user, from: from, to: to, direction: direction, limit: limit, where: filter, skipping: nil)
    }

    /// As the public one. `skipping` gets each damaged record, which is then skipped; nil to throw at the first.
    package func history(
        of user: UserNumber, from: Version, to: Version, direction: Direction, limit: Int, where filter: EventFilter,
        skipping: ((Position, StorageError) -> Void)?
    ) throws -> [RecordedEvent] {
        try withView { view in
            let positions = try positions(of: user, from, to, direction, view)
            let names = names.current
            let takesAll = filter == EventFilter()
            var events: [RecordedEvent] = []
            events.reserveCapacity(takesAll ? min(positions.count, max(0, limit)) : 0)
            try view.withCursor(environment.tables.log) { cursor in
                for (index, position) in positions.enumerated() where events.count < limit {
                    view.prefetch(positions, index)
                    do {
                        let header = try view.header(at: position, &cursor)
                        let event = try Self.recorded(header, position, names)
                        if takesAll || filter.matches(event) { events.append(event) }
                    } catch let error as StorageError {
                        guard case .damaged = error, let skipping else { throw error }
                        skipping(Position(rawValue: position), error)
                    }
                }
            }
            return events
        }
    }

    /// Calls `body` with one user's events from version `from` to version `to`, both included, in `direction`, until it
    /// returns false.
    ///
    /// Decodes only what is asked of an event: the cheap way through a long history.
    public func forEachEvent(
        of user: UserNumber, from: Version = Version(rawValue: 1), to: Version = Version(rawValue: .max),
        direction: Direction = .forward, _ body: (borrowing EventView) throws -> Bool
    ) throws {
        try withView { view in
            let positions = try positions(of: user, from, to, direction, view)
            try view.withCursor(environment.tables.log) { cursor in
                for (index, position) in positions.enumerated() {
                    view.prefetch(positions, index)
                    let header = try view.header(at: position, &cursor)
                    let event = EventView(header: header, position: Position(rawValue: position), names: names)
                    if try !body(event) { return }
                }
            }
        }
    }

    private func positions(
        of user: UserNumber, _ from: Version, _ to: Version, _ direction: Direction, _ view: LogView
    ) throws -> [UInt64] {
        let version = try view.version(of: user.rawValue)
        let positions = try view.positions(of: user.rawValue, from: from.rawValue, to: min(to.rawValue, version))
        return direction == .forward ? positions : positions.reversed()
    }

    /// Events from position `from` on, at most `limit` of them, in log order; with the last position that was looked
    /// at, and the last one of the log.
    ///
    /// - Parameter scanLimit: records to look at; with a filter, an answer may be short although more follows: go on
    ///   after `scanned`. With a limit of 0 or less nothing is looked at.
    public func events(
        from: Position, limit: Int, where filter: EventFilter = EventFilter(), scanLimit: Int = 100_000
    ) throws -> (events: [RecordedEvent], scanned: Position, last: Position) {
        try events(from: from, limit: limit, where: filter, scanLimit: scanLimit, skipping: nil)
    }

    /// As the public one. `skipping` gets each damaged record, which is then skipped; nil to throw at the first.
    package func events(
        from: Position, limit: Int, where filter: EventFilter, scanLimit: Int = 100_000,
        skipping: ((Position, StorageError) -> Void)?
    ) throws -> (events: [RecordedEvent], scanned: Position, last: Position) {
        var keys: AppendKeys?
        return try events(
            from: from, limit: limit, where: filter, scanLimit: scanLimit, keys: &keys, skipping: skipping)
    }

    /// As the public one, with its idempotency key on every event of an append. `keys` are those before `from`, and
    /// then those before what follows.
    package func events(
        from: Position, limit: Int, where filter: EventFilter, scanLimit: Int = 100_000, keys: inout AppendKeys?,
        skipping: ((Position, StorageError) -> Void)? = nil
    ) throws -> (events: [RecordedEvent], scanned: Position, last: Position) {
        var follow = keys
        defer { keys = follow }
        return try withView { view in
            let names = names.current
            var events: [RecordedEvent] = []
            var scanned = from.rawValue == 0 ? 0 : from.rawValue - 1
            let count = limit > 0 && scanned < view.last ? min(UInt64(max(0, scanLimit)), view.last - scanned) : 0
            let skip = skipping.map { skipping in
                { (position: UInt64, error: StorageError) in
                    scanned = position
                    skipping(Position(rawValue: position), error)
                }
            }
            try view.withCursor(view.tables.log) { log in
                try view.scan(from: scanned + 1, to: scanned + count, skipping: skip) { position, header in
                    follow?.follow(header, at: position)
                    if filter.mayMatch(header.kind) {
                        var event = try Self.recorded(position, names, &log)
                        if let key = follow?.key(at: position) { event.idempotencyKey = key }
                        if filter.matches(event) { events.append(event) }
                    }
                    scanned = position
                    return events.count < limit
                }
            }
            return (events, scanned: Position(rawValue: scanned), last: Position(rawValue: view.last))
        }
    }

    /// The key of the append to which an event at `position` may belong, for a scan from there on.
    package func appendKeys(before position: Position) throws -> AppendKeys {
        try withView { view in try AppendKeys(before: position.rawValue, in: view) }
    }

    @inline(__always)
    private static func recorded(_ position: UInt64, _ names: NameMap, _ log: inout Cursor) throws -> RecordedEvent {
        try recorded(RecordHeader(log.find(position), at: position), position, names)
    }

    @inline(__always)
    static func recorded(
        _ header: RecordHeader, _ position: UInt64, _ names: NameMap
    ) throws -> RecordedEvent {
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
        return try withView { view in
            let now = try view.version(of: user.rawValue)
            return try states.state(P.self, user.rawValue, version: min(now, version.rawValue), view)
        }
    }

    /// The user's profile, as of `version` (or now).
    public func profile(of user: UserNumber, asOf version: Version = Version(rawValue: .max)) throws -> ProfileState {
        // By way of a variable: as a result, each generic function on the way would move this large state.
        var state = ProfileProjection.initial
        try withView { view in
            let now = try view.version(of: user.rawValue)
            state = try states.state(ProfileProjection.self, user.rawValue, version: min(now, version.rawValue), view)
        }
        return state
    }

    /// The user's version at `position` of the log: how many of their events have that position or a smaller one.
    package func version(of user: UserNumber, at position: Position) throws -> Version {
        try withView { view in Version(rawValue: try view.version(of: user.rawValue, upTo: position.rawValue)) }
    }

    /// Returns items that wait on `device` for a launch, in the order in which they were saved.
    package func pending(on device: String) throws -> [RecordedEvent] { try pending(in: deviceState(device)) }

    /// Returns items that waited on a device for a launch when it was in `state`.
    package func pending(in state: DeviceState) throws -> [RecordedEvent] {
        try events(state.items.values.filter { $0.queued == nil }.sorted { $0.position < $1.position })
    }

    /// The SDK's queue on `device`, in the order in which it sends it.
    package func queue(on device: String) throws -> [RecordedEvent] {
        try queue(in: deviceState(device))
    }

    /// The SDK's queue on a device that was in `state`.
    package func queue(in state: DeviceState) throws -> [RecordedEvent] { try events(state.queue) }

    private func events(_ items: [PendingItem]) throws -> [RecordedEvent] {
        try withView { view in
            let names = names.current
            return try view.withCursor(view.tables.log) { log in
                try items.map { try Self.recorded($0.position, names, &log) }
            }
        }
    }

    /// The pending-flush state of `device`: `PendingProjection` as it is kept live.
    package func deviceState(_ device: String) throws -> DeviceState {
        try withView { view in try view.deviceState(Name(device)) }
    }

    /// Every device that has an event.
    package func devices() throws -> [Name] { try withView { try $0.devices() } }

    // MARK: - Sizes and devices

    /// Returns the size of the store, as one consistent view. Reads a row or two, whatever there is.
    package func extent() throws -> LogExtent { try withView { try extent($0) } }

    private func extent(_ view: LogView) throws -> LogExtent {
        LogExtent(
            lastPosition: Position(rawValue: view.last), users: try view.userCount(),
            usedBytes: environment.usedBytes, indexed: Position(rawValue: view.checkpoint))
    }

    /// Returns the store's numbers, as one consistent view. Looks at every device and at everything that waits.
    package func statistics() throws -> LogStatistics {
        try withView { view in
            let devices = try view.devices()
            var pending: [PendingKind: Int] = [:]
            var devicesWithPending = 0
            var queued = 0
            for device in devices {
                let items = try view.items(device).values
                if !items.isEmpty { devicesWithPending += 1 }
                for item in items {
                    if item.queued != nil {
                        queued += 1
                    } else if let kind = item.kind {
                        pending[kind, default: 0] += 1
                    }
                }
            }
            return LogStatistics(
                extent: try extent(view), devices: devices.count,
                devicesWithPending: devicesWithPending, pending: pending, queued: queued,
                tables: try Table.Name.allCases.map { name in
                    .init(name: name.rawValue, rows: try view.count(view.tables[name]))
                })
        }
    }

    /// Returns the number of items that wait on `device` for a launch, without reading them.
    package func pendingCount(on device: String) throws -> Int {
        try withView { view in
            try view.items(Name(device)).values.count { $0.queued == nil }
        }
    }

    /// The device with this ID; nil if it has no event.
    package func device(_ device: String) throws -> DeviceState? {
        let state = try deviceState(device)
        return state.status == DeviceStatus() ? nil : state
    }

    /// The event at `position`; nil if the log does not reach so far.
    public func event(at position: Position) throws -> RecordedEvent? {
        guard position > .start else { return nil }
        return try events(from: position, limit: 1, scanLimit: 1).events.first
    }

    // MARK: - What became of saved items

    /// Returns the outcome of the item at `position`; nil if no item is there. Reads its user's history after it.
    package func outcome(of position: Position) throws -> ItemOutcome? {
        guard let item = try event(at: position), item.event.kind.isSaved || item.event.kind.isQueued else {
            return nil
        }
        if let device = item.context.device, let waiting = try deviceState(device).items[position.rawValue] {
            return waiting.queued == nil ? .pending : .queued
        }
        // Outcomes from before a merge are in the user's own stream, later ones in that of the canonical user.
        var owner = item.user
        while true {
            var outcome: ItemOutcome?
            try forEachEvent(of: owner, direction: .backward) { event in
                if event.position < position { return false }
                outcome = event.outcome(of: position)
                return outcome == nil
            }
            if let outcome { return outcome }
            let target = try withView { try $0.mergedInto(owner.rawValue) }
            guard let target, target != owner.rawValue else { return nil }
            owner = UserNumber(rawValue: target)
        }
    }

    /// The user that this one was merged into, through all merges; the user itself if there was none.
    package func canonicalUser(of user: UserNumber) throws -> UserNumber {
        try withView { view in
            UserNumber(rawValue: try view.canonicalUser(of: user.rawValue))
        }
    }

    /// All items that the SDK refused, in this order. Looks at the kind of every event of the log.
    ///
    /// - Parameter isOpen: skips those that were repaired.
    package func rejected(of user: UserNumber? = nil, isOpen: Bool = true) throws -> [RejectedItem] {
        let kinds: Set<EventKind> = [
            .pendingFlushed, .customEventSaved, .customAttributesSaved, .userAttributeSaved,
        ]
        var refusals: [(item: Position, flush: Position, reason: String)] = []
        var repairs: [Position: Position] = [:]
        try forEachEvent(of: kinds) { event in
            if let replaced = event.context.replaces { repairs[replaced] = event.position }
            guard case .pendingFlushed(let flush) = event.event else { return }
            refusals += flush.rejected.map { ($0.position, event.position, $0.reason) }
        }
        let wanted = try user.map { try canonicalUser(of: $0) }
        return try refusals.compactMap { refusal in
            let repair = repairs[refusal.item]
            if isOpen, repair != nil { return nil }
            guard let item = try event(at: refusal.item) else { return nil }
            if let wanted, try canonicalUser(of: item.user) != wanted { return nil }
            return RejectedItem(item: item, flush: refusal.flush, reason: refusal.reason, repairedBy: repair)
        }
    }

    /// Saves a rejected item again, as it is or corrected. It waits for the next launch of its device, with the time of
    /// the first save.
    ///
    /// The same repair, sent again, changes nothing.
    package func retry(
        _ position: Position, with correction: ProfileEvent? = nil, source: EventSource = .cli
    ) throws -> AppendReceipt {
        guard let item = try event(at: position), item.event.kind.isSaved else {
            throw AppendError.invalid(place: "Position \(position.rawValue)", reason: "is no saved item")
        }
        guard case .rejected = try outcome(of: position) else {
            throw AppendError.invalid(place: "The item at position \(position.rawValue)", reason: "is not rejected")
        }
        if let correction, correction.kind != item.event.kind {
            throw AppendError.invalid(
                place: "The correction", reason: "must be of the same kind as the item, \(item.event.kind.name)")
        }
        // The `braze_id` resolves to the same user after a merge, so that a repeated repair is the same append.
        guard let owner = try find(item.user) else { throw StorageError.damaged(place: "user \(item.user.rawValue)") }
        var context = item.context
        context.replaces = position
        if context.occurredAt == nil { context.occurredAt = item.occurredAt }
        // A correction must be valid; an item that is retried as it was may be invalid again.
        if correction != nil { context.source = source }
        return try append(
            [correction ?? item.event], to: .brazeID(owner.brazeID), context: context,
            idempotencyKey: "retry \(position.rawValue)")
    }

    // MARK: - Users by address

    /// The users who have this e-mail address or phone number now, as an attribute or, without one, as the ID that
    /// created them.
    ///
    /// An update by the address goes to the first (spec/rest-api 1.3): users with an external ID come before others,
    /// then the last updated. Capital letters, and blanks in a number, make no difference. Other kinds of IDs have one
    /// user. Costs a profile for each user who ever had the address, and if several have it now, what the system gave
    /// each since their last update.
    package func users(sharing contact: UserID) throws -> [UserInfo] {
        try holders(of: contact)?.users ?? []
    }

    /// As ``users(sharing:)``, with the numbers of all users who were ever given the address. If they are more than
    /// `most`, nil, and none is looked at.
    package func holders(
        of contact: UserID, atMost most: Int = .max
    ) throws -> (users: [UserInfo], everGiven: Set<UInt64>)? {
        guard let prefix = ContactKey.prefix(contact) else {
            return (users: try find(contact).map { [$0] } ?? [], everGiven: [])
        }
        return try withView { view in
            let holders = try view.users(contact: prefix, beyond: most)
            guard holders.count <= most else { return nil }
            var users: Set<UInt64> = []
            for user in holders { users.insert(try view.canonicalUser(of: user)) }
            var identified: [UserInfo] = []
            var others: [UserInfo] = []
            for user in users {
                let info = try info(user, view)
                guard try has(contact, info, view) else { continue }
                if info.ids.contains(where: \.isExternalID) { identified.append(info) } else { others.append(info) }
            }
            return (users: try byLastUpdate(identified, view) + byLastUpdate(others, view), everGiven: Set(holders))
        }
    }

    /// The last updated comes first.
    private func byLastUpdate(_ users: [UserInfo], _ view: LogView) throws -> [UserInfo] {
        if users.count < 2 { return users }
        var updated: [(user: UserInfo, last: UInt64)] = []
        for user in users {
            updated.append((user, try view.lastUpdate(of: user.number.rawValue, user.version.rawValue)))
        }
        return updated.sorted { $0.last > $1.last }.map(\.user)
    }

    /// The position of the user's latest update. Skipped parts of a request and attributes given by the system are
    /// none.
    package func lastUpdate(of user: UserInfo) throws -> Position {
        try withView { view in
            let position = try view.lastUpdate(of: user.number.rawValue, user.version.rawValue)
            return Position(rawValue: position)
        }
    }

    private func has(_ contact: UserID, _ user: UserInfo, _ view: LogView) throws -> Bool {
        let state = try states.state(ProfileProjection.self, user.number.rawValue, version: user.version.rawValue, view)
        let attribute: StandardAttribute = if case .email = contact { .email } else { .phone }
        if case .string(let text)? = state.value(attribute) { return ContactKey.isSame(contact, text) }
        return user.ids.contains { $0.kindNumber == contact.kindNumber && ContactKey.isSame(contact, $0.parts[0]) }
    }

    // MARK: - What requests said in vain

    /// All skipped parts of requests, in the order of their positions. Looks at the kind of every event of the log.
    package func leftOut(of user: UserNumber? = nil) throws -> [LeftOutObject] {
        let wanted = try user.map { try canonicalUser(of: $0) }
        var found: [LeftOutObject] = []
        try forEachEvent(of: [.objectsLeftOut]) { event in
            guard case .objectsLeftOut(let items) = event.event else { return }
            if let wanted, try canonicalUser(of: event.user) != wanted { return }
            found += items.map {
                LeftOutObject(position: event.position, user: event.user, recordedAt: event.recordedAt, what: $0)
            }
        }
        return found
    }

    /// Calls `body` with the events of these kinds in the order of the log, page by page.
    private func forEachEvent(of kinds: Set<EventKind>, _ body: (RecordedEvent) throws -> Void) throws {
        var next = Position.start.next
        while true {
            let page = try events(from: next, limit: 10_000, where: EventFilter(kinds: kinds))
            for event in page.events { try body(event) }
            if page.scanned >= page.last { return }
            next = page.scanned.next
        }
    }

    // MARK: - Idempotency keys

    /// The append that was stored under `key`, whatever its content; nil if there is none.
    ///
    /// For callers who compare requests by other means: the same bytes may make other events now. The receipt of an
    /// append whose first event was erased says so, and has no note.
    package func append(underKey key: String) throws -> AppendReceipt? {
        let key = Array(key.utf8)
        let hash = KeyCoding.hash(key)
        return try withView { view in
            guard let (field, positions) = try view.append(keyHash: hash, before: view.last + 1, view.header),
                field.isUnder(key, hash: hash)
            else { return nil }
            return try AppendReceipt(repeating: field, at: positions, view.header)
        }
    }

    // MARK: - States

    /// The state of a projection over the whole store, and the position that it has reached: the stored state, and a
    /// fold of what follows. Sees everything that was acknowledged before the call.
    ///
    /// Its cost is that of the events after the stored state: if the log was opened with the projection, about as many
    /// as the caches may lag by (`LogOptions.indexLag`).
    public func state<P: Projection>(overStore _: P.Type) throws -> (state: P.State, position: Position) {
        try states.state(overStore: P.self)
    }

    /// Whether a user was erased after `position`.
    package func hasErasure(after position: Position) throws -> Bool {
        var hasErasure = false
        try withView { view in
            try view.scan(from: position.rawValue + 1, to: view.last) { _, header in
                hasErasure = header.kind == .userErased
                return !hasErasure
            }
        }
        return hasErasure
    }
}

/// The size of a store: the part of its statistics that is cheap.
package struct LogExtent: Hashable, Sendable {
    /// The last event's position, which is the number of events.
    package var lastPosition: Position
    /// Returns the number of users.
    package var users: UInt64
    /// Bytes of the store's file that hold something.
    package var usedBytes: UInt64
    /// Returns the position up to which the caches reach.
    package var indexed: Position
}

/// The numbers of a store.
package struct LogStatistics: Hashable, Sendable {
    /// The size.
    package var extent: LogExtent
    /// The number of devices with an event.
    package var devices: Int
    /// The number of devices where something waits.
    package var devicesWithPending: Int
    /// Items that wait for launches on all devices, by list.
    package var pending: [PendingKind: Int]
    /// Items that SDKs have taken and not sent, on all devices.
    package var queued: Int
    /// Rows by table, in the order of docs/decisions/0001.
    package var tables: [Table]

    /// One table's size.
    package struct Table: Hashable, Sendable {
        /// The table's name.
        package var name: String
        /// The number of its rows.
        package var rows: Int
    }
}

/// The outcome of a saved item, or of a logged one that the SDK had to queue.
package enum ItemOutcome: Hashable, Sendable {
    /// The item waits for a launch.
    case pending
    /// The SDK has taken it and not sent it.
    case queued
    /// The item took effect with the `pendingFlushed` or `dataSent` event at this position.
    case flushed(Position)
    /// The SDK refused it, at this position.
    case rejected(Position, reason: String)
    /// The item was given up, at this position.
    case discarded(Position, actor: String, reason: String)
}

/// An item that the SDK refused.
package struct RejectedItem: Hashable, Sendable {
    /// The item as it was saved.
    package var item: RecordedEvent
    /// Position of the `pendingFlushed` event that refused it.
    package var flush: Position
    /// Why.
    package var reason: String
    /// The item that replaces it, if it was repaired.
    package var repairedBy: Position?
}

extension EventView {
    /// Returns this event's decision about the item at `position`; nil if nothing.
    fileprivate func outcome(of item: Position) -> ItemOutcome? {
        guard case .outcome(let outcome) = kind?.role, let body = RecordBody(header.body) else { return nil }
        switch outcome {
        case .flushed, .sent:
            if let refusal = body.rejected.first(where: { $0.position == item }) {
                return .rejected(position, reason: refusal.reason)
            }
            return !body.isQueued && body.flushed.contains(item) ? .flushed(position) : nil
        case .discarded:
            guard body.discarded.contains(item) else { return nil }
            return .discarded(position, actor: body.actor, reason: body.reason)
        }
    }
}

extension LogView {
    /// The position of the latest of the user's events up to `version` that updates them; 0 if there is none.
    func lastUpdate(of user: UInt64, _ version: UInt64) throws -> UInt64 {
        var update: UInt64 = 0
        // A user set by address alone may have thousands of events after their last update.
        try forEachPosition(of: user, after: 0, upTo: version) { position in
            let header = try get(tables.log, position).flatMap { RecordHeader($0) }
            if header?.isUpdate ?? true { update = position }
            return update == 0
        }
        return update
    }

    /// Users who were ever given the address with this key in table `contacts`: all of them, or more than `most`.
    func users(contact prefix: [UInt8], beyond most: Int) throws -> [UInt64] {
        try refuseDamage()
        var users = withTail { $0.contacts.users(prefix, visibleTo: last, beyond: most) }
        if checkpoint == 0 { return users }
        // If not refused, a hidden user would lose the address to a second one.
        let isRow = { (row: Cursor.Row) in row.value.isEmpty && ContactKey.isKey(row.key) }
        try prefix.withUnsafeBytes { try refuseBrokenPage(.contacts, around: $0, rows: isRow) }
        try forEachRow(of: tables.contacts.table, from: prefix) { row in
            guard users.count <= most else { return false }
            guard isRow(row) else { throw StorageError.damaged(place: "a row of table contacts") }
            guard row.key.starts(with: prefix) else { return false }
            users.append(row.key.bigEndian64(at: prefix.count))
            return true
        }
        return users
    }
}

/// A part of a request that was skipped.
package struct LeftOutObject: Hashable, Sendable {
    /// Position of the `objectsLeftOut` event that tells of it.
    package var position: Position
    /// Its user; the system if there was none.
    package var user: UserNumber
    /// The time at which the request came.
    package var recordedAt: Timestamp
    /// The part of the request, and the reason.
    package var what: LeftOut
}

/// A hash for comparing contents.
package enum ContentHash {
    /// The first 16 bytes of the SHA-256 of `bytes`.
    package static func of(_ bytes: [UInt8]) -> [UInt8] { KeyCoding.hash(bytes) }
}
