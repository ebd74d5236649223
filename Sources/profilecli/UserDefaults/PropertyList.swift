internal import ProfileLog

/// A value of a property list, its type as the file has it.
enum PropertyList: Hashable {
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case date(Timestamp)
    case data([UInt8])
    case array([PropertyList])
    case dictionary([Name: PropertyList])
    /// A keyed archive's reference to one of its objects.
    case reference(Int)
    /// What has no place in a profile, in words.
    case other(String)

    /// The member `key` of a dictionary; nil if there is none, or if this is no dictionary.
    subscript(key: Name) -> PropertyList? {
        if case .dictionary(let members) = self { members[key] } else { nil }
    }

    /// The type in words, with its article.
    var type: String {
        switch self {
        case .bool: "a boolean"
        case .integer: "an integer"
        case .real: "a real"
        case .string: "a string"
        case .date: "a date"
        case .data: "data"
        case .array: "an array"
        case .dictionary: "a dictionary"
        case .reference: "a reference"
        case .other(let words): words
        }
    }
}
