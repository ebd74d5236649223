/// A history as it might have been: the question of a what-if (docs/history.md).
///
/// ```swift
/// let impact = try log.whatIf(AlteredHistory(without: [.source(.import)]))
/// print(impact.changed, "of", impact.users, "profiles would differ")
/// ```
///
/// Only what was saved, logged or queued can be omitted or corrected, as only that can be void. Users, their merges,
/// launches and sessions stay.
public struct AlteredHistory: Sendable {
    /// Events that are omitted.
    package var without: Set<Omission>
    /// Events with another content, by their positions. Saved events stay saved, logged ones stay logged.
    package var corrections: [Position: ProfileEvent]
    /// The rules by which all events are folded; nil for those that the log has.
    package var rules: FoldRules?
    /// Other times at which corrected events happened.
    package var times: [Position: OccurredAt] = [:]

    /// A history without some events, with others in place of those at the positions of `corrections`, and folded by
    /// other rules.
    public init(without: Set<Omission> = [], corrections: [Position: ProfileEvent] = [:], rules: FoldRules? = nil) {
        self.without = without
        self.corrections = corrections
        self.rules = rules
    }

    /// A part of the history that is omitted.
    public enum Omission: Hashable, Sendable {
        /// The event at a position.
        case event(Position)
        /// Custom events and purchases with this name, and what sets the attribute with this name. Other attributes of
        /// the same event stay.
        case name(Name)
        /// Events from this source.
        case source(EventSource)
        /// Events on the device with this ID.
        case device(Name)
        /// The events of this user, and of those who were merged into them.
        case user(UserNumber)
    }
}
