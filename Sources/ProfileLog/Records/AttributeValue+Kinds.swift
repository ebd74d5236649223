extension AttributeValue {
    /// The text, if it is some.
    package var asText: String? { if case .string(let text) = self { text } else { nil } }

    /// The truth value, if it is one.
    package var asFlag: Bool? { if case .bool(let flag) = self { flag } else { nil } }

    /// The number, if it is one, whole or not.
    package var asNumber: Double? {
        switch self {
        case .int(let integer): Double(integer)
        case .double(let double): double
        default: nil
        }
    }

    /// Below zero, zero or above it, as this number is less than, equal to or greater than `other`; nil if one is no
    /// number. Integers and doubles are compared exactly.
    package func numberOrder(to other: AttributeValue) -> Int? {
        switch (self, other) {
        case (.int(let left), .int(let right)): left < right ? -1 : left > right ? 1 : 0
        case (.int(let left), .double(let right)): left.order(to: right)
        case (.double(let left), .int(let right)): -right.order(to: left)
        case (.double(let left), .double(let right)): left < right ? -1 : left > right ? 1 : 0
        default: nil
        }
    }

    /// The number, if it is a whole one: `2` and `2.0`.
    package var asInteger: Int64? {
        switch self {
        case .int(let integer): integer
        case .double(let double): Int64(exactly: double)
        default: nil
        }
    }

    /// The elements, if it is an array.
    package var asArray: [AttributeValue]? { if case .array(let values) = self { values } else { nil } }

    /// The member `key`, if this is an object that has it and it is not `null`.
    package func present(_ key: Name) -> AttributeValue? {
        guard let value = self[key], value != .null else { return nil }
        return value
    }

    /// Bytes that it takes as compact JSON.
    package var jsonByteCount: Int {
        switch self {
        case .string(let text): return text.utf8.count + 2
        default:
            var writer = JSONWriter()
            writer.value(self)
            return writer.bytes.count
        }
    }
}
