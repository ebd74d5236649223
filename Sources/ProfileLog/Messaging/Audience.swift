/// A connected audience: users by filters on their profiles, joined by `AND` and `OR` (spec/messaging-api 3).
///
///     let audience = try Audience(
///         ["AND": [["custom_attribute": ["custom_attribute_name": "plan", "comparison": "equals", "value": "gold"]]]],
///         typeOf: { _ in nil })
///     try audience.takes(ana, at: now)
///
/// A form of writing for a ``Condition``, with other comparisons than the segments of the workspace file.
package struct Audience {
    private let condition: Condition

    /// Tells whether the user belongs to it.
    package func takes(_ user: some ConditionSubject, at now: Timestamp) throws -> Bool {
        try condition.accepts(user, at: now)
    }
}

// MARK: - Reading

extension Audience {
    /// Filters within each other.
    static let maxDepth = 16
    /// Filters of one audience.
    static let maxFilters = 200

    private static let kinds = [
        "AND", "OR", "custom_attribute", "push_subscription_status", "email_subscription_status", "last_used_app",
    ]

    /// Reads an audience.
    ///
    /// - Parameter typeOf: the type of a custom attribute; nil if no user has it. A comparison that does not fit the
    ///   type is refused.
    package init(
        _ value: AttributeValue, at place: String = "audience", typeOf: (Name) throws -> AttributeType?
    ) throws {
        var filters = 0
        condition = try Self.filter(value, at: place, depth: 1, &filters, typeOf)
    }

    private static func filter(
        _ value: AttributeValue, at place: String, depth: Int, _ filters: inout Int,
        _ typeOf: (Name) throws -> AttributeType?
    ) throws -> Condition {
        filters += 1
        guard depth <= maxDepth, filters <= maxFilters else {
            throw SendError(
                depth > maxDepth ? "is nested deeper than \(maxDepth)" : "has more than \(maxFilters) filters",
                at: place,
                remedy: "Simplify the audience.")
        }
        guard case .object(let members) = value, let member = members.first, members.count == 1 else {
            throw SendError.notValid(
                place, "It must be an object with exactly one of \(kinds.joined(separator: ", ")).")
        }
        let key = member.key.text
        let place = "\(place).\(TemplateError.shown(key))"
        switch key {
        case "AND", "OR":
            guard let elements = member.value.asArray, !elements.isEmpty else {
                throw SendError.notValid(place, "It must be a list of filters.")
            }
            var joined: [Condition] = []
            for (index, element) in elements.enumerated() {
                joined.append(try filter(element, at: "\(place)[\(index)]", depth: depth + 1, &filters, typeOf))
            }
            return key == "AND" ? .all(joined) : .any(joined)
        case "custom_attribute": return try customAttribute(member.value, at: place, typeOf)
        case "push_subscription_status": return try subscription(.pushSubscribe, member.value, at: place)
        case "email_subscription_status": return try subscription(.emailSubscribe, member.value, at: place)
        case "last_used_app":
            let comparison = try word("comparison", of: member.value, at: place, among: ["after", "before"])
            let time = try time(member.value["value"], at: "\(place).value")
            return .holds(.lastUsedApp, .time(comparison == "after" ? .greater : .less, time))
        default: throw SendError.unknown(key, at: place, among: kinds)
        }
    }

    private static func subscription(
        _ attribute: StandardAttribute, _ filter: AttributeValue, at place: String
    ) throws(SendError) -> Condition {
        let comparison = try word("comparison", of: filter, at: place, among: ["is", "is_not"])
        let state = try word("value", of: filter, at: place, among: ["opted_in", "subscribed", "unsubscribed"])
        return .holds(.attribute(attribute), comparison == "is" ? .text(state) : .otherText(state))
    }

    /// The member `key`, which must be one of `words`.
    private static func word(
        _ key: String, of filter: AttributeValue, at place: String, among words: [String]
    ) throws(SendError) -> String {
        guard let value = filter.present(Name(key)) else {
            throw .required(key, in: place, "Add one of \(words.joined(separator: ", ")).")
        }
        guard let text = value.asText, words.contains(text) else {
            throw .unknown(value.asText ?? "", at: "\(place).\(key)", among: words)
        }
        return text
    }

    private static func time(_ value: AttributeValue?, at place: String) throws(SendError) -> Timestamp {
        guard let time = value?.asText.flatMap({ OccurredAt(braze: $0) }) else {
            throw .notValid(place, "It must be a time in ISO 8601.")
        }
        return time.timestamp
    }
}

// MARK: - Custom attributes

