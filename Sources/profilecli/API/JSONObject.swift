internal import ProfileLog

/// An object of an answer, its members asked for by name.
struct JSONObject {
    /// The object as it came, members in ascending order of their keys.
    let value: AttributeValue

    /// Reads `bytes`.
    init(_ bytes: [UInt8]) throws {
        value = try JSON.parse(bytes, maxDepth: 100)
        guard case .object = value else { throw JSONError(.unexpectedByte, at: 0) }
    }

    /// Wraps `value`; what is no object has no members.
    init(_ value: AttributeValue) { self.value = value }

    /// The member `key`; null if there is none.
    subscript(key: Name) -> AttributeValue { value[key] ?? .null }

    /// The member `key` as an object.
    func object(_ key: Name) -> JSONObject { JSONObject(self[key]) }

    /// The objects of the array `key`.
    func objects(_ key: Name) -> [JSONObject] { self[key].elements.map(JSONObject.init) }

    /// The object as one line.
    var line: String { value.json }
}

extension AttributeValue {
    /// The text, if it is text.
    var text: String? { if case .string(let text) = self { text } else { nil } }

    /// The number, if it is a whole one.
    var integer: Int64? { if case .int(let number) = self { number } else { nil } }

    /// The truth, if it is one.
    var flag: Bool? { if case .bool(let flag) = self { flag } else { nil } }

    /// The elements, if it is an array.
    var elements: [AttributeValue] { if case .array(let values) = self { values } else { [] } }

    /// The members, if it is an object.
    var members: [Member] { if case .object(let members) = self { members } else { [] } }

    /// The value in a cell: text as it is, all else as JSON, nothing for null.
    var cell: String {
        switch self {
        case .null: ""
        case .string(let text): text
        default: json
        }
    }
}
