public import ProfileLog

/// Values as they stand in a text: `["level": 3, "tags": ["a", true]]`.
extension AttributeValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
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
