/// A value computed from a user's events at each read: how often they bought within 30 days, what they chose most
/// often. docs/traits.md describes how traits are declared.
///
/// Nothing of it is stored with a user, so a trait that is declared today has its value for yesterday too.
package struct ComputedTrait: Hashable, Sendable {
    package let name: Name
    package let function: Function
    package let source: Source
    /// The property of the source; nil for the source itself. `price`, `quantity`, `revenue`, `product` and `currency`
    /// of a purchase are what was paid and bought.
    package let property: Name?
    /// The window in microseconds, up to the moment of the question; nil for the whole history.
    package let window: Int64?

    package init(
        _ name: Name, _ function: Function, of source: Source, property: Name? = nil, within window: Int64? = nil
    ) {
        (self.name, self.function, self.source, self.property, self.window) = (name, function, source, property, window)
    }

    /// The function of the occurrences.
    package enum Function: String, Hashable, Sendable, CaseIterable {
        /// The number; of a property, how many have it. A purchase counts with its quantity.
        case count
        /// The numbers added up; what is no number is skipped.
        case sum
        /// The value at the earliest time, or that time.
        case first
        /// The value at the latest time, or that time.
        case last
        /// The value that came most often; of several, the one that came last.
        case mostFrequent = "most_frequent"
        /// The different values in the order in which they came.
        case unique
    }

    /// The events that are looked at.
    package typealias Source = UserTrait.Source

    /// The longest window, in seconds: 36,500 days.
    static let longestSeconds: Int64 = 36_500 * 86_400

    /// Different values that are told apart for one user; later ones are skipped.
    package static let mostValues = 1_000

    /// Tells whether an occurrence at `time` counts for a question of the time `now`.
    package func takes(_ time: Timestamp, at now: Timestamp) -> Bool {
        guard let window else { return true }
        return time.rawValue >= now.rawValue - window && time <= now
    }
}

/// Folds the occurrences of one trait of one user, in the order of the log.
package struct TraitFold: Sendable {
    private enum State: Sendable {
        case count(UInt64)
        case sum(ExactSum, isWhole: Bool)
        case edge(at: Timestamp, value: AttributeValue)
        case none
        case values(OrderedCounts)
    }

    private struct OrderedCounts: Sendable {
        /// Counts by the value: its place, how often it came, and the number of the occurrence with which it came last.
        var counts: [AttributeValue: (place: Int, count: UInt64, last: UInt64)] = [:]
        var taken: UInt64 = 0
    }

    private let function: ComputedTrait.Function
    private var state: State
    /// Occurrences that had no value of the right kind, or one too many.
    package private(set) var skipped: UInt64 = 0

    package init(_ function: ComputedTrait.Function) {
        self.function = function
        switch function {
        case .count: state = .count(0)
        case .sum: state = .sum(ExactSum(), isWhole: true)
        case .first, .last: state = .none
        case .mostFrequent, .unique: state = .values(OrderedCounts())
        }
    }

    /// Takes an occurrence in. `value` is that of the trait's property, nil if it has none. A sum adds `exact` in its
    /// place, if that is there.
    package mutating func add(
        _ value: AttributeValue?, at time: Timestamp, times: UInt64 = 1, exact: ExactSum? = nil
    ) {
        guard let value, value != .null else { return }
        switch state {
        case .count(let count): state = .count(count + times)
        case .sum(var sum, let isWhole):
            guard let more = exact ?? ExactSum(value) else {
                skipped += 1
                return
            }
            sum.add(more)
            if case .int = value { state = .sum(sum, isWhole: isWhole) } else { state = .sum(sum, isWhole: false) }
        case .none: state = .edge(at: time, value: value)
        case .edge(let old, _):
            if function == .first ? time < old : time >= old { state = .edge(at: time, value: value) }
        case .values(var values):
            state = .none  // so that the values are not copied
            values.taken += 1
            if let known = values.counts[value] {
                values.counts[value] = (known.place, known.count + times, values.taken)
            } else if values.counts.count < ComputedTrait.mostValues {
                values.counts[value] = (values.counts.count, times, values.taken)
            } else {
                skipped += 1
            }
            state = .values(values)
        }
    }

    /// The trait's value; nil if nothing counted, and for a count or a sum 0.
    package var value: AttributeValue? {
        switch state {
        case .count(let count): return .int(Int64(clamping: count))
        case .sum(let sum, let isWhole): return isWhole ? sum.integer.map { .int($0) } ?? sum.value : sum.value
        case .none: return nil
        case .edge(_, let value): return value
        case .values(let values):
            if values.counts.isEmpty { return nil }
            if function == .unique {
                return .array(values.counts.sorted { $0.value.place < $1.value.place }.map(\.key))
            }
            return values.counts.max { ($0.value.count, $0.value.last) < ($1.value.count, $1.value.last) }?.key
        }
    }

    /// The sum with all its digits; nil for another function, and for a whole number that `value` has.
    package var sum: ExactSum? {
        guard case .sum(let sum, let isWhole) = state else { return nil }
        return isWhole && sum.integer != nil ? nil : sum
    }
}
