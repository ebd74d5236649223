internal import Synchronization

/// The fold rules that the log holds, as far as this process has looked. A change of rules never changes.
final class RulesCache: Sendable {
    private struct State {
        /// The number of the system's events that were looked at.
        var version: UInt64 = 0
        /// The last position of a view that had no further ones.
        var last: UInt64 = 0
        var changes: [(position: UInt64, rules: FoldRules)] = []
        /// The number of names when `timeline` was bound.
        var names: UInt32 = 0
        /// The rules by position; nil without changes and without orders.
        var timeline: RulesTimeline?
    }

    private let state: Mutex<State>

    /// - Parameter standard: the rules before the first change.
    init(standard: FoldRules) {
        var state = State()
        if !standard.isEmpty {
            state.changes = [(0, standard)]
            Self.bind(&state, NameMap())
        }
        self.state = Mutex(state)
    }

    /// The rules by which events in `view` are folded; nil if there is nothing to mind. There may be later ones among
    /// them: they hold for later events only.
    func timeline(_ view: LogView) throws -> RulesTimeline? {
        try state.withLock { state in
            if view.last > state.last { try Self.catchUp(&state, view) }
            let names = view.nameTable.count
            if names != state.names { Self.bind(&state, view.nameTable.current) }
            return state.timeline
        }
    }

    private static func catchUp(_ state: inout State, _ view: LogView) throws {
        let positions = try view.systemPositions(after: state.version)
        var changes: [(position: UInt64, rules: FoldRules)] = []
        for position in positions {
            if let rules = try view.rules(setAt: position) { changes.append((position, rules)) }
        }
        state.version += UInt64(positions.count)
        state.last = view.last
        if changes.isEmpty { return }
        state.changes += changes
        bind(&state, view.nameTable.current)
    }

    private static func bind(_ state: inout State, _ names: NameMap) {
        state.names = names.count
        state.timeline = RulesTimeline(state.changes, names: names)
    }

    /// The newest known rules, and how many of the system's events were looked at.
    var newest: (rules: FoldRules, version: UInt64) {
        state.withLock { ($0.changes.last?.rules ?? FoldRules(), $0.version) }
    }

    /// The rules that held for the event after `position`, and the position at which they were set; 0 if none were.
    func rules(after position: UInt64) -> (position: UInt64, rules: FoldRules) {
        state.withLock { $0.changes.last { $0.position <= position } ?? (0, FoldRules()) }
    }
}

extension LogView {
    /// The rules that the event at `position` sets; nil if it sets none. A damaged record of another kind is none.
    fileprivate func rules(setAt position: UInt64) throws -> FoldRules? {
        do {
            return FoldRules(setBy: try header(at: position))
        } catch let error as StorageError {
            if let record = try get(tables.log, position), let header = RecordHeader(record),
                header.kind != .rulesChanged
            {
                return nil
            }
            throw error
        }
    }
}

extension FoldRules {
    /// The rules that an event sets; nil if it sets none.
    init?(setBy header: RecordHeader) {
        guard header.kind == .rulesChanged, let document = RecordBody(header.body)?.rules else { return nil }
        self.init(stored: document)
    }
}
