/// The fold rules of the log by position: each change holds for the events after it.
@usableFromInline
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
    @usableFromInline
    package func rules(at position: UInt64) -> BoundRules {
        changes.last { $0.position < position }?.rules ?? .none
    }
}
