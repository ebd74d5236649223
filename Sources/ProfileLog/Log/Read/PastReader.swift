/// Reads the log as of earlier moments.
package struct PastReader: ReaderPart {
    let log: LogReader

    // MARK: - Moments

    /// The profile of a user at `moment`, folded in `order`. Throws ``MomentError``.
    package func profile(
        of user: UserNumber, asOf moment: Moment, order: EventOrder = .recorded
    ) throws -> ProfileState {
        try withView { view in
            let past = try history(of: user.rawValue, at: moment, order: order, view)
            guard let state = try state(of: user.rawValue, in: past, view) else {
                throw MomentError.beforeUser(
                    created: Position(rawValue: try view.positions(of: user.rawValue, from: 1, to: 1)[0]))
            }
            return state
        }
    }

    /// The last position of the log at `moment`. Throws ``MomentError``.
    package func position(at moment: Moment) throws -> Position {
        try withView { view in
            try refuseFuture(moment, view)
            return Position(rawValue: try view.position(at: moment))
        }
    }

    /// The last position that was recorded at or before `time`, which may be in the future.
    package func lastPosition(recordedBy time: Timestamp) throws -> Position {
        try withView { view in Position(rawValue: try view.position(at: .time(time))) }
    }

    /// Refuses a time after now. Events may have been recorded while the clock was ahead: their times are no future.
    func refuseFuture(_ moment: Moment, _ view: LogView) throws {
        guard case .time(let time) = moment else { return }
        let now = options.now()
        if time <= now { return }
        let last = view.last > 0 ? Timestamp(rawValue: try view.header(at: view.last).recordedAt) : now
        if time > last { throw MomentError.beyondNow(max(now, last)) }
    }

    // MARK: - Launches

    /// A launch of a user, and what it did for them.
    package struct LaunchRead: Sendable {
        /// The number of the launch among those of the user, from 1.
        package var number: Int
        /// The number of their launches.
        package var count: Int
        /// The `appLaunched` event.
        package var launch: RecordedEvent
        /// The flushes of the user's items by this launch.
        package var flushes: [RecordedEvent]

        /// The user's version right before it.
        package var before: Version { Version(rawValue: launch.version.rawValue - 1) }
        /// The user's version after its last flush.
        package var after: Version { flushes.last?.version ?? launch.version }
    }

    /// The launch `number` of the user, counted from 1; a negative one is counted from the last. Throws
    /// ``MomentError``.
    package func launch(_ number: Int, of user: UserNumber) throws -> LaunchRead {
        let events = try log.events.history(
            of: user, where: EventFilter(kinds: [.appLaunched, .pendingFlushed]))
        let launches = events.filter { $0.event.kind == .appLaunched }
        let index = number > 0 ? number - 1 : launches.count + number
        guard number != 0, launches.indices.contains(index) else {
            throw MomentError.beyondLaunches(count: launches.count)
        }
        let launch = launches[index]
        let flushes = events.filter {
            if case .pendingFlushed(let flush) = $0.event { flush.launch == launch.position } else { false }
        }
        return LaunchRead(number: index + 1, count: launches.count, launch: launch, flushes: flushes)
    }

    // MARK: - Who had an ID

    /// The user who had `id` at `position`, with the IDs that they had then; nil if no user had it, or they were erased
    /// since.
    ///
    /// External IDs, aliases and `braze_id`s have a past; for addresses and devices it is nil. Costs the events of the
    /// user who has the ID now, and if they did not have it then, those of the log up to `position`.
    package func user(with id: UserID, asOf position: Position) throws -> UserInfo? {
        try withView { view in
            guard let number = try view.user(id, upTo: position.rawValue, braze: braze) else { return nil }
            var user = try info(number, view)
            if user.isErased { return nil }
            let version = try view.version(of: number, upTo: position.rawValue)
            if version > 0, position.rawValue < view.last {
                user.ids = try view.identities(of: number, version: version)
            }
            return user
        }
    }

    /// The user with this number, as they were at `position`; nil if they came later. An erased user is erased in the
    /// past too.
    package func user(_ number: UserNumber, asOf position: Position) throws -> UserInfo? {
        var merges = PastMerges()
        return try user(number, in: PastHistory(to: position), &merges)
    }

    /// As ``user(_:asOf:)``, in `past`. Reads of several users share `merges`.
    package func user(
        _ number: UserNumber, in past: PastHistory, _ merges: inout PastMerges
    ) throws -> UserInfo? {
        try withView { view in
            let isKnown = number.rawValue <= (try view.userCount())
            guard isKnown else { return nil }
            let info = try user(number.rawValue, past, view, &merges).info
            return info.version.rawValue == 0 ? nil : info
        }
    }

    /// The user who had `id` in `past`, with the IDs that they had then; nil as for ``user(with:asOf:)``. By
    /// occurrence, an ID belongs to the user who has it today, or had it until a merge.
    package func user(with id: UserID, in past: PastHistory) throws -> UserInfo? {
        if past.order == .recorded { return try user(with: id, asOf: past.position) }
        return try withView { view in
            var number: UInt64?
            switch id {
            case .assignedID: number = try view.user(id, upTo: 0, braze: braze)
            case .externalID, .alias:
                number = try view.user(id, braze: braze)
                if number == nil, let merge = try merge(releasing: id) {
                    number = try view.user(id, upTo: merge.position.rawValue - 1, braze: braze)
                }
            case .email, .phone, .device: return nil
            }
            guard let number else { return nil }
            var merges = PastMerges()
            let user = try user(view.canonicalUser(of: number, in: past, &merges), past, view, &merges).info
            return user.isErased || user.version == .none ? nil : user
        }
    }

    /// The merge that took `id`, an external ID or an alias, from its user, and who that user is now. Nil if no user
    /// lost it so, if they were erased since, or if the merge is not among the newest million events.
    package func merge(releasing id: UserID) throws -> (position: Position, user: UserInfo)? {
        try withView { view in
            let first = view.last - min(view.last, 1_000_000) + 1
            guard let change = try view.lastChange(of: id, from: first, to: view.last, skipsDamage: true),
                change.owner == nil, let target = change.mergedInto
            else { return nil }
            let user = try info(view.canonicalUser(of: target), view)
            return user.isErased ? nil : (Position(rawValue: change.position), user)
        }
    }

    // MARK: - All users

    /// Up to `limit` users with numbers above `after` who were there in `past`, the last number that was looked at,
    /// and that of the last user who was recorded by then: without an end of occurrence, how many there were.
    ///
    /// A user has the IDs and the number of events that they had then. Erased users are erased in the past too. Costs
    /// the events of each. Looks at `mostScanned` users: a page may be short although more follow.
    package func users(
        after: UserNumber, limit: Int, in past: PastHistory, mostScanned: UInt64 = .max
    ) throws -> (users: [PastUser], scanned: UInt64, total: UInt64) {
        try withView { view in
            let total = try view.userCount(upTo: past.position.rawValue)
            var users: [PastUser] = []
            var number = after.rawValue
            var merges = PastMerges()
            while number < total, users.count < limit, number - after.rawValue < mostScanned {
                number += 1
                let user = try user(number, past, view, &merges)
                if user.info.version > .none { users.append(user) }
            }
            return (users, max(number, after.rawValue), total)
        }
    }

    /// Returns the number of users recorded by the end of `past`.
    package func userCount(in past: PastHistory) throws -> UInt64 {
        try withView { try $0.userCount(upTo: past.position.rawValue) }
    }

    /// A user as of a past moment, and who they were merged into by then; the user itself if they were not.
    package typealias PastUser = (info: UserInfo, canonical: UserNumber)

    /// The user in `past`, at version 0 if they were not there.
    ///
    /// By occurrence they have the IDs that the log knows today, but for those of merges that came later.
    func user(
        _ number: UInt64, _ past: PastHistory, _ view: LogView, _ merges: inout PastMerges
    ) throws -> PastUser {
        var info = try info(number, view)
        let recorded = try view.version(of: number, upTo: past.position.rawValue)
        info.version = Version(
            rawValue: past.until == nil ? recorded : try view.events(of: number, in: past)?.count ?? 0)
        let canonical = try view.canonicalUser(of: number, in: past, &merges)
        if !info.isErased {
            info.ids = canonical == number ? try view.identities(of: number, version: recorded, in: past) : []
        }
        return (info, UserNumber(rawValue: canonical))
    }

    /// The user's version at `position` of the log: how many of their events have that position or a smaller one.
    package func version(of user: UserNumber, at position: Position) throws -> Version {
        try withView { view in Version(rawValue: try view.version(of: user.rawValue, upTo: position.rawValue)) }
    }

    /// The user's version at `moment`: the number of their events by then, at least 1. Throws ``MomentError``.
    package func version(of user: UserNumber, asOf moment: Moment) throws -> Version {
        try withView { view in
            try refuseFuture(moment, view)
            return Version(rawValue: try view.version(of: user.rawValue, at: moment))
        }
    }

    package func canonicalUser(of user: UserNumber, in past: PastHistory) throws -> UserNumber {
        var merges = PastMerges()
        return try canonicalUser(of: user, in: past, &merges)
    }

    /// As the other one, for many users.
    package func canonicalUser(
        of user: UserNumber, in past: PastHistory, _ merges: inout PastMerges
    ) throws -> UserNumber {
        try withView { UserNumber(rawValue: try $0.canonicalUser(of: user.rawValue, in: past, &merges)) }
    }

    /// The void events at `position`, by all records that are readable. Scans the log up to there.
    package func voided(asOf position: Position) throws -> VoidedEvents {
        try withView { try $0.voidedEvents(upTo: position.rawValue, skipsDamage: true) }
    }

    /// Returns the time at `moment`, whose last event is at `position`: what windows and spans of conditions count
    /// from.
    package func time(at moment: Moment, _ position: Position) throws -> Timestamp {
        switch moment {
        case .now: options.now()
        case .time(let time): time
        case .position, .version: try log.event(at: position)?.recordedAt ?? options.now()
        }
    }

    // MARK: - Changed users

    /// Calls `body` with each user with a number above `after` who has an event in one of `from` and `to` that is not
    /// in the other, ascending, until it returns false: with the profile in both, nil where the user was not there.
    ///
    /// Skips those who are erased or merged today.
    package func forEachChangedUser(
        after: UserNumber, from: PastHistory, to: PastHistory, skipping: ((UserNumber, StorageError) -> Void)? = nil,
        _ body: (UserInfo, ProfileState?, ProfileState) throws -> Bool
    ) throws {
        try withView { view in
            var number = after.rawValue
            let count = try view.userCount()
            while number < count {
                number += 1
                do {
                    guard let change = try change(of: number, from: from, to: to, view) else { continue }
                    if try !body(change.user, change.before, change.after) { return }
                } catch let error as StorageError {
                    guard case .damaged = error, let skipping else { throw error }
                    skipping(UserNumber(rawValue: number), error)
                }
            }
        }
    }

    /// A user with both profiles; nil if none of their events is in `to` alone, and for those who were erased or merged
    /// into another.
    private func change(
        of number: UInt64, from: PastHistory, to: PastHistory, _ view: LogView
    ) throws -> (user: UserInfo, before: ProfileState?, after: ProfileState)? {
        let version = try view.version(of: number, upTo: to.position.rawValue)
        // In the order of recording, one look at the newest event tells it.
        let isRecorded = from.order == .recorded && to.order == .recorded
        let differs = try view.positions(of: number, from: isRecorded ? version : 1, to: version).contains { position in
            try view.has(position, in: to) && !view.has(position, in: from)
        }
        guard differs else { return nil }
        let user = try info(number, view)
        guard !user.isErased, try view.mergedInto(number) == nil else { return nil }
        guard let after = try state(of: number, in: to, view) else { return nil }
        return (user, try state(of: number, in: from, view), after)
    }

    /// The profile of a user in `past`; nil if they were not there.
    func state(of number: UInt64, in past: PastHistory, _ view: LogView) throws -> ProfileState? {
        let version = try view.version(of: number, upTo: past.position.rawValue)
        if version == 0 { return nil }
        guard let until = past.until else {
            return try states.state(ProfileProjection.self, number, version: version, view)
        }
        do {
            let fold = OccurredFold(view: view, names: names, until: until)
            return try fold.state(of: number, version: version, rules: states.rules(view))
        } catch MomentError.beforeUser {
            return nil
        }
    }
}

