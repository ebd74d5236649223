/// The fold of a user's history in the order in which things happened.
///
/// An event is at its `occurredAt`, and of two at one time the earlier recorded comes first. A saved or queued item
/// that took effect, as far as the fold knows, does so at the time of its save and not at that of the flush. A merge
/// is at its own time, and brings what the merged user has then (spec/rest-api 2.6).
package struct OccurredFold: EventFold {
    package static let takesEffects = false

    private let view: LogView
    private let names: NameTable
    private let end: Timestamp
    /// The outcome of saved and queued items: whether they took effect.
    private var isEffective: [UInt64: Bool] = [:]
    private let profile = ProjectionFold<ProfileProjection>()

    /// A fold of what happened until `end`.
    package init(view: LogView, names: NameTable, until end: Timestamp) {
        (self.view, self.names, self.end) = (view, names, end)
    }

    package var initial: ProfileState { profile.initial }

    /// The state after what happened among the first `version` events of `user`. An event is folded by the rules at its
    /// recording.
    consuming func state(of user: UInt64, version: UInt64, rules: RulesTimeline?) throws -> ProfileState {
        let recorded = try view.positions(of: user, from: 1, to: version)
        let driver = FoldDriver(names: names, rules: rules, skipping: try view.voidedEvents(among: recorded))
        let events = try ordered(recorded)
        guard !events.isEmpty else { throw MomentError.beforeUser(created: Position(rawValue: recorded[0])) }
        var state = initial
        _ = try driver.fold(events, into: &state, &self, from: view)
        // The fold has seen them in another order.
        state.version = Version(rawValue: UInt64(events.count))
        state.lastPosition = Position(rawValue: events.max() ?? 0)
        return state
    }

    package mutating func apply(_ event: borrowing EventView, to state: inout ProfileState) {
        profile.apply(event, to: &state)
        guard let isEffective = isEffective[event.position.rawValue] else { return }
        if isEffective {
            // At another position than its own, whichever: by the rules of its recording.
            profile.apply(
                EventView(
                    header: event.header, position: event.position, names: names, effect: .start,
                    context: event.context), to: &state)
        }
        state.takePending([event.position])
    }

    package func merge(_ source: ProfileState, into target: inout ProfileState, by event: borrowing EventView) {
        profile.merge(source, into: &target, by: event)
    }

    /// `positions` of one user in the order of occurrence, without what happened after `end`. Notes what became of
    /// items, also after `end`.
    package mutating func ordered(_ positions: [UInt64]) throws -> [UInt64] {
        var events: [(at: Int64, position: UInt64)] = []
        events.reserveCapacity(positions.count)
        for position in positions {
            let header = try view.header(at: position)
            if case .outcome(let outcome)? = header.kind?.role { note(outcome, header) }
            let event = EventView(header: header, position: Position(rawValue: position), names: names)
            let at = event.occurredAt.rawValue
            if at <= end.rawValue { events.append((at, position)) }
        }
        return events.sorted { ($0.at, $0.position) < ($1.at, $1.position) }.map(\.position)
    }

    private mutating func note(_ outcome: EventRole.Outcome, _ header: RecordHeader) {
        guard let body = RecordBody(header.body), !body.erased else { return }
        switch outcome {
        case .flushed:
            for item in body.rejected { isEffective[item.position.rawValue] = false }
            // Items that were handed over take effect when they are sent.
            if !body.isQueued { for item in body.flushed { isEffective[item.rawValue] = true } }
        case .sent: for item in body.flushed { isEffective[item.rawValue] = true }
        case .discarded: for item in body.discarded { isEffective[item.rawValue] = false }
        }
    }
}
