/// Which fold rules hold for which events: each change holds for the events after it.
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