/// The greatest number from 1 to `end` for which `holds` is true; 0 if for none. A binary search: if it is true for a
/// number, it must be true for all smaller ones.
private func lastNumber(upTo end: UInt64, where holds: (UInt64) throws -> Bool) rethrows -> UInt64 {
    var (low, high) = (UInt64(0), end)
    while low < high {
        let middle = low + (high - low + 1) / 2
        if try holds(middle) { low = middle } else { high = middle - 1 }
    }
    return low
}

extension LogView {
    /// Returns the number of users created up to `position`. Users are numbered in the order of their creation.
    func userCount(upTo position: UInt64) throws -> UInt64 {
        try lastNumber(upTo: userCount()) { try positions(of: $0, from: 1, to: 1)[0] <= position }
    }

    /// The last position at `moment`.
    func position(at moment: Moment) throws -> UInt64 {
        switch moment {
        case .now: return last
        case .version: throw MomentError.versionOfAll
        case .position(let position):
            guard position.rawValue <= last else { throw MomentError.beyondLog(last: Position(rawValue: last)) }
            return position.rawValue
        case .time(let time):
            return try lastNumber(upTo: last) { try wasRecorded($0, by: time) }
        }
    }

    /// Tells whether the record at `position` was recorded by `time`. For a damaged record the one before it says so.
    private func wasRecorded(_ position: UInt64, by time: Timestamp) throws -> Bool {
        var position = position
        while position > 0 {
            do {
                return try header(at: position).recordedAt <= time.rawValue
            } catch StorageError.damaged {
                position -= 1
            }
        }
        return true
    }

