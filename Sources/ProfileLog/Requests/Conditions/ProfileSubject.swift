internal import ProfileLogSnippets

/// A user as conditions and templates see them: as the log has them, and as the attributes of a request leave them.
package struct ProfileSubject: ConditionSubject {
    /// The user; nil for one that the request makes.
    package let user: UserInfo?
    package let ids: [UserID]
    package let state: ProfileState
    private let log: LogReader
    private let changes: [ProfileEvent]
    private let createdAt: Timestamp?
    /// The history of which the state is, if that is not the one of the log.
    private var alteration: Alteration?
    private let traits: TraitReader?

    /// - Parameters:
    ///   - createdAt: when the log recorded the user's first event; read if it is nil and asked for.
    ///   - traits: reads names and computed traits for many users; without it those of this user are read if they are
    ///     asked for.
    package init(
        _ user: UserInfo, _ state: ProfileState, createdAt: Timestamp? = nil, traits: TraitReader? = nil,
        in log: LogReader
    ) {
        self.init(user, ids: user.ids, state, createdAt: createdAt, traits: traits, changes: [], in: log)
    }

    /// A user whose state is that of an altered history.
    package init(_ user: UserInfo, _ state: ProfileState, of alteration: Alteration?, in log: LogReader) {
        self.init(user, state, in: log)
        self.alteration = alteration
    }

    /// The user as `changes` leave their attributes.
    package init(
        _ user: UserInfo?, ids: [UserID], _ state: ProfileState, createdAt: Timestamp? = nil,
        traits: TraitReader? = nil, changes: [ProfileEvent], in log: LogReader
    ) {
        (self.user, self.ids, self.state, self.log) = (user, ids, state, log)
        (self.changes, self.createdAt, self.traits) = (changes, createdAt, traits)
    }

    /// The attribute's value; nil if the profile has none. A user without a state is subscribed, and a user who was
    /// created by an address has that address.
    package func value(_ attribute: StandardAttribute) -> AttributeValue? {
        var value = state.value(attribute)
        for case .userAttributesChanged(let all) in changes {
            for change in all where change.attribute == attribute { value = change.value }
        }
        if let value, value != .null { return value }
        switch attribute {
        case .emailSubscribe, .pushSubscribe: return .string("subscribed")
        case .email: return ids.lazy.compactMap { if case .email(let text) = $0 { .string(text) } else { nil } }.first
        case .phone: return ids.lazy.compactMap { if case .phone(let text) = $0 { .string(text) } else { nil } }.first
        default: return nil
        }
    }

    package func customAttribute(_ name: Name) -> AttributeValue? {
        var value = number(of: name).flatMap { state.customAttribute($0) }
        if changes.isEmpty { return value }
        let policy = (try? log.rules())?.rules.policies[name] ?? .lastArrival
        for case .customAttributesChanged(let all) in changes {
            for change in all where change.name == name { value = change.operation.applied(to: value, under: policy) }
        }
        return value
    }

    /// The last of several: the others were renamed.
    package var externalID: String? {
        ids.lazy.compactMap { if case .externalID(let id) = $0 { id } else { nil } }.last
    }

    package var lastUsedApp: Timestamp? {
        [state.sessions, state.launches].filter { $0.count > 0 }.map(\.last).max()
    }

    // MARK: - Conditions

    package func value(of field: Condition.Field, at now: Timestamp) throws -> AttributeValue? {
        switch field {
        case .attribute(let attribute):
            let value = value(attribute).map(attribute.compared)
            return value == .array([]) ? nil : value
        case .customAttribute(let name): return customAttribute(name)
        case .trait(let name):
            guard let user else { return nil }
            return try (traits ?? TraitReader(log, at: now, of: alteration)).value(name, of: user.number, state)
        case .count(let counted, let span):
            guard let all = occurrences(counted) else { return .int(0) }
            guard let span else { return .int(Int64(clamping: all.count)) }
            return .int(try count(counted, all, from: Timestamp(rawValue: now.rawValue - span), to: now))
        case .first(let counted): return occurrences(counted)?.times.map { Self.date($0.lowerBound) }
        case .last(let counted): return occurrences(counted)?.times.map { Self.date($0.upperBound) }
        case .revenue, .totalRevenue: return try sum(of: field, at: now)?.value
        case .firstSeen: return state.firstSeen.map(Self.date)
        case .lastSeen: return state.lastSeen.map(Self.date)
        case .lastUsedApp: return lastUsedApp.map(Self.date)
        case .created:
            guard let user else { return nil }
            return try (createdAt ?? log.event(at: user.created)?.recordedAt).map(Self.date)
        case .pending: return .int(Int64(state.pending.count { !$0.isQueued }))
        case .version: return .int(Int64(clamping: state.version.rawValue))
        case .externalID: return externalID.map { .string($0) }
        case .brazeID: return user.map { .string($0.brazeID) }
        }
    }

    package func sum(of field: Condition.Field, at now: Timestamp) throws -> ExactSum? {
        let revenue: [ProfileState.Revenue]
        switch field {
        case .revenue(let product):
            let number = number(of: product)
            revenue = state.purchases.first { $0.product == number }?.revenue ?? []
        case .totalRevenue: revenue = state.totalRevenue
        case .trait(let name):
            guard let user else { return nil }
            return try (traits ?? TraitReader(log, at: now, of: alteration)).sum(name, of: user.number, state)
        default: return nil
        }
        return revenue.reduce(into: ExactSum()) { $0.add($1.amount) }
    }

    private func number(of name: Name) -> UInt32? {
        if let traits { traits.number(of: name) } else { log.names.number(name) }
    }

    private static func date(_ time: Timestamp) -> AttributeValue { .date(OccurredAt(time)) }

    /// Returns nil for an event or a product that the user has not.
    private func occurrences(_ counted: Condition.Counted) -> ProfileState.Occurrences? {
        counted.what { number(of: $0) }.flatMap { state.occurrences(of: $0) }
    }

    /// Returns the number of `all` from `start` to `end`. Reads the user's events only if some are and some may not be.
    private func count(
        _ counted: Condition.Counted, _ all: ProfileState.Occurrences, from start: Timestamp, to end: Timestamp
    ) throws -> Int64 {
        guard let user, let times = all.times, times.overlaps(start...max(start, end)) else { return 0 }
        if times.lowerBound >= start, times.upperBound <= end { return Int64(clamping: all.count) }
        let wanted = counted.what { number(of: $0) }
        var count: UInt64 = 0
        let part = try traits?.part(of: user.number, state) ?? (version: state.version, until: nil)
        try log.occurrences.forEach(
            of: user.number, asOf: part.version, until: part.until,
            altered: { alteration?.effect(on: $0, at: $1) ?? .none }, under: alteration?.alteredTimeline
        ) { occurrence in
            if occurrence.what == wanted, occurrence.at >= start, occurrence.at <= end { count += occurrence.quantity }
        }
        return Int64(clamping: count)
    }
}

extension ProfileState.Occurrences {
    /// The times from the earliest to the latest; nil if it never happened.
    fileprivate var times: ClosedRange<Timestamp>? { count > 0 && first <= last ? first...last : nil }
}
