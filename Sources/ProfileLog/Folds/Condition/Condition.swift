/// A condition on a user: what the fields of the profile must be, joined by `all`, `any` and `not`.
///
///     let condition = Condition.all([
///         .holds(.attribute(.country), .text("DE")),
///         .holds(.count(.event("purchase"), within: 30 * Condition.day), .number(.greaterOrEqual, three)),
///     ])
///     try condition.accepts(ana, at: now)
///
/// Segments, connected audiences and `users --where` are forms of writing for it.
package indirect enum Condition: Hashable, Sendable {
    case all([Condition])
    case any([Condition])
    case not(Condition)
    case holds(Field, ValueTest)

    /// A question about a user.
    package enum Field: Hashable, Sendable {
        case attribute(StandardAttribute)
        case customAttribute(Name)
        /// A computed trait.
        case trait(Name)
        /// The count; with `within` in so many microseconds up to now.
        case count(Counted, within: Int64? = nil)
        /// The earliest time; missing if it never happened.
        case first(Counted)
        /// The latest time; missing if it never happened.
        case last(Counted)
        /// The sum paid for a product, in all currencies.
        case revenue(Name)
        /// The sum paid for products and by orders, in all currencies.
        case totalRevenue
        case firstSeen, lastSeen
        /// The last launch or session on a device.
        case lastUsedApp
        /// The time at which the log recorded the user's first event.
        case created
        /// The number of items that wait for a launch.
        case pending
        /// The number of the user's events.
        case version
        case externalID, brazeID
    }

    /// An occurrence that takes effect and is counted.
    package enum Counted: Hashable, Sendable {
        case event(Name), product(Name), sessions, launches
    }

    /// Holds for every user.
    package static let everybody = Condition.all([])

    /// A day in microseconds.
    package static let day: Int64 = 86_400_000_000

    /// Tells whether it asks for a computed trait.
    package var readsTraits: Bool {
        switch self {
        case .all(let conditions), .any(let conditions): conditions.contains { $0.readsTraits }
        case .not(let condition): condition.readsTraits
        case .holds(.trait, _): true
        case .holds: false
        }
    }

    /// Tells whether the user passes.
    package func accepts(_ user: some ConditionSubject, at now: Timestamp) throws -> Bool {
        switch self {
        case .all(let conditions): try conditions.allSatisfy { try $0.accepts(user, at: now) }
        case .any(let conditions): try conditions.contains { try $0.accepts(user, at: now) }
        case .not(let condition): try !condition.accepts(user, at: now)
        case .holds(let field, let test):
            if let sum = try user.sum(of: field, at: now) {
                test.accepts(sum, at: now)
            } else {
                test.accepts(try user.value(of: field, at: now), at: now)
            }
        }
    }
}

/// A user as conditions see them.
package protocol ConditionSubject {
    /// The field's value; nil if there is none.
    func value(of field: Condition.Field, at now: Timestamp) throws -> AttributeValue?

    /// The field's value, if it is a sum with digits that `value(of:at:)` may lack.
    func sum(of field: Condition.Field, at now: Timestamp) throws -> ExactSum?
}

extension ConditionSubject {
    package func sum(of field: Condition.Field, at now: Timestamp) throws -> ExactSum? { nil }
}
