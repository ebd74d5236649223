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
                let bought = state.purchases.map(\.occurrences)
                let ordered = state.events.filter { orders?.has($0.name) ?? false }.map(\.occurrences)
                return (bought + ordered).filter { $0.count > 0 }.map(\.position).max()
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
        case .externalID: return try cause(.nothing("no event gave one")) { try givenID() }
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
        guard let last = writes.max(by: { $0.event.position < $1.event.position }) else { return Self.unset }
        return .event(last)
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

    /// The last occurrence that is wanted, in the order of effects.
    private func last(
        _ counted: Condition.Counted, where isWanted: (Occurrence) -> Bool
    ) throws -> Position? {
        guard let what = counted.what(names.number), counts(counted) != nil else { return nil }
        var found: Position?
        try blame.log.occurrences.forEach(
            of: user.number, asOf: Version(rawValue: blame.version), until: past.until
        ) { occurrence in
            if occurrence.what == what, isWanted(occurrence) { found = occurrence.position }
        }
        return found
    }

    // MARK: - Others

    /// The event by which the user was seen first, or last. Folds their history; nil in the order of occurrence.
    private func seen(isFirst: Bool) throws -> Position? {
        guard past.order == .recorded else { return nil }
        let positions = try blame.view.positions(of: user.number.rawValue, from: 1, to: blame.version)
        let driver = try blame.log.states.driver(
            blame.view, skipping: blame.view.voidedEvents(among: positions))
        var fold = SeenFold()
        var seen = fold.initial
        _ = try driver.fold(positions, into: &seen, &fold, from: blame.view)
        return isFirst ? seen.first : seen.last
    }

    /// The last event that gave the user their external ID.
    private func givenID() throws -> Position? {
        let ids = user.ids.filter { if case .externalID = $0 { true } else { false } }
        guard let id = ids.last else { return nil }
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

/// Folds a profile, and notes the events by which the user was seen first and last.
private struct SeenFold: EventFold {
    struct State {
        fileprivate var profile = ProfileProjection.initial
        fileprivate(set) var first: Position?
        fileprivate(set) var last: Position?
    }

    var initial: State { State() }

    mutating func apply(_ event: borrowing EventView, to state: inout State) {
        let before = (first: state.profile.firstSeen, last: state.profile.lastSeen)
        ProfileProjection.apply(event, to: &state.profile)
        if state.profile.firstSeen != before.first { state.first = event.position }
        if state.profile.lastSeen != before.last { state.last = event.position }
    }

    mutating func merge(_ source: State, into target: inout State, by event: borrowing EventView) {
        let before = (first: target.profile.firstSeen, last: target.profile.lastSeen)
        ProfileProjection.merge(source.profile, into: &target.profile, by: event)
        if target.profile.firstSeen != before.first { target.first = source.first }
        if target.profile.lastSeen != before.last { target.last = source.last }
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
