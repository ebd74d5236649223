/// The event that set what a condition asks for, or why there is none.
package enum FieldCause: Sendable {
    case event(FieldWrite)
    /// The reason, as a clause: `nothing waits`.
    case nothing(String)
}

extension LogReader {
    /// Lends a search for the events that set the fields of `user`, whose profile in `past` is `state`.
    ///
    /// - Parameter now: the time then, with which windows end.
    package func withCauses<Result>(
        of user: UserInfo, _ state: ProfileState, in past: PastHistory, at now: Timestamp,
        _ body: (CauseSearch) throws -> Result
    ) throws -> Result {
        try withView { view in
            let version = try self.past.version(of: user.number, at: past.position)
            let blame = try BlameSearch(self, view, of: user.number, asOf: version, withLog: false)
            return try body(CauseSearch(blame: blame, user: user, state: state, past: past, now: now))
        }
    }
}

/// Finds the events that set what conditions ask for, of one user in one history.
///
/// In the order of recording it is what blame says. In the order of occurrence, in which blame has no answer, it is the
/// event that the profile names.
package struct CauseSearch {
    fileprivate let blame: BlameSearch
    fileprivate let user: UserInfo
    fileprivate let state: ProfileState
    fileprivate let past: PastHistory
    fileprivate let now: Timestamp

    private static let unset = FieldCause.nothing("no event set it")
    private static let never = FieldCause.nothing("it never took effect")

    private var names: NameTable { blame.log.names }

    /// The event that set `field`, or the part of its value at `path`. Reads up to the whole history of the user.
    package func cause(of field: Condition.Field, at path: [Name]) throws -> FieldCause {
        switch field {
        case .attribute(let attribute):
            let cause = try cause(of: FieldKey(standard: UInt32(attribute.rawValue)), at: path)
            switch attribute {
            // Without the attribute, or if it was removed, conditions see the address that made the user.
            case .email: return try address(cause, attribute) { if case .email = $0 { true } else { false } }
            case .phone: return try address(cause, attribute) { if case .phone = $0 { true } else { false } }
            default: break
            }
            guard case .nothing = cause else { return cause }
            switch attribute {
            case .emailSubscribe, .pushSubscribe:
                return .nothing("no event set it: without one, a user is subscribed")
            default: return cause
            }
        case .customAttribute(let name):
            return try names.number(name).map { try cause(of: FieldKey(custom: $0), at: path) } ?? Self.unset
        case .trait: return .nothing("it is computed from many events")
        case .count(let counted, let span?):
            let start = Timestamp(rawValue: now.rawValue - span)
            return try cause(.nothing("nothing took effect in the window")) {
                try last(counted) { $0.at >= start && $0.at <= now }
            }
        case .count(let counted, nil):
            return try cause(Self.never) { counted.what(names.number).flatMap { position(of: $0) } }
        case .first(let counted):
            return try cause(Self.never) {
                guard let first = counts(counted)?.first else { return nil }
                var isFound = false
                return try last(counted) { occurrence in
                    if isFound || occurrence.at != first { return false }
                    isFound = true
                    return true
                }
            }
        case .last(let counted):
            return try cause(Self.never) {
                guard let latest = counts(counted)?.last else { return nil }
                return try last(counted) { $0.at == latest }
            }
        case .revenue(let product):
            return try cause(.nothing("nothing was bought")) {
                names.number(product).flatMap { position(of: .purchase($0)) }
            }
        case .totalRevenue:
            return try cause(.nothing("nothing was bought")) {
                let orders = try blame.log.occurrences.orderEvents()
                let isOrder = state.events.contains { orders?.has($0.name) ?? false }
                if state.purchases.isEmpty, !isOrder { return nil }
                return try last { occurrence in
                    switch occurrence.what {
                    case .purchase: return true
                    case .event(let name):
                        guard let orders, orders.has(name) else { return false }
                        return orders.value(of: try blame.view.header(at: occurrence.position.rawValue)) != nil
                    case .created, .session, .launch, .removal: return false
                    }
                }
            }
        case .firstSeen, .lastSeen: return try cause(Self.unset) { try seen(isFirst: field == .firstSeen) }
        case .lastUsedApp:
            return try cause(.nothing("no session and no launch took effect")) {
                let latest = [state.sessions, state.launches].filter { $0.count > 0 }.map(\.last).max()
                guard let latest else { return nil }
                return try last(.launches) { $0.at == latest } ?? last(.sessions) { $0.at == latest }
            }
        case .created, .brazeID: return try cause(Self.unset) { user.created }
        case .pending:
            return try cause(.nothing("nothing waits")) {
                state.pending.last { !$0.isQueued }.map { Position(rawValue: $0.position) }
            }
        case .version: return try cause(Self.unset) { state.lastPosition }
        case .externalID:
            return try cause(.nothing("no event gave one")) {
                let ids = user.ids.filter { if case .externalID = $0 { true } else { false } }
                return try ids.last.flatMap { try givenID($0) }
            }
        }
    }

    private func cause(_ reason: FieldCause, _ find: () throws -> Position?) throws -> FieldCause {
        guard let position = try find(), position > .start else { return reason }
        return .event(try blame.write(at: position.rawValue))
    }

    // MARK: - Attributes

    private func cause(of key: FieldKey, at path: [Name]) throws -> FieldCause {
        let isRecorded = past.order == .recorded
        if path.isEmpty || !isRecorded, let field = state.fields.field(key) {
            return .event(try blame.write(at: field.position))
        }
        guard isRecorded else { return Self.unset }
        // A part of a value, or one that was removed.
        let writes = try blame.answer([(key, path.map { .member($0) })]).map(\.write)
        guard let last = writes.max(by: { $0.effectivePlace < $1.effectivePlace }) else { return Self.unset }
        return .event(last)
    }

    /// `cause`, the one of `attribute`, if it has a value; else the event that gave the user their first address.
    private func address(
        _ cause: FieldCause, _ attribute: StandardAttribute, where isAddress: (UserID) -> Bool
    ) throws -> FieldCause {
        if let value = state.value(attribute), value != .null { return cause }
        guard let id = user.ids.first(where: isAddress), let position = try givenID(id) else { return cause }
        return .event(try blame.write(at: position.rawValue))
    }

    // MARK: - Occurrences

    private func counts(_ counted: Condition.Counted) -> ProfileState.Occurrences? {
        guard let what = counted.what(names.number), let all = state.occurrences(of: what) else { return nil }
        return all.count > 0 ? all : nil
    }

    /// The event that was counted last.
    private func position(of what: Occurrence.What) -> Position? {
        guard let all = state.occurrences(of: what), all.count > 0 else { return nil }
        return all.position
    }

    /// The last occurrence that is wanted, as ``last(where:)``.
    private func last(
        _ counted: Condition.Counted, where isWanted: (Occurrence) -> Bool
    ) throws -> Position? {
        guard let what = counted.what(names.number), counts(counted) != nil else { return nil }
        return try last { $0.what == what && isWanted($0) }
    }

    /// The wanted occurrence that was counted last: in the order of effects, or by occurrence the one that happened
    /// last.
    private func last(where isWanted: (Occurrence) throws -> Bool) throws -> Position? {
        var found: (at: Timestamp, position: Position)?
        try blame.log.occurrences.forEach(
            of: user.number, asOf: Version(rawValue: blame.version), until: past.until
        ) { occurrence in
            guard try isWanted(occurrence) else { return }
            if past.order == .occurred, let found,
                (occurrence.at, occurrence.position) < (found.at, found.position)
            {
                return
            }
            found = (occurrence.at, occurrence.position)
        }
        return found?.position
    }

    // MARK: - Others

    /// The event by which the user was seen first, or last. Folds their history.
    private func seen(isFirst: Bool) throws -> Position? {
        if let until = past.until {
            return try seen(isFirst, SeenFold(of: OccurredFold(view: blame.view, names: names, until: until)))
        }
        return try seen(isFirst, SeenFold(of: ProjectionFold<ProfileProjection>()))
    }

    private func seen<Profile: EventFold>(_ isFirst: Bool, _ fold: SeenFold<Profile>) throws -> Position?
    where Profile.State == ProfileState {
        var fold = fold
        let recorded = try blame.view.positions(of: user.number.rawValue, from: 1, to: blame.version)
        let driver = try blame.log.states.driver(blame.view, skipping: blame.view.voidedEvents(among: recorded))
        var seen = fold.initial
        _ = try driver.fold(fold.ordered(recorded), into: &seen, &fold, from: blame.view)
        return isFirst ? seen.first : seen.last
    }

    /// The last event that gave the user `id`.
    private func givenID(_ id: UserID) throws -> Position? {
        let positions = try blame.view.positions(of: user.number.rawValue, from: 1, to: blame.version)
        for position in positions.reversed() {
            let header = try blame.view.header(at: position)
            guard case .identity? = header.kind?.role, let body = RecordBody(header.body), !body.erased,
                body.identities.contains(id)
            else { continue }
            return Position(rawValue: position)
        }
        return nil
    }
}

