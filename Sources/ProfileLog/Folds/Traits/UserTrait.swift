/// A value that is computed from what a user did, whenever it is asked for: `EventLog.value(of:for:asOf:)`.
///
/// ```swift
/// let orders = UserTrait.count(.purchases, within: .seconds(30 * 86_400))
/// ```
///
/// It looks at what took effect of one source, within a span before the moment of the question; without `within` at the
/// whole history. `property` is one of the event or purchase. Of a purchase it may also be `price`, `quantity`,
/// `revenue`, `product` or `currency`; sessions and launches have none. docs/traits.md says what counts.
public enum UserTrait: Hashable, Sendable {
    /// How many there are; of a property, how many have it. A purchase counts with its quantity.
    case count(Source, property: Name? = nil, within: Duration? = nil)
    /// The numbers added up, decimals exactly; what is no number is skipped.
    case sum(Source, property: Name, within: Duration? = nil)
    /// The value at the earliest time, or that time.
    case first(Source, property: Name? = nil, within: Duration? = nil)
    /// The value at the latest time, or that time.
    case last(Source, property: Name? = nil, within: Duration? = nil)
    /// The value that came most often; of several, the one that came last.
    case mostFrequent(Source, property: Name, within: Duration? = nil)
    /// A list of the different values, at most 1,000, in the order in which they came.
    case unique(Source, property: Name, within: Duration? = nil)

    /// The events that a trait looks at.
    public enum Source: Hashable, Sendable {
        /// The custom events of this name.
        case event(Name)
        /// The purchases of this product.
        case purchase(Name)
        /// All purchases.
        case purchases
        /// The sessions of the app.
        case sessions
        /// The launches of the app.
        case launches
    }
}

extension ComputedTrait {
    /// The trait, without a name.
    package init(_ trait: UserTrait) {
        func make(_ function: Function, _ source: Source, _ property: Name?, _ within: Duration?) -> ComputedTrait {
            ComputedTrait("", function, of: source, property: property, within: within.flatMap(Self.window))
        }
        self =
            switch trait {
            case .count(let source, let property, let within): make(.count, source, property, within)
            case .sum(let source, let property, let within): make(.sum, source, property, within)
            case .first(let source, let property, let within): make(.first, source, property, within)
            case .last(let source, let property, let within): make(.last, source, property, within)
            case .mostFrequent(let source, let property, let within): make(.mostFrequent, source, property, within)
            case .unique(let source, let property, let within): make(.unique, source, property, within)
            }
    }

    /// The span in microseconds; nil, the whole history, for one that no window of a declaration can have.
    private static func window(_ span: Duration) -> Int64? {
        let (seconds, attoseconds) = span.components
        guard seconds < longestSeconds else { return nil }
        return max(seconds, -1) * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
