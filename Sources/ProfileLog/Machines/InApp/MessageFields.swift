/// The members of an object whose keys are known. A wrong key, type or value is an error with the path to it.
struct MessageFields {
    private let place: String
    private let members: [AttributeValue.Member]

    init(
        _ members: [AttributeValue.Member], at place: String, _ known: [String]
    ) throws(DocumentError) {
        self.place = place
        self.members = members
        for (index, member) in members.enumerated() {
            guard known.contains(member.key.text) else {
                throw DocumentError(
                    place: path(member.key.text), reason: "is not known", unknown: member.key.text, among: known,
                    called: "keys here")
            }
            if members[..<index].contains(where: { $0.key == member.key }) {
                throw DocumentError(
                    place: path(member.key.text), reason: "is given twice", remedy: "Keep one of the two.")
            }
        }
    }

    init(_ value: AttributeValue, at place: String, _ known: [String]) throws(DocumentError) {
        guard case .object(let members) = value else {
            throw DocumentError(place: place, reason: "must be an object", remedy: "Give keys and values.")
        }
        try self.init(members, at: place, known)
    }

    func path(_ key: String) -> String { place.isEmpty ? key : "\(place).\(key)" }

    /// Returns nil for a missing member and for null.
    func value(_ key: Name) -> AttributeValue? {
        guard let value = members.first(where: { $0.key == key })?.value, value != .null else { return nil }
        return value
    }

    private func refusal(_ key: Name, _ reason: String) -> DocumentError {
        DocumentError(place: path(key.text), reason: reason, remedy: "Correct the value.")
    }

    func required(_ key: Name) throws(DocumentError) -> AttributeValue {
        guard let value = value(key) else {
            throw DocumentError(place: path(key.text), reason: "is missing", remedy: "Add it.")
        }
        return value
    }

    /// The value as `convert` reads it; nil for a missing one. `what` says what it must be.
    private func read<Value>(
        _ key: Name, _ what: String, _ convert: (AttributeValue) -> Value?
    ) throws(DocumentError) -> Value? {
        guard let given = value(key) else { return nil }
        guard let value = convert(given) else { throw refusal(key, "must be \(what)") }
        return value
    }

    func text(_ key: Name) throws(DocumentError) -> String? { try read(key, "text", \.asText) }

    func name(_ key: Name) throws(DocumentError) -> Name {
        guard case .string(let text) = try required(key) else { throw refusal(key, "must be text") }
        return Name(text)
    }

    func flag(_ key: Name) throws(DocumentError) -> Bool? { try read(key, "true or false", \.asFlag) }

    func integer(_ key: Name) throws(DocumentError) -> Int? {
        try read(key, "a whole number") { if case .int(let number) = $0 { Int(exactly: number) } else { nil } }
    }

    /// A span of time: a number of seconds, or text as in `90s` or `1d`.
    func interval(_ key: Name) throws(DocumentError) -> Int? {
        guard case .string(let text)? = value(key) else { return try integer(key) }
        guard let seconds = DurationText.parse(text)?.components.seconds else {
            throw DocumentError(
                place: path(key.text), reason: "must be a span of time",
                remedy: "Give seconds, or a number followed by s, m, h or d, as in 90s.")
        }
        return Int(clamping: seconds)
    }

    func number(_ key: Name) throws(DocumentError) -> Double? { try read(key, "a number", \.asNumber) }

    /// Text in ISO 8601, a date, or seconds since 1970.
    func time(_ key: Name) throws(DocumentError) -> Timestamp? {
        switch value(key) {
        case nil: return nil
        case .date(let date)?: return date.timestamp
        case .string(let text)?:
            do throws(TimeError) {
                return try OccurredAt(reading: text).timestamp
            } catch {
                if let remedy = error.remedy {
                    throw DocumentError(place: path(key.text), reason: error.reason, remedy: remedy)
                }
            }
        case .int(let seconds)?: if let date = OccurredAt(seconds: seconds) { return date.timestamp }
        default: break
        }
        throw refusal(key, "must be a time in ISO 8601 or in seconds since 1970")
    }

    func word<Word: RawRepresentable & CaseIterable>(
        _ key: Name, _ type: Word.Type
    ) throws(DocumentError) -> Word? where Word.RawValue == String {
        guard let text = try text(key) else { return nil }
        if let word = Word(rawValue: text) { return word }
        throw unknown(text, at: key, among: Word.allCases.map(\.rawValue))
    }

    /// The error for a word that is none of `known`, with the nearest of them.
    func unknown(_ text: String, at key: Name, among known: [String]) -> DocumentError {
        DocumentError(
            place: path(key.text), reason: "is not a known word", unknown: text, among: known, called: "words")
    }

    func object(_ key: Name) throws(DocumentError) -> [AttributeValue.Member] {
        try read(key, "an object") { if case .object(let members) = $0 { members } else { nil } } ?? []
    }

    /// The elements with their paths.
    func list(_ key: Name) throws(DocumentError) -> [(place: String, value: AttributeValue)] {
        let values = try read(key, "a list", \.asArray) ?? []
        return values.enumerated().map { ("\(path(key.text))[\($0)]", $1) }
    }
}