    /// The user's version at `moment`, of which there must be one.
    func version(of user: UInt64, at moment: Moment) throws -> UInt64 {
        let version: UInt64
        switch moment {
        case .version(let asked):
            let last = try self.version(of: user)
            guard asked.rawValue <= last else { throw MomentError.beyondUser(last: Version(rawValue: last)) }
            version = asked.rawValue
        case .now, .position, .time: version = try self.version(of: user, upTo: position(at: moment))
        }
        guard version > 0 else {
            throw MomentError.beforeUser(created: Position(rawValue: try positions(of: user, from: 1, to: 1)[0]))
        }
        return version
    }

    /// Returns the number of the user's events up to `position`. Reads about as many rows of `streams` as the user's
    /// number of rows has binary digits.
    package func version(of user: UInt64, upTo position: UInt64) throws -> UInt64 {
        let version = try self.version(of: user)
        if position >= last || version == 0 { return version }
        let capacity = UInt64(StreamRow.capacity)
        // The rows that begin at or before `position`.
        let rows = try lastNumber(upTo: (version - 1) / capacity + 1) { row in
            let first = (row - 1) * capacity + 1
            return try positions(of: user, from: first, to: first)[0] <= position
        }
        guard rows > 0 else { return 0 }
        let first = (rows - 1) * capacity + 1
        let row = try positions(of: user, from: first, to: min(version, first + capacity - 1))
        return first - 1 + UInt64(row.prefix { $0 <= position }.count)
    }

