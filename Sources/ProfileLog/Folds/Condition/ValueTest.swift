/// The test that a value must pass: of an attribute, of a property of an event, a count or a time.
///
/// The one evaluator of the segments of the workspace file, of connected audiences, of `users --where` and of the
/// property filters of in-app messages (spec/device 5.1). Each has its own form of writing and reads it into a test.
///
///     ValueTest.member("city", .text("Lima")).accepts(address, at: now)
///
/// A test names the type that it compares, and a value of another type fails. A missing value fails too, except where
/// a test asks for that. `null` counts as missing.
package enum ValueTest: Hashable, Sendable {
    /// A value that exists, and has the type; nil for any type.
    case isThere(AttributeType?)
    case isMissing
    case flag(Bool)
    case number(Relation, Number)
    case time(Relation, Timestamp)
    /// A time, compared with the one so many microseconds after now, or before it (below zero).
    case sinceNow(Relation, Int64)
    case text(String)
    case otherText(String)
    /// A text that contains this one.
    case textAround(String)
    case pattern(TextPattern, isFound: Bool)
    /// Exactly this value.
    case same(AttributeValue)
    /// An array with an element that passes.
    indirect case element(ValueTest)
    /// An object whose member passes. The member of something else is missing.
    indirect case member(Name, ValueTest)
    indirect case not(ValueTest)
    case all([ValueTest])
    case any([ValueTest])

    /// The comparison of two values of one type.
    package enum Relation: Hashable, Sendable {
        case equal, notEqual, greater, greaterOrEqual, less, lessOrEqual

        @inline(__always)
        func holds<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
            switch self {
            case .equal: left == right
            case .notEqual: left != right
            case .greater: left > right
            case .greaterOrEqual: left >= right
            case .less: left < right
            case .lessOrEqual: left <= right
            }
        }
    }

    /// Compared exactly, an integer with a double too.
    package struct Number: Hashable, Sendable {
        let int: Int64?
        let double: Double

        /// Returns nil for what is no number.
        package init?(_ value: AttributeValue) {
            switch value {
            case .int(let int): (self.int, double) = (int, Double(int))
            case .double(let double): (int, self.double) = (nil, double)
            default: return nil
            }
        }

        package var value: AttributeValue { int.map { .int($0) } ?? .double(double) }

        fileprivate var decimal: ExactSum { int.map { ExactSum($0) } ?? ExactSum(double) }
    }

    /// Equal to `value`: numbers and times by what they are, all else exactly.
    package static func equal(_ value: AttributeValue) -> ValueTest {
        if let number = Number(value) { return .number(.equal, number) }
        switch value {
        case .bool(let flag): return .flag(flag)
        case .string(let text): return .text(text)
        case .date(let date): return .time(.equal, date.timestamp)
        default: return .same(value)
        }
    }

    /// Tells whether `value` passes; nil is a missing one.
    package func accepts(_ value: AttributeValue?, at now: Timestamp) -> Bool {
        switch self {
        case .not(let test): return !test.accepts(value, at: now)
        case .all(let tests): return tests.allSatisfy { $0.accepts(value, at: now) }
        case .any(let tests): return tests.contains { $0.accepts(value, at: now) }
        case .member(let key, let test): return test.accepts(value?[key], at: now)
        default: break
        }
        guard let value else { return self == .isMissing }
        switch (self, value) {
        case (.isMissing, _): return value == .null
        case (_, .null): return false
        case (.isThere(nil), _): return true
        case (.isThere(let type?), _): return AttributeType(value) == type
        case (.flag(let wanted), .bool(let flag)): return flag == wanted
        case (.number(let relation, let wanted), .int(let int)):
            guard let exact = wanted.int else { return relation.holds(int.order(to: wanted.double), 0) }
            return relation.holds(int, exact)
        case (.number(let relation, let wanted), .double(let double)):
            guard let exact = wanted.int else { return relation.holds(double, wanted.double) }
            return relation.holds(0, exact.order(to: double))
        case (.time(let relation, let wanted), .date(let date)): return relation.holds(date.timestamp, wanted)
        case (.sinceNow(let relation, let offset), .date(let date)):
            return relation.holds(date.timestamp.rawValue, now.rawValue + offset)
        case (.text(let wanted), .string(let text)): return text.hasSameBytes(as: wanted)
        case (.otherText(let other), .string(let text)): return !text.hasSameBytes(as: other)
        case (.textAround(let part), .string(let text)): return text.hasPart(part)
        case (.pattern(let pattern, let isFound), .string(let text)): return pattern.isFound(in: text) == isFound
        case (.same(let wanted), _): return value == wanted
        case (.element(let test), .array(let elements)): return elements.contains { test.accepts($0, at: now) }
        default: return false
        }
    }

    /// Tells whether a sum passes. It is compared exactly, with the decimal text of the number.
    package func accepts(_ sum: ExactSum, at now: Timestamp) -> Bool {
        switch self {
        case .not(let test): !test.accepts(sum, at: now)
        case .all(let tests): tests.allSatisfy { $0.accepts(sum, at: now) }
        case .any(let tests): tests.contains { $0.accepts(sum, at: now) }
        case .number(let relation, let wanted): relation.holds(sum, wanted.decimal)
        default: accepts(sum.value, at: now)
        }
    }
}

extension String {
    /// Tells whether the bytes of `part` are among these in one piece.
    fileprivate func hasPart(_ part: String) -> Bool {
        let (bytes, wanted) = (Array(utf8), Array(part.utf8))
        guard wanted.count <= bytes.count else { return false }
        return (0...(bytes.count - wanted.count)).contains { bytes[$0..<($0 + wanted.count)].elementsEqual(wanted) }
    }
}
