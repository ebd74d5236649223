internal import ProfileLogRequests
internal import Yams

/// A place in the workspace file. What does not stand there as it must is an error that names line and key.
struct WorkspaceNode {
    private let node: Node
    private let place: String
    /// Where the key is; a value without a place of its own is there too.
    private let line: Int

    /// The file's root; nil for a file without content.
    init?(yaml: String) throws(WorkspaceError) {
        let root: Node?
        do {
            root = try compose(yaml: yaml)
        } catch {
            throw Self.error(error)
        }
        guard let root, !(root.scalar.map { $0.style == .plain && $0.string.isEmpty } ?? false) else { return nil }
        self.init(root, place: "", line: root.mark?.line ?? 1)
    }

    private init(_ node: Node, place: String, line: Int) {
        self.node = node
        self.place = place
        self.line = node.mark?.line ?? line
    }

    /// What the parser has against the text, without the text.
    private static func error(_ error: any Error) -> WorkspaceError {
        let remedy =
            "Correct the YAML: indent by spaces, put a space behind each colon, and quote text with signs in it."
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            return WorkspaceError(line: mark.line, place: "", reason: "is no YAML: \(problem)", remedy: remedy)
        case .duplicatedKeysInMapping(let keys, let context):
            let key = keys.min().map { "\($0)" } ?? "a key"
            return WorkspaceError(
                line: context.mark.line, place: APIProblem.shown(key), reason: "stands twice", remedy: keepOne)
        default:
            return WorkspaceError(line: 1, place: "", reason: "is no YAML", remedy: remedy)
        }
    }

    private static let keepOne = "Keep one of the two."

    func refusal(_ reason: String, remedy: String) -> WorkspaceError {
        WorkspaceError(line: line, place: place, reason: reason, remedy: remedy)
    }

    // MARK: - Mappings and sequences

    /// The members, each of which must be one of `known`.
    func fields(_ known: [String]) throws(WorkspaceError) -> WorkspaceFields {
        var fields: [String: WorkspaceNode] = [:]
        for (key, value) in try members() {
            guard known.contains(key.text) else {
                let nearest = NearestNames(to: key.text, among: known)
                let remedy =
                    nearest.close.first.map { "Did you mean `\($0)`?" }
                    ?? "The keys here are \(known.joined(separator: ", "))."
                throw WorkspaceError(
                    line: value.line, place: value.place, reason: "is not known", remedy: remedy)
            }
            fields[key.text] = value
        }
        return WorkspaceFields(parent: self, fields: fields)
    }

    /// The members, whatever their keys, in the order of the file.
    func members() throws(WorkspaceError) -> [(key: Name, value: WorkspaceNode)] {
        guard let mapping = node.mapping else {
            throw refusal("must be a mapping", remedy: "Write `key: value` lines below it, indented.")
        }
        var members: [(key: Name, value: WorkspaceNode)] = []
        var seen: Set<Name> = []
        for (key, value) in mapping {
            let keyLine = key.mark?.line ?? line
            guard let text = key.scalar?.string, !text.isEmpty else {
                throw WorkspaceError(
                    line: keyLine, place: place, reason: "has a key that is no text", remedy: "Give it a name.")
            }
            let path = place.isEmpty ? text : "\(place).\(text)"
            // The parser takes `1` and `"1"` for two.
            guard seen.insert(Name(text)).inserted else {
                throw WorkspaceError(
                    line: keyLine, place: APIProblem.shown(path), reason: "stands twice", remedy: Self.keepOne)
            }
            members.append((Name(text), WorkspaceNode(value, place: APIProblem.shown(path), line: keyLine)))
        }
        return members
    }

    func elements() throws(WorkspaceError) -> [WorkspaceNode] {
        guard let sequence = node.sequence else {
            throw refusal("must be a list", remedy: "Begin each element with `- `.")
        }
        return sequence.enumerated().map { WorkspaceNode($1, place: "\(place)[\($0)]", line: line) }
    }

    // MARK: - Values

    /// Text, in quotes or not.
    func text() throws(WorkspaceError) -> String {
        guard let text = node.scalar?.string, !text.isEmpty, !isNull else {
            throw refusal("must be text", remedy: "Write one value behind the colon, in quotes if need be.")
        }
        guard text.utf8.count <= 4096 else {
            throw refusal("is longer than 4,096 bytes", remedy: "Shorten it.")
        }
        return text
    }

    /// A name of an attribute, an event or a product.
    func name() throws(WorkspaceError) -> Name {
        let text = try text()
        guard !text.isLonger(than: Limits.charactersPerName) else {
            throw refusal("is longer than \(Limits.charactersPerName) characters", remedy: "No such name is stored.")
        }
        return Name(text)
    }

    func flag() throws(WorkspaceError) -> Bool {
        guard case .bool(let flag) = try value() else {
            throw refusal("must be true or false", remedy: "Write true or false, without quotes.")
        }
        return flag
    }

    func integer(_ range: ClosedRange<Int>) throws(WorkspaceError) -> Int {
        guard case .int(let number) = try value(), let number = Int(exactly: number), range.contains(number) else {
            throw refusal(
                "must be a whole number from \(range.lowerBound) to \(range.upperBound)", remedy: "Write such a number."
            )
        }
        return number
    }

    /// Text, a number or a truth value: what is in quotes is text, `true` and `false` are not, nor is what reads as a
    /// number.
    func value() throws(WorkspaceError) -> AttributeValue {
        let text = try anyText()
        guard isPlain else { return .string(text) }
        switch text {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case let text:
            if let integer = Int64(text) { return .int(integer) }
            let isNumber = text.utf8.allSatisfy { (48...57).contains($0) || "+-.eE".utf8.contains($0) }
            if isNumber, let number = Double(text), number.isFinite { return .double(number) }
            return .string(text)
        }
    }

    /// The value as text, whatever it reads as; it may be empty, in quotes.
    func anyText() throws(WorkspaceError) -> String {
        guard let text = node.scalar?.string, !isNull else {
            throw refusal("must be text, a number, true or false", remedy: "Write one value behind the colon.")
        }
        return text
    }

    /// Whether there is no value.
    private var isNull: Bool { isPlain && ["", "~", "null"].contains(node.scalar?.string) }

    /// Whether it depends on the text what it is: it has no quotes, and no tag says that it is text.
    private var isPlain: Bool {
        guard let scalar = node.scalar else { return false }
        return scalar.style == .plain && ![Tag(.str), Tag(.nonSpecific)].contains(scalar.tag)
    }
}

/// The members of a mapping whose keys are known.
struct WorkspaceFields {
    let parent: WorkspaceNode
    let fields: [String: WorkspaceNode]

    subscript(key: String) -> WorkspaceNode? { fields[key] }

    func required(_ key: String) throws(WorkspaceError) -> WorkspaceNode {
        guard let node = fields[key] else {
            throw parent.refusal("has no `\(key)`", remedy: "Add `\(key)`.")
        }
        return node
    }

    func elements(_ key: String) throws(WorkspaceError) -> [WorkspaceNode] { try fields[key]?.elements() ?? [] }

    /// The one key of `keys` that is here, with its value.
    func one(of keys: [String]) throws(WorkspaceError) -> (key: String, node: WorkspaceNode) {
        let found = keys.filter { fields[$0] != nil }
        guard found.count == 1, let key = found.first, let node = fields[key] else {
            throw parent.refusal(
                "must have exactly one of \(keys.joined(separator: ", "))",
                remedy: found.isEmpty ? "Add one of them." : "Keep one of \(found.joined(separator: ", ")).")
        }
        return (key, node)
    }
}
