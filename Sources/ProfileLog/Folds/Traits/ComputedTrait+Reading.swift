/// Traits as they are declared, in the workspace file and in JSON.
extension ComputedTrait {
    /// The most that a store may have.
    package static let most = 100

    private static let keys = ["name", "function", "event", "purchase", "purchases", "app", "property", "within"]
    private static let sources = ["event", "purchase", "purchases", "app"]

    /// Reads a list of declarations.
    package static func list(_ list: AttributeValue) throws(DocumentError) -> [ComputedTrait] {
        guard let elements = list.asArray else {
            throw DocumentError(place: "", reason: "must be a list", remedy: "Begin each trait with `- name:`.")
        }
        guard elements.count <= most else {
            throw DocumentError(place: "", reason: "has more than \(most) traits", remedy: "Shorten it.")
        }
        var traits: [ComputedTrait] = []
        for (index, element) in elements.enumerated() {
            let trait = try ComputedTrait(element, at: "[\(index)]")
            if traits.contains(where: { $0.name == trait.name }) {
                throw DocumentError(
                    place: "[\(index)].name", reason: "is the name of another trait too",
                    remedy: "Give each a name of its own.")
            }
            traits.append(trait)
        }
        return traits
    }

    private init(_ declared: AttributeValue, at place: String) throws(DocumentError) {
        guard case .object(let members) = declared else {
            throw DocumentError(place: place, reason: "must be a mapping", remedy: "Give it a name and a function.")
        }
        func refusal(_ key: String, _ reason: String, _ remedy: String) -> DocumentError {
            DocumentError(place: key.isEmpty ? place : "\(place).\(key)", reason: reason, remedy: remedy)
        }
        func unknown(_ key: String, _ reason: String, _ word: String, _ known: [String], _ what: String)
            -> DocumentError
        {
            DocumentError(place: "\(place).\(key)", reason: reason, unknown: word, among: known, called: what)
        }
        for member in members where !Self.keys.contains(member.key.text) {
            throw unknown(member.key.text, "is not known", member.key.text, Self.keys, "keys here")
        }
        func text(_ key: Name) throws(DocumentError) -> String? {
            guard let value = declared.present(key) else { return nil }
            guard let text = value.asText, !text.isEmpty else { throw refusal(key.text, "must be text", "Write text.") }
            guard !text.isLonger(than: Limits.charactersPerName) else {
                throw refusal(key.text, "is longer than \(Limits.charactersPerName) characters", "Shorten it.")
            }
            return text
        }
        func required(_ key: Name) throws(DocumentError) -> String {
            guard let text = try text(key) else { throw refusal("", "has no `\(key.text)`", "Add `\(key.text)`.") }
            return text
        }
        name = Name(try required("name"))
        let word = try required("function")
        guard let function = Function(rawValue: word) else {
            throw unknown("function", "is no function", word, Function.allCases.map(\.rawValue), "functions")
        }
        self.function = function
        let given = Self.sources.filter { declared.present(Name($0)) != nil }
        guard given.count == 1, let key = given.first else {
            throw refusal(
                "", "must have exactly one of \(Self.sources.joined(separator: ", "))",
                given.isEmpty ? "Add one of them." : "Keep one of them.")
        }
        let what = try required(Name(key))
        switch (key, what) {
        case ("event", _): source = .event(Name(what))
        case ("purchase", _): source = .purchase(Name(what))
        case ("purchases", "all"): source = .purchases
        case ("app", "sessions"): source = .sessions
        case ("app", "launches"): source = .launches
        case ("purchases", _): throw refusal(key, "must be `all`", "Write `purchase: PRODUCT` for one product.")
        default:
            throw unknown(key, "must be `sessions` or `launches`", what, ["sessions", "launches"], "words")
        }
        property = try text("property").map { Name($0) }
        switch (function, property, source) {
        case (_, _?, .sessions), (_, _?, .launches):
            throw refusal("property", "is none of sessions and launches", "Leave it out.")
        case (.sum, nil, _), (.mostFrequent, nil, _), (.unique, nil, _):
            throw refusal("", "has no `property`, which \(word) needs", "Add `property`.")
        default: break
        }
        guard let within = try text("within") else {
            window = nil
            return
        }
        guard let span = DurationText.parse(within)?.components.seconds, (1...longestSeconds).contains(span) else {
            throw refusal(
                "within", "must be a span from 1s to 36500d", "Write a whole number and s, m, h or d, as in 30d.")
        }
        window = span * 1_000_000
    }

    /// The declaration: what ``list(_:)`` reads.
    package var declaration: AttributeValue {
        var members: [AttributeValue.Member] = [
            .init("name", .string(name.text)), .init("function", .string(function.rawValue)),
        ]
        switch source {
        case .event(let name): members.append(.init("event", .string(name.text)))
        case .purchase(let product): members.append(.init("purchase", .string(product.text)))
        case .purchases: members.append(.init("purchases", .string("all")))
        case .sessions: members.append(.init("app", .string("sessions")))
        case .launches: members.append(.init("app", .string("launches")))
        }
        if let property { members.append(.init("property", .string(property.text))) }
        if let window { members.append(.init("within", .string(Self.text(span: window)))) }
        return AttributeValue.object(sorting: members) ?? .null
    }

    private static func text(span: Int64) -> String {
        let seconds = span / 1_000_000
        let unit = [(Int64(86_400), "d"), (3600, "h"), (60, "m")].first { seconds % $0.0 == 0 } ?? (1, "s")
        return "\(seconds / unit.0)\(unit.1)"
    }
}