/// Folds a profile as another fold does, and notes the events by which the user was seen first and last.
private struct SeenFold<Profile: EventFold>: EventFold where Profile.State == ProfileState {
    struct State {
        fileprivate var profile: ProfileState
        fileprivate(set) var first: Position?
        fileprivate(set) var last: Position?
    }

    private var fold: Profile

    init(of fold: Profile) { self.fold = fold }

    static var takesEffects: Bool { Profile.takesEffects }

    var initial: State { State(profile: fold.initial) }

    mutating func apply(_ event: borrowing EventView, to state: inout State) throws {
        let before = (first: state.profile.firstSeen, last: state.profile.lastSeen)
        try fold.apply(event, to: &state.profile)
        if state.profile.firstSeen != before.first { state.first = event.position }
        if state.profile.lastSeen != before.last { state.last = event.position }
    }

    mutating func merge(_ source: State, into target: inout State, by event: borrowing EventView) throws {
        let before = (first: target.profile.firstSeen, last: target.profile.lastSeen)
        try fold.merge(source.profile, into: &target.profile, by: event)
        if target.profile.firstSeen != before.first { target.first = source.first }
        if target.profile.lastSeen != before.last { target.last = source.last }
    }

    mutating func ordered(_ positions: [UInt64]) throws -> [UInt64] { try fold.ordered(positions) }
}

extension FieldWrite {
    /// The order in which writes came to the user: by what made them count, then by their own effect.
    fileprivate var effectivePlace: (Position, Position) {
        let effect = effect ?? event.position
        return (merge ?? effect, effect)
    }
}

extension BlameSearch {
    /// The event at `position`, which is in effect, as what set a value.
    fileprivate func write(at position: UInt64) throws -> FieldWrite {
        var found = Found()
        if try view.header(at: position).user == user {
            found.effects = try flushes(of: [position])
        } else {
            found.merges = try view.mergedHistory(of: user, upTo: version).merges
        }
        return try write(position, nil, void: nil, found)
    }
}
