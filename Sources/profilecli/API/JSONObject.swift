internal import ProfileLog
internal import ProfileLogRequests

/// An object of an answer, its members asked for by name.
struct JSONObject {
    /// The object as it came, members in ascending order of their keys.
    let value: AttributeValue

    init(_ bytes: [UInt8]) throws {
        value = try JSON.parse(bytes, maxDepth: 100)
        guard case .object = value else { throw JSONError(.unexpectedByte, at: 0) }
    }

    /// Wraps `value`; what is not an object has no members.
    init(_ value: AttributeValue) { self.value = value }
    subscript(key: Name) -> AttributeValue { value[key] ?? .null }
    func object(_ key: Name) -> JSONObject { JSONObject(self[key]) }
    func objects(_ key: Name) -> [JSONObject] { self[key].elements.map(JSONObject.init) }

    /// The member `key` as a count; 0 if there is none.
    func count(_ key: Name) -> UInt64 { UInt64(max(0, self[key].integer ?? 0)) }
    func flag(_ key: Name) -> Bool { self[key].flag == true }

    /// The ID of the user `key`; nil if there is none.
    func id(_ key: Name) -> String? { object(key)["id"].text }
    var line: String { value.json }

    /// The elements of the lists `keys`, each as a line, and the rest of the object as the last one.
    func lines(listing keys: [Name]) -> [String] {
        let rest = AttributeValue.object(value.members.filter { !keys.contains($0.key) })
        return keys.flatMap { objects($0).map(\.line) } + [JSONObject(rest).line]
    }

    /// The item without its outcome.
    var withoutReason: JSONObject {
        JSONObject(.object(value.members.filter { $0.key.text != "reason" && $0.key.text != "flushed" }))
    }

    /// The object with `more` members, which replace those of the same key.
    func with(_ more: [AttributeValue.Member]) -> JSONObject {
        let keys = Set(more.map(\.key))
        return JSONObject(
            AttributeValue.object(sorting: value.members.filter { !keys.contains($0.key) } + more) ?? value)
    }
}

extension AttributeValue {
    var text: String? { if case .string(let text) = self { text } else { nil } }
    var integer: Int64? { if case .int(let number) = self { number } else { nil } }
    var flag: Bool? { if case .bool(let flag) = self { flag } else { nil } }
    var elements: [AttributeValue] { if case .array(let values) = self { values } else { [] } }
    var members: [Member] { if case .object(let members) = self { members } else { [] } }

    /// The value in a cell: text as it is, all else as JSON, nothing for null.
    var cell: String {
        switch self {
        case .null: ""
        case .string(let text): text
        default: json
        }
    }

    /// As `cell`, for a value of a profile: an empty text is `""`, as in a history.
    var valueCell: String { self == .string("") ? json : cell }
}

extension JSONWriter {
    static func object(_ write: (inout JSONWriter) throws -> Void) rethrows -> String {
        String(decoding: try bytes(ofObject: write), as: UTF8.self)
    }

    /// Writes a text member, unless there is none.
    mutating func member(_ key: String, _ text: String?) { if let text { member(key, .string(text)) } }

    mutating func member(_ key: String, _ value: AttributeValue) {
        self.key(key)
        self.value(value)
    }

    mutating func member(_ key: String, _ flag: Bool) { member(key, .bool(flag)) }
    mutating func member(_ key: String, _ number: Double) { member(key, .double(number)) }
    mutating func member(_ key: String, _ number: some BinaryInteger) { member(key, .int(Int64(clamping: number))) }
    mutating func member(_ key: String, _ texts: [String]) { member(key, .array(texts.map { .string($0) })) }
}
