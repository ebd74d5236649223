/// The fold of a user's history in the order in which things happened.
///
/// An event is at its `occurredAt`, and of two at one time the earlier recorded comes first. A saved or queued item
/// that took effect, as far as the fold knows, does so at the time of its save and not at that of the flush. A merge
/// is at its own time, and brings what the merged user has then (spec/rest-api 2.6).
struct OccurredFold {
    let view: LogView
    let names: NameTable
    /// An event is folded by the rules that held when it was recorded.
    let rules: RulesTimeline?
    /// What became of saved and queued items: whether they took effect.
    private var isEffective: [UInt64: Bool] = [:]
    private var voided = VoidedEvents()

    init(view: LogView, names: NameTable, rules: RulesTimeline?) {
        self.view = view
        self.names = names
        self.rules = rules
    }

    /// The state after what happened until `end` among the first `version` events of `user`.
    consuming func state(of user: UInt64, version: UInt64, until end: Timestamp) throws -> ProfileState {
        let recorded = try view.positions(of: user, from: 1, to: version)
        voided = try view.voidedEvents(among: recorded)
        let events = try ordered(recorded, until: end)
        guard !events.isEmpty else { throw MomentError.beforeUser(created: Position(rawValue: recorded[0])) }
        var state = try fold(events, until: end)
        // The fold has seen them in another order.
        state.version = Version(rawValue: UInt64(events.count))
        state.lastPosition = Position(rawValue: events.max() ?? 0)
        return state
    }

    /// As `StateStore.fold`, with waiting folds in an array: a chain of merges may be long.
    private mutating func fold(_ events: [UInt64], until end: Timestamp) throws -> ProfileState {
        var waiting: [(events: [UInt64], next: Int, state: ProfileState)] = []
        var (events, next, state) = (events, 0, ProfileProjection.initial)
        var isMerged = false
        while true {
            guard next < events.count else {
                guard var resumed = waiting.popLast() else { return state }
                let rules = rules?.rules(at: resumed.events[resumed.next]) ?? .none
                ProfileProjection.merge(state, into: &resumed.state, under: rules)
                (events, next, state) = (resumed.events, resumed.next, resumed.state)
                isMerged = true
                continue
            }
            let position = events[next]
            let header = try view.header(at: position)
            if header.kind == .usersMerged, !isMerged, let merged = try view.mergedPositions(header, position) {
                waiting.append((events, next, state))
                (events, next, state) = (try ordered(merged, until: end), 0, ProfileProjection.initial)
                continue
            }
            apply(header, position, to: &state)
            next += 1
            isMerged = false
        }
    }

    private func apply(_ header: RecordHeader, _ position: UInt64, to state: inout ProfileState) {
        if voided.contains(position) { return }
        let event = EventView(header: header, position: Position(rawValue: position), names: names)
        let rules = rules?.rules(at: position) ?? .none
        ProfileProjection.apply(event, to: &state, under: rules)
        guard let isEffective = isEffective[position] else { return }
        for entry in state.takePending([Position(rawValue: position)]) where isEffective {
            state.flush(entry, under: rules)
        }
    }

    /// `positions` of one user in the order of occurrence, without what happened after `end`. Notes what became of
    /// items, also after `end`.
    private mutating func ordered(_ positions: [UInt64], until end: Timestamp) throws -> [UInt64] {
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
            // What was handed over takes effect when it is sent.
            if !body.isQueued { for item in body.flushed { isEffective[item.rawValue] = true } }
        case .sent: for item in body.flushed { isEffective[item.rawValue] = true }
        case .discarded: for item in body.discarded { isEffective[item.rawValue] = false }
        }
    }
}
