/// The data types that a custom attribute can have (spec/rest-api 1.5). The numbers are stored in states.
package enum AttributeType: UInt8, Sendable, CaseIterable, OrderedByNumber {
    case boolean = 1
    /// Whole or not: `1` and `1.5` are of one type.
    case number = 2
    case string = 3
    case time = 4
    case array = 5
    case object = 6
    case objectArray = 7

    /// The type's name in the REST API.
    package var name: String {
        switch self {
        case .boolean: "Boolean"
        case .number: "Number"
        case .string: "String"
        case .time: "Time"
        case .array: "Array"
        case .object: "Object"
        case .objectArray: "Object Array"
        }
    }

    /// The type of `value`; nil for `null`, and for an empty array, which may be of either kind.
    package init?(_ value: AttributeValue) {
        switch value {
        case .null: return nil
        case .bool: self = .boolean
        case .int, .double: self = .number
        case .string: self = .string
        case .date: self = .time
        case .object: self = .object
        case .array(let elements):
            guard let first = elements.first else { return nil }
            if case .object = first { self = .objectArray } else { self = .array }
        }
    }

    /// The type that an attribute must have for `operation` to work on it; nil if that does not matter.
    package init?(_ operation: AttributeOperation) {
        switch operation {
        case .set(let value): self.init(value)
        case .unset: return nil
        case .increment: self = .number
        case .arrayAdd, .arrayRemove: self = .array
        case .objectMerge: self = .object
        case .objectsAdd, .objectsUpdate, .objectsRemove: self = .objectArray
        }
    }

    /// The type's name in files: `object_array`.
    package var word: String { name.lowercased().replacing(" ", with: "_") }

    /// Tells whether `operation` works on an attribute of this type.
    package func allows(_ operation: AttributeOperation) -> Bool {
        if operation == .set(.array([])) { return self == .array || self == .objectArray }
        guard let needed = AttributeType(operation) else { return true }
        return needed == self
    }

    /// Converts a value of another type to this one, if it is forced; nil if it makes nothing of it.
    package func coerced(_ value: AttributeValue) -> AttributeValue? {
        switch (self, value) {
        case (.boolean, .int(1)), (.boolean, .string("1")), (.boolean, .string("true")), (.boolean, .string("t")):
            return .bool(true)
        case (.boolean, .int(0)), (.boolean, .string("0")), (.boolean, .string("false")), (.boolean, .string("f")):
            return .bool(false)
        case (.number, .string(let text)):
            if let integer = Int64(text) { return .int(integer) }
            let isPlain = text.utf8.allSatisfy { (48...57).contains($0) || "+-.eE".utf8.contains($0) }
            return isPlain ? Double(text).flatMap { $0.isFinite ? .double($0) : nil } : nil
        case (.string, .int(let number)): return .string(String(number))
        case (.string, .double(let number)): return .string(number.description)
        case (.string, .bool(let flag)): return .string(flag ? "true" : "false")
        default: return nil
        }
    }
}
