/// Which fold rules hold for which events: each change holds for the events after it.
package struct RulesTimeline: Sendable {
    /// Ascending by position.
    private var changes: [(position: UInt64, rules: BoundRules)]

    /// `changes` in ascending order of their positions.
    package init(_ changes: [(position: UInt64, rules: BoundRules)]) { self.changes = changes }

    /// `changes` in ascending order of their positions, in a store with these names; nil if all folds are plain.
    package init?(_ changes: [(position: UInt64, rules: FoldRules)], names: NameMap) {
        let start = BoundRules(FoldRules(), names: names)
        if changes.isEmpty, start.isEmpty { return nil }
        self.changes = [(0, start)] + changes.map { ($0.position, BoundRules($0.rules, names: names)) }
    }

    /// The same changes in a store with more names.
    package func bound(to names: NameMap) -> RulesTimeline {
        RulesTimeline(changes.map { ($0.position, $0.rules.bound(to: names)) })
    }

    /// The same rules for all events.
    package init(always rules: BoundRules) { changes = [(0, rules)] }

    /// The rules for the event at `position`.
    package func rules(at position: UInt64) -> BoundRules {
        changes.last { $0.position < position }?.rules ?? .none
    }
}

extension Projection {
    /// Adds the state of a user who is merged by the event at `position`, by the rules that `timeline` has for it; nil
    /// if there are none.
    package static func merge(
        _ source: State, into target: inout State, at position: UInt64, on timeline: RulesTimeline?
    ) {
        if let timeline {
            merge(source, into: &target, under: timeline.rules(at: position))
        } else {
            merge(source, into: &target)
        }
    }

    /// Folds one event in, by the rules that `timeline` has for it; nil if there are none.
    package static func apply(_ event: borrowing EventView, to state: inout State, on timeline: RulesTimeline?) {
        if let timeline {
            apply(event, to: &state, under: timeline.rules(at: event.position.rawValue))
        } else {
            apply(event, to: &state)
        }
    }
}
