/// Which fold rules held for which events: each change holds for the events after it.
package struct RulesTimeline: Sendable {
    /// Ascending by position.
    private var changes: [(position: UInt64, rules: BoundRules)]

    /// `changes` in ascending order of their positions.
    package init(_ changes: [(position: UInt64, rules: BoundRules)]) { self.changes = changes }

    /// The same rules for all events.
    package init(always rules: BoundRules) { changes = [(0, rules)] }

    /// The rules for the event at `position`.
    package func rules(at position: UInt64) -> BoundRules {
        changes.last { $0.position < position }?.rules ?? .none
    }
}

/// By what a fold goes besides the events: rules, and events that it leaves aside. A fold without either needs none.
package struct FoldTerms: Sendable {
    private let timeline: RulesTimeline
    private let skips: (@Sendable (UInt64, RecordHeader) -> Bool)?

    /// Rules of `timeline`; with `skips`, without the events for which it answers true.
    package init(_ timeline: RulesTimeline, skips: (@Sendable (UInt64, RecordHeader) -> Bool)? = nil) {
        self.timeline = timeline
        self.skips = skips
    }

    /// The rules for the event at `position`.
    package func rules(at position: UInt64) -> BoundRules { timeline.rules(at: position) }

    /// Whether the fold leaves the event aside.
    package func skip(_ position: UInt64, _ header: RecordHeader) -> Bool { skips?(position, header) ?? false }
}

extension Projection {
    /// Folds one event in, by `terms`.
    package static func apply(_ event: borrowing EventView, to state: inout State, on terms: FoldTerms?) {
        guard let terms else { return apply(event, to: &state) }
        if terms.skip(event.position.rawValue, event.header) { return }
        apply(event, to: &state, under: terms.rules(at: event.position.rawValue))
    }
}
