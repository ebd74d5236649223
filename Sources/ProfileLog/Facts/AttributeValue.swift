/// The value of an attribute, of a property, or of something inside one.
///
/// Integers and doubles stay distinct: `1` and `1.0` survive a round trip. Text is compared by its bytes.
public enum AttributeValue: Codable, Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    /// A number that is never NaN and never infinite: `Validation` refuses these.
    case double(Double)
    case string(String)
    case date(OccurredAt)
    case array([AttributeValue])
    /// Members, each key once, in ascending order of the keys' bytes. They are stored and read in this order.
    case object([Member])

    /// A key of an object, and its value.
    public struct Member: Codable, Hashable, Sendable {
        /// The key.
        public var key: Name
        /// The value under the key.
        public var value: AttributeValue

        /// Makes the member `key`: `value`.
        public init(_ key: Name, _ value: AttributeValue) {
            self.key = key
            self.value = value
        }
    }

    /// An object of `members` in any order, or nil if a key appears twice.
    package static func object(sorting members: [Member]) -> AttributeValue? {
        let sorted = members.sorted { $0.key < $1.key }
        for (left, right) in zip(sorted, sorted.dropFirst()) where left.key == right.key { return nil }
        return .object(sorted)
    }

    /// The member `key` of an object; nil if there is no such member, or if the value is not an object.
    public subscript(key: Name) -> AttributeValue? {
        guard case .object(let members) = self else { return nil }
        return members.value(of: key)
    }
}

extension AttributeValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    /// Makes text.
    public init(stringLiteral text: String) { self = .string(text) }
    /// Makes an integer.
    public init(integerLiteral number: Int64) { self = .int(number) }
    /// Makes a double.
    public init(floatLiteral number: Double) { self = .double(number) }
    /// Makes a Boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension AttributeValue: Hashable {
    /// Tells whether both are the same, text compared by its bytes.
    public static func == (left: AttributeValue, right: AttributeValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.int(let left), .int(let right)): left == right
        case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.date(let left), .date(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    /// Feeds in what `==` compares.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .int(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value.bitPattern)
        case .string(let value): hasher.combine(Name(value))
        case .date(let value): hasher.combine(value)
        case .array(let values): hasher.combine(values)
        case .object(let members): hasher.combine(members)
        }
    }
}