extension Audience {
    /// The comparisons for a custom attribute, and the types that they fit.
    private static let comparisons: [(name: String, types: Set<AttributeType>)] = [
        ("equals", [.string, .number, .boolean]), ("not_equal", [.string, .number]), ("does_not_equal", [.boolean]),
        ("matches_regex", [.string]), ("does_not_match_regex", [.string]),
        ("exists", Set(AttributeType.allCases)), ("does_not_exist", Set(AttributeType.allCases)),
        ("includes_value", [.array]), ("does_not_include_value", [.array]),
        ("greater_than", [.number]), ("greater_than_or_equal_to", [.number]), ("less_than", [.number]),
        ("less_than_or_equal_to", [.number]),
        ("less_than_x_days_ago", [.time]), ("greater_than_x_days_ago", [.time]),
        ("less_than_x_days_in_the_future", [.time]), ("greater_than_x_days_in_the_future", [.time]),
        ("after", [.time]), ("before", [.time]),
    ]

    private static func customAttribute(
        _ filter: AttributeValue, at place: String, _ typeOf: (Name) throws -> AttributeType?
    ) throws -> Condition {
        guard let name = filter.present("custom_attribute_name") else {
            throw SendError.required("custom_attribute_name", in: place, "Add the name of the attribute.")
        }
        guard let text = name.asText, !text.isEmpty, !text.isLonger(than: Limits.charactersPerName) else {
            throw SendError.notValid(
                "\(place).custom_attribute_name", "It must be a name of 1 to \(Limits.charactersPerName) characters.")
        }
        let comparison = try word("comparison", of: filter, at: place, among: comparisons.map(\.name))
        let types = comparisons.first { $0.name == comparison }?.types ?? []
        if let type = try typeOf(Name(text)), !types.contains(type) {
            let fitting = comparisons.filter { $0.types.contains(type) }.map(\.name)
            throw SendError(
                "'\(comparison)' does not fit the type of the attribute, \(type.name)", at: "\(place).comparison",
                remedy: "Use one of \(fitting.joined(separator: ", ")).")
        }
        return .holds(
            .customAttribute(Name(text)), try test(comparison, filter.present("value"), at: "\(place).value"))
    }

    private static func test(
        _ comparison: String, _ value: AttributeValue?, at place: String
    ) throws(SendError) -> ValueTest {
        switch comparison {
        case "exists": return .isThere(nil)
        case "does_not_exist": return .isMissing
        case "equals": return .equal(try scalar(value, at: place))
        // A user without the attribute passes these three too.
        case "not_equal", "does_not_equal": return .not(.equal(try scalar(value, at: place)))
        case "does_not_include_value": return .not(.element(.equal(try scalar(value, at: place))))
        case "does_not_match_regex": return .not(.pattern(try pattern(value, at: place), isFound: true))
        case "includes_value": return .element(.equal(try scalar(value, at: place)))
        case "matches_regex": return .pattern(try pattern(value, at: place), isFound: true)
        case "after": return .time(.greater, try time(value, at: place))
        case "before": return .time(.less, try time(value, at: place))
        // Between the bound and now, or on the far side of the bound.
        case "less_than_x_days_ago":
            return .all([.sinceNow(.greater, -(try days(value, at: place))), .sinceNow(.lessOrEqual, 0)])
        case "greater_than_x_days_ago": return .sinceNow(.less, -(try days(value, at: place)))
        case "less_than_x_days_in_the_future":
            let days = try days(value, at: place)
            return .all([.sinceNow(.less, days), .sinceNow(.greaterOrEqual, 0)])
        case "greater_than_x_days_in_the_future": return .sinceNow(.greater, try days(value, at: place))
        default:
            guard let value, let number = ValueTest.Number(value) else {
                throw .notValid(place, "It must be a number.")
            }
            switch comparison {
            case "greater_than": return .number(.greater, number)
            case "greater_than_or_equal_to": return .number(.greaterOrEqual, number)
            case "less_than": return .number(.less, number)
            default: return .number(.lessOrEqual, number)
            }
        }
    }

    private static func scalar(_ value: AttributeValue?, at place: String) throws(SendError) -> AttributeValue {
        switch value {
        case .string?, .int?, .double?, .bool?: return value ?? .null
        default: throw .notValid(place, "It must be text, a number, true or false.")
        }
    }

    /// Microseconds.
    private static func days(_ value: AttributeValue?, at place: String) throws(SendError) -> Int64 {
        guard let days = value?.asInteger, (0...36_500).contains(days) else {
            throw .notValid(place, "It must be a whole number of days from 0 to 36500.")
        }
        return days * 86_400_000_000
    }

    private static func pattern(_ value: AttributeValue?, at place: String) throws(SendError) -> TextPattern {
        guard let text = value?.asText else { throw .notValid(place, "It must be a regular expression.") }
        do {
            return try TextPattern(text)
        } catch {
            throw SendError("'value' \(error.reason)", at: place, remedy: error.remedy)
        }
    }
}