    package func canonicalUser(of user: UInt64, in past: PastHistory, _ merges: inout PastMerges) throws -> UInt64 {
        var canonical = user
        while let target = try mergedInto(canonical),
            try has(merges.position(ofMerging: canonical, into: target, self), in: past)
        {
            canonical = target
        }
        return canonical
    }

    /// The user who had `id` at `position`; nil if no user had it.
    fileprivate func user(_ id: UserID, upTo position: UInt64, braze: BrazeIDs) throws -> UInt64? {
        switch id {
        case .assignedID(let text):
            guard let user = braze.user(text), user > 0, user <= (try userCount()) else { return nil }
            var merges = PastMerges()
            return try canonicalUser(of: user, in: PastHistory(to: Position(rawValue: position)), &merges)
        case .externalID, .alias:
            let owner = try user(id, braze: braze)
            if position >= last { return owner }
            if let owner, try identities(of: owner, version: version(of: owner, upTo: position)).contains(id) {
                return owner
            }
            return try lastChange(of: id, from: 1, to: position)?.owner
        case .email, .phone, .device: return nil
        }
    }

    /// An event that gave an ID to a user, or took it from one.
    fileprivate struct IDChange {
        var position: UInt64
        /// The user who has the ID after it; nil if it was taken.
        var owner: UInt64?
        /// The target, if it is a merge.
        var mergedInto: UInt64?
    }

    /// The last event from `first` to `last` that gave or took `id`; nil if there is none. Reads all records between.
    fileprivate func lastChange(
        of id: UserID, from first: UInt64, to last: UInt64, skipsDamage: Bool = false
    ) throws -> IDChange? {
        var change: IDChange?
        try scan(from: first, to: last, skipping: skipsDamage ? { _, _ in } : nil) { position, header in
            guard case .identity(let kind)? = header.kind?.role, let body = RecordBody(header.body), !body.erased
            else { return true }
            let mergedInto = kind == .merged ? header.user : nil
            if body.identities.contains(id) {
                change = IDChange(position: position, owner: header.user, mergedInto: mergedInto)
            } else if body.released.contains(id) {
                change = IDChange(position: position, owner: nil, mergedInto: mergedInto)
            }
            return true
        }
        return change
    }

    /// The user's IDs after `version` of their events, in the order in which they were given. Merges that are not in
    /// `past` give none.
    fileprivate func identities(
        of user: UInt64, version: UInt64, in past: PastHistory = PastHistory(to: Position(rawValue: .max))
    ) throws -> [UserID] {
        var ids: [UserID] = []
        for position in try positions(of: user, from: 1, to: version) {
            let header = try header(at: position)
            guard case .identity(let change)? = header.kind?.role, let body = RecordBody(header.body), !body.erased
            else { continue }
            if change == .merged, try !has(position, in: past) { continue }
            // What a merge releases were IDs of the source.
            if change != .merged { ids.removeAll { body.released.contains($0) } }
            ids += body.identities.filter { !ids.contains($0) }
        }
        return ids
    }
}
