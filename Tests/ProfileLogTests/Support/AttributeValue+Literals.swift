public import ProfileLog

/// Values as they stand in a text: `["level": 3, "tags": ["a", true]]`.
extension AttributeValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Makes text.
    public init(stringLiteral value: String) { self = .string(value) }

    /// Makes an integer.
    public init(integerLiteral value: Int64) { self = .int(value) }

    /// Makes a double.
    public init(floatLiteral value: Double) { self = .double(value) }

    /// Makes a truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }

    /// Makes an array.
    public init(arrayLiteral elements: AttributeValue...) { self = .array(elements) }

    /// Makes an object.
    public init(dictionaryLiteral elements: (Name, AttributeValue)...) {
        guard let object = AttributeValue.object(sorting: elements.map { .init($0, $1) }) else {
            preconditionFailure("A key is given twice.")
        }
        self = object
    }
}
