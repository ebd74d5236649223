/// The test of one property of an event (spec/device 5.1).
///
/// In-app messages know no nested filters: `key` is always a key of the event's own properties.
package struct PropertyFilter: Hashable, Sendable {
    package let key: Name
    package let type: PropertyType
    package let comparator: Comparator
    /// The value that the property is compared with; nil for `exists` and `doesNotExist`.
    package let value: AttributeValue?

    /// The type that the property must have.
    package enum PropertyType: String, Sendable, CaseIterable {
        case boolean, number, string
        /// Known to the mobile SDKs only.
        case date
    }

    /// The comparison of the property. The numbers are those of the trigger's JSON.
    package enum Comparator: Int, Sendable, CaseIterable {
        case equals = 1
        case notEqual = 2
        case greater = 3
        case greaterOrEqual = 4
        case less = 5
        case lessOrEqual = 6
        /// A case-insensitive search.
        case matchesRegex = 10
        case exists = 11
        case doesNotExist = 12
        case doesNotMatchRegex = 17

        /// The types that it compares (spec/device 5.1; for dates the project decides: as numbers).
        var types: [PropertyType] {
            switch self {
            case .equals, .exists, .doesNotExist: PropertyType.allCases
            case .notEqual: [.number, .string, .date]
            case .greater, .greaterOrEqual, .less, .lessOrEqual: [.number, .date]
            case .matchesRegex, .doesNotMatchRegex: [.string]
            }
        }

        var hasValue: Bool { self != .exists && self != .doesNotExist }
    }

    /// Comparators that the format lists and no in-app message uses (spec/device 5.1).
    private static let unused = [
        7: "in", 8: "not in", 9: "all", 13: "within a circle", 14: "not within a circle", 15: "date within less than",
        16: "date within more than", 18: "within a polygon", 19: "not within a polygon",
    ]

    /// Makes the filter with the comparator of this number. A date may be given as text in ISO 8601 or in seconds since
    /// 1970. Errors name the field.
    package init(
        _ key: Name, _ type: PropertyType, comparator code: Int, _ value: AttributeValue? = nil
    ) throws(DocumentError) {
        guard let comparator = Comparator(rawValue: code) else {
            let name = Self.unused[code].map { " (\($0)) is not used by in-app messages" } ?? " is not known"
            let known = Comparator.allCases.map { "\($0.rawValue)" }.joined(separator: ", ")
            throw DocumentError(
                place: "comparator", reason: "\(code)\(name)", remedy: "The comparators are \(known).")
        }
        guard comparator.types.contains(type) else {
            let types = comparator.types.map(\.rawValue).joined(separator: ", ")
            throw DocumentError(
                place: "comparator", reason: "\(code) does not compare a \(type.rawValue)",
                remedy: "It compares \(types).")
        }
        try InAppMessage.check(key, at: "property_key")
        self.key = key
        self.type = type
        self.comparator = comparator
        self.value = comparator.hasValue ? try Self.value(value, type, comparator) : nil
    }

    private static func value(
        _ value: AttributeValue?, _ type: PropertyType, _ comparator: Comparator
    ) throws(DocumentError) -> AttributeValue {
        switch (type, value) {
        case (.boolean, .bool(let flag)): return .bool(flag)
        case (.number, .int(let number)): return .int(number)
        case (.number, .double(let number)): return .double(number)
        case (.date, .date(let date)): return .date(date)
        case (.date, .string(let text)):
            do throws(TimeError) {
                return .date(try OccurredAt(reading: text))
            } catch {
                if let remedy = error.remedy {
                    throw DocumentError(place: "property_value", reason: error.reason, remedy: remedy)
                }
            }
        case (.date, .int(let seconds)): if let date = OccurredAt(seconds: seconds) { return .date(date) }
        case (.string, .string(let text)):
            if comparator != .equals, comparator != .notEqual { try checkPattern(text) }
            return .string(text)
        default: break
        }
        throw DocumentError(
            place: "property_value", reason: "is no \(type.rawValue)",
            remedy: "Give a value of the `property_type`, or change the type.")
    }

    private static func checkPattern(_ text: String) throws(DocumentError) {
        do {
            _ = try TextPattern(text)
        } catch {
            throw DocumentError(place: "property_value", reason: error.reason, remedy: error.remedy)
        }
    }
}

// MARK: - Test

extension PropertyFilter {
    /// The test of an event's properties, as one object.
    var test: ValueTest { .member(key, valueTest) }

    private var valueTest: ValueTest {
        switch (comparator, value) {
        case (.exists, _): return .isThere(type.attributeType)
        case (.doesNotExist, _): return .isMissing
        case (.matchesRegex, .string(let text)?), (.doesNotMatchRegex, .string(let text)?):
            // A pattern that is refused matches nothing; the filter was not made with one.
            guard let pattern = try? TextPattern(text) else { return .any([]) }
            return .pattern(pattern, isFound: comparator == .matchesRegex)
        case (_, .bool(let flag)?): return .flag(flag)
        case (_, .string(let text)?): return comparator == .equals ? .text(text) : .otherText(text)
        case (_, .date(let date)?): return relation.map { .time($0, date.timestamp) } ?? .any([])
        case (_, let value?):
            guard let relation, let number = ValueTest.Number(value) else { return .any([]) }
            return .number(relation, number)
        case (_, nil): return .any([])
        }
    }

    private var relation: ValueTest.Relation? {
        switch comparator {
        case .equals: .equal
        case .notEqual: .notEqual
        case .greater: .greater
        case .greaterOrEqual: .greaterOrEqual
        case .less: .less
        case .lessOrEqual: .lessOrEqual
        case .matchesRegex, .exists, .doesNotExist, .doesNotMatchRegex: nil
        }
    }
}

extension PropertyFilter.PropertyType {
    var attributeType: AttributeType {
        switch self {
        case .boolean: .boolean
        case .number: .number
        case .string: .string
        case .date: .time
        }
    }
}

extension OccurredAt {
    /// The moment this many seconds after 1970; nil if no such time can be stored.
    init?(seconds: Int64) {
        let (microseconds, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000)
        self.init(Timestamp(rawValue: microseconds))
        if isTooLarge || !isExpressible { return nil }
    }
}
