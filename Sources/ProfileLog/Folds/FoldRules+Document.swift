/// Rules as a document: the same in an event, a request and a file (docs/workspace.md).
///
/// ```json
/// {"attribute_policies": {"plan": "last_occurred", "visits": "counter"},
///  "blocklist": {"attributes": ["iban"], "events": ["debug"]}, "attribute_types": {"size": "number"}}
/// ```
extension FoldRules {
    /// The parts of a document.
    package enum Part: String, CaseIterable, Sendable {
        case policies = "attribute_policies"
        case blocklist
        case types = "attribute_types"
    }

    /// Policies, or entries of a blocklist: as many as Braze allows in a blocklist.
    package static let mostEntries = 300

    /// The rules as a document, without empty parts.
    package var document: [AttributeValue.Member] {
        func list(_ names: Set<Name>) -> AttributeValue { .array(names.sorted().map { .string($0.text) }) }
        func object<Value>(_ entries: [Name: Value], _ word: (Value) -> String) -> AttributeValue {
            .object(entries.sorted { $0.key < $1.key }.map { .init($0.key, .string(word($0.value))) })
        }
        var members: [AttributeValue.Member] = []
        if !policies.isEmpty { members.append(.init("attribute_policies", object(policies, \.rawValue))) }
        if !forcedTypes.isEmpty { members.append(.init("attribute_types", object(forcedTypes, \.word))) }
        if !blockedAttributes.isEmpty || !blockedEvents.isEmpty {
            members.append(
                .init(
                    "blocklist",
                    .object([.init("attributes", list(blockedAttributes)), .init("events", list(blockedEvents))])))
        }
        return members
    }

    /// Reads a document with `parts` and nothing else.
    package init(
        _ document: AttributeValue, parts: [Part] = Part.allCases
    ) throws(DocumentError) {
        self.init()
        for (key, value) in try Self.members(document, "") {
            guard let part = parts.first(where: { $0.rawValue == key.text }) else {
                throw DocumentError(
                    place: key.text, reason: "is not known", unknown: key.text, among: parts.map(\.rawValue),
                    called: "keys")
            }
            switch part {
            case .policies: policies = try Self.policies(value)
            case .blocklist: try readBlocklist(value)
            case .types: forcedTypes = try Self.types(value)
            }
        }
    }

    /// The rules that an event holds. What this program does not know of them is skipped.
    package init(stored document: [AttributeValue.Member]) {
        self.init()
        for member in document {
            guard case .object(let entries) = member.value else { continue }
            for entry in entries {
                switch (Part(rawValue: member.key.text), entry.value) {
                case (.policies, .string(let word)):
                    // Observers do not run in an initializer.
                    let policy = AttributePolicy(rawValue: word)
                    if policy != .lastArrival { policies[entry.key] = policy }
                case (.types, .string(let word)):
                    forcedTypes[entry.key] = AttributeType.allCases.first { $0.word == word }
                case (.blocklist, .array(let names)):
                    let names = Set(names.compactMap { if case .string(let text) = $0 { Name(text) } else { nil } })
                    if entry.key == "attributes" { blockedAttributes = names }
                    if entry.key == "events" { blockedEvents = names }
                default: break
                }
            }
        }
    }

    // MARK: - Parts

    private static func policies(_ value: AttributeValue) throws(DocumentError) -> [Name: AttributePolicy] {
        let place = Part.policies.rawValue
        var policies: [Name: AttributePolicy] = [:]
        for (name, value) in try members(value, place) {
            let place = "\(place).\(name.text)"
            let words = AttributePolicy.allCases.map(\.rawValue)
            let word = try text(value, place)
            guard let policy = AttributePolicy(rawValue: word) else {
                throw DocumentError(
                    place: place, reason: "is no policy", unknown: word, among: words, called: "policies")
            }
            if let attribute = StandardAttribute(name: name.text), !policy.fits(attribute) {
                let fitting = AttributePolicy.allCases.filter { $0.fits(attribute) }.map(\.rawValue)
                throw DocumentError(
                    place: place, reason: "is a standard attribute, which cannot have the policy \(word)",
                    remedy: "It can have \(fitting.joined(separator: ", ")).")
            }
            let checkedName = try checked(name, place)
            if policy != .lastArrival { policies[checkedName] = policy }
        }
        try checkCount(policies.count, place)
        return policies
    }

    private mutating func readBlocklist(_ value: AttributeValue) throws(DocumentError) {
        for (key, value) in try Self.members(value, Part.blocklist.rawValue) {
            let place = "\(Part.blocklist.rawValue).\(key.text)"
            guard ["attributes", "events"].contains(key.text) else {
                throw DocumentError(
                    place: place, reason: "is not known", unknown: key.text, among: ["attributes", "events"],
                    called: "keys")
            }
            guard case .array(let elements) = value else {
                throw DocumentError(place: place, reason: "must be a list", remedy: "Write a list of names.")
            }
            var names: Set<Name> = []
            for (index, element) in elements.enumerated() {
                let name = try Self.checked(Name(try Self.text(element, "\(place)[\(index)]")), "\(place)[\(index)]")
                if key == "attributes", StandardAttribute(name: name.text) != nil {
                    throw Self.standard("\(place)[\(index)]", "can be blocked")
                }
                names.insert(name)
            }
            try Self.checkCount(names.count, place)
            if key == "attributes" { blockedAttributes = names } else { blockedEvents = names }
        }
    }

    private static func types(_ value: AttributeValue) throws(DocumentError) -> [Name: AttributeType] {
        let place = Part.types.rawValue
        var types: [Name: AttributeType] = [:]
        for (name, value) in try members(value, place) {
            let place = "\(place).\(name.text)"
            if StandardAttribute(name: name.text) != nil { throw standard(place, "are given types") }
            let word = try text(value, place)
            guard let type = AttributeType.allCases.first(where: { $0.word == word }) else {
                throw DocumentError(
                    place: place, reason: "is no type", unknown: word, among: AttributeType.allCases.map(\.word),
                    called: "types")
            }
            types[try checked(name, place)] = type
        }
        try checkCount(types.count, place)
        return types
    }

    // MARK: - Values

    private static func members(
        _ value: AttributeValue, _ place: String
    ) throws(DocumentError) -> [(key: Name, value: AttributeValue)] {
        switch value {
        case .object(let members): return members.map { ($0.key, $0.value) }
        case .null: return []
        default:
            throw DocumentError(
                place: place, reason: "must be an object", remedy: "Write names with their values below it.")
        }
    }

    private static func text(_ value: AttributeValue, _ place: String) throws(DocumentError) -> String {
        guard case .string(let text) = value, !text.isEmpty else {
            throw DocumentError(place: place, reason: "must be text", remedy: "Write one word, in quotes if need be.")
        }
        return text
    }

    private static func checked(_ name: Name, _ place: String) throws(DocumentError) -> Name {
        guard !name.text.isEmpty, !name.text.isLonger(than: Limits.charactersPerName) else {
            throw DocumentError(
                place: place, reason: "must have 1 to \(Limits.charactersPerName) characters",
                remedy: "No such name is stored.")
        }
        return name
    }

    private static func checkCount(_ count: Int, _ place: String) throws(DocumentError) {
        guard count <= mostEntries else {
            throw DocumentError(place: place, reason: "has more than \(mostEntries) names", remedy: "Shorten it.")
        }
    }

    private static func standard(_ place: String, _ can: String) -> DocumentError {
        DocumentError(
            place: place, reason: "is a standard attribute", remedy: "Only custom attributes \(can); remove it.")
    }
}
