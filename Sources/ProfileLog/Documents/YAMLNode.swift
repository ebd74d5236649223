package import ProfileLogFacts
internal import Yams

/// A place in a YAML file. A value of another type than the caller asks for is an error that names line and key.
package struct YAMLNode {
    /// A line and a column, both from 1.
    package typealias Spot = (line: Int, column: Int)

    private let node: Node
    private let place: String
    /// The place of its key; where the value is, if it has none.
    private let key: Spot
    /// The place of the value; where its key is, if the parser knows no place of the value.
    package let spot: Spot

    /// The file's root; nil for a file without content. Unless `withAnchors`, anchors and tags of other types are
    /// refused: a few anchors can stand for billions of values.
    package init?(yaml: String, withAnchors: Bool = true) throws(YAMLFileError) {
        if !withAnchors, let spot = YAMLAnchors.firstRepeated(in: yaml) {
            throw YAMLFileError(
                line: spot.line, column: spot.column, place: "", reason: Self.anchor, remedy: Self.writeOut)
        }
        let (parser, root): (Parser, Node?)
        do {
            parser = try Parser(yaml: yaml)
            root = try parser.singleRoot()
        } catch {
            throw Self.error(error)
        }
        guard let root, !(root.scalar.map { $0.style == .plain && $0.string.isEmpty } ?? false) else { return nil }
        self.init(root, place: "", key: Self.spot(root.mark) ?? (1, 1))
        // Nodes know their anchors for as long as the parser lives.
        defer { withExtendedLifetime(parser) {} }
        if !withAnchors { try refuseAnchorsAndTags() }
    }

    private init(_ node: Node, place: String, key: Spot) {
        self.node = node
        self.place = place
        self.key = key
        spot = Self.spot(node.mark) ?? key
    }

    private static func spot(_ mark: Mark?) -> Spot? { mark.map { ($0.line, $0.column) } }

    /// Returns the parser's error about the text, without the text.
    private static func error(_ error: any Error) -> YAMLFileError {
        let remedy =
            "Correct the YAML: indent by spaces, put a space after each colon, and quote text with signs in it."
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            return YAMLFileError(
                line: mark.line, column: mark.column, place: "", reason: "is no YAML: \(problem)", remedy: remedy)
        case .duplicatedKeysInMapping(let keys, let context):
            let key = keys.min().map { "\($0)" } ?? "a key"
            return YAMLFileError(
                line: context.mark.line, column: context.mark.column, place: key.shown,
                reason: "is given twice", remedy: keepOne)
        default:
            return YAMLFileError(line: 1, place: "", reason: "is no YAML", remedy: remedy)
        }
    }

    private static let keepOne = "Keep one of the two."

    package func refusal(_ reason: String, remedy: String) -> YAMLFileError {
        YAMLFileError(line: spot.line, column: spot.column, place: place, reason: reason, remedy: remedy)
    }

    /// The error at `path` below this node, as in `triggers[0].type`: the place of the path, or of its last part that
    /// the file has.
    package func refusal(at path: String, _ reason: String, remedy: String) -> YAMLFileError {
        guard !path.isEmpty, let (child, rest) = child(at: path[...]) else {
            var error = refusal(reason, remedy: remedy)
            if !path.isEmpty { error.place = place.isEmpty || path.hasPrefix("[") ? place + path : "\(place).\(path)" }
            return error
        }
        if rest.isEmpty {
            return YAMLFileError(
                line: child.key.line, column: child.key.column, place: child.place, reason: reason, remedy: remedy)
        }
        return child.refusal(at: String(rest), reason, remedy: remedy)
    }

    /// The member or element with which `path` begins, and the rest of the path. A key may have dots: the longest fits.
    private func child(at path: Substring) -> (node: YAMLNode, rest: Substring)? {
        if path.hasPrefix("[") {
            let number = path.dropFirst().prefix { $0.isNumber }
            guard let index = Int(number), let elements = try? elements(), elements.indices.contains(index) else {
                return nil
            }
            let rest = path[number.endIndex...].dropFirst()
            return (elements[index], rest.hasPrefix(".") ? rest.dropFirst() : rest)
        }
        let members = ((try? members()) ?? []).filter { member in
            path.hasPrefix(member.key.text)
                && [nil, ".", "["].contains(path.dropFirst(member.key.text.count).first)
        }
        guard let member = members.max(by: { $0.key.text.count < $1.key.text.count }) else { return nil }
        let rest = path.dropFirst(member.key.text.count)
        return (member.value, rest.hasPrefix(".") ? rest.dropFirst() : rest)
    }

    /// The key as a wrong one: `reason`, and the nearest of `known`, or all of them.
    package func unknown(_ reason: String = "is not known", key: String, among known: [String]) -> YAMLFileError {
        YAMLFileError(
            line: self.key.line, column: self.key.column, place: place, reason: reason,
            remedy: NearestNames(to: key, among: known).question()
                ?? "The keys here are \(known.joined(separator: ", ")).")
    }

    private static let anchor = "has an anchor (`&`)"
    private static let writeOut = "Write the value out where it is used."

    private func refuseAnchorsAndTags() throws(YAMLFileError) {
        if node.anchor != nil {
            throw refusal(Self.anchor, remedy: Self.writeOut)
        }
        let tag: Tag
        switch node {
        case .scalar(let scalar): tag = scalar.tag
        case .mapping(let mapping): tag = mapping.tag
        case .sequence(let sequence): tag = sequence.tag
        default: return
        }
        guard ["", "!"].contains(tag.description) || tag.description.hasPrefix("tag:yaml.org,2002:") else {
            throw refusal("has a tag (`!…`) that means nothing here", remedy: "Take the tag out.")
        }
        if isList { for element in try elements() { try element.refuseAnchorsAndTags() } }
        if isMapping { for (_, value) in try members() { try value.refuseAnchorsAndTags() } }
    }

    // MARK: - Mappings and sequences

    /// The members, each of which must be one of `known`.
    package func fields(_ known: [String]) throws(YAMLFileError) -> YAMLFields {
        var fields: [String: YAMLNode] = [:]
        for (key, value) in try members() {
            guard known.contains(key.text) else {
                throw value.unknown(key: key.text, among: known)
            }
            fields[key.text] = value
        }
        return YAMLFields(parent: self, fields: fields)
    }

    /// The members, whatever their keys, in the order of the file.
    package func members() throws(YAMLFileError) -> [(key: Name, value: YAMLNode)] {
        guard let mapping = node.mapping else {
            throw refusal("must be a mapping", remedy: "Write `key: value` lines below it, indented.")
        }
        var members: [(key: Name, value: YAMLNode)] = []
        var seen: Set<Name> = []
        for (key, value) in mapping {
            let spot = Self.spot(key.mark) ?? spot
            guard let text = key.scalar?.string, !text.isEmpty else {
                throw YAMLFileError(
                    line: spot.line, column: spot.column, place: place, reason: "has a key that is no text",
                    remedy: "Give it a name; put text that begins with { or [ in quotes.")
            }
            let path = place.isEmpty ? text : "\(place).\(text)"
            // The parser takes `1` and `"1"` for two.
            guard seen.insert(Name(text)).inserted else {
                throw YAMLFileError(
                    line: spot.line, column: spot.column, place: path.shown, reason: "is given twice",
                    remedy: Self.keepOne)
            }
            members.append((Name(text), YAMLNode(value, place: path.shown, key: spot)))
        }
        return members
    }

    package func elements() throws(YAMLFileError) -> [YAMLNode] {
        guard let sequence = node.sequence else {
            throw refusal("must be a list", remedy: "Begin each element with `- `.")
        }
        return sequence.enumerated().map { YAMLNode($1, place: "\(place)[\($0)]", key: Self.spot($1.mark) ?? spot) }
    }

    // MARK: - Values

    /// Text, in quotes or not.
    package func text() throws(YAMLFileError) -> String {
        guard let text = node.scalar?.string, !text.isEmpty, !isNull else {
            throw refusal("must be text", remedy: "Write one value after the colon, in quotes if need be.")
        }
        guard text.utf8.count <= 4096 else {
            throw refusal("is longer than 4,096 bytes", remedy: "Shorten it.")
        }
        return text
    }

    /// A name of an attribute, an event or a product.
    package func name() throws(YAMLFileError) -> Name {
        let text = try text()
        guard !text.isLonger(than: Limits.charactersPerName) else {
            throw refusal("is longer than \(Limits.charactersPerName) characters", remedy: "No such name is stored.")
        }
        return Name(text)
    }

    package func flag() throws(YAMLFileError) -> Bool {
        guard case .bool(let flag) = try value() else {
            throw refusal("must be true or false", remedy: "Write true or false, without quotes.")
        }
        return flag
    }

    package func integer(_ range: ClosedRange<Int>) throws(YAMLFileError) -> Int {
        guard case .int(let number) = try value(), let number = Int(exactly: number), range.contains(number) else {
            throw refusal(
                "must be a whole number from \(range.lowerBound) to \(range.upperBound)", remedy: "Write such a number."
            )
        }
        return number
    }

    /// Text, a number or a truth value: a quoted scalar is text; `true`, `false` and numbers are not.
    package func value() throws(YAMLFileError) -> AttributeValue {
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
    package func anyText() throws(YAMLFileError) -> String {
        guard let text = node.scalar?.string, !isNull else {
            throw refusal("must be text, a number, true or false", remedy: "Write one value after the colon.")
        }
        return text
    }

    /// The value with its content, as JSON would have it: nothing, `~` and `null` are null.
    package func json() throws(YAMLFileError) -> AttributeValue {
        if isList {
            return .array(try elements().map { (element) throws(YAMLFileError) in try element.json() })
        }
        guard isMapping else { return isNull ? .null : try value() }
        let members = try members().map { (member) throws(YAMLFileError) in
            AttributeValue.Member(member.key, try member.value.json())
        }
        return AttributeValue.object(sorting: members) ?? .null
    }

    package var isMapping: Bool { node.mapping != nil }
    package var isList: Bool { node.sequence != nil }

    /// Tells whether there is no value.
    package var isNull: Bool { isPlain && ["", "~", "null"].contains(node.scalar?.string) }

    /// Tells whether its type depends on the text: it has no quotes, and no tag says that it is text.
    private var isPlain: Bool {
        guard let scalar = node.scalar else { return false }
        return scalar.style == .plain && ![Tag(.str), Tag(.nonSpecific)].contains(scalar.tag)
    }
}

/// The members of a mapping whose keys are known.
package struct YAMLFields {
    let parent: YAMLNode
    let fields: [String: YAMLNode]

    package subscript(key: String) -> YAMLNode? { fields[key] }

    package func required(_ key: String) throws(YAMLFileError) -> YAMLNode {
        guard let node = fields[key] else {
            throw parent.refusal("has no `\(key)`", remedy: "Add `\(key)`.")
        }
        return node
    }

    /// The text under `key`, which must be there.
    package func text(_ key: String) throws(YAMLFileError) -> String { try required(key).text() }

    package func elements(_ key: String) throws(YAMLFileError) -> [YAMLNode] { try fields[key]?.elements() ?? [] }

    /// The one key of `keys` that is here, with its value.
    package func one(of keys: [String]) throws(YAMLFileError) -> (key: String, node: YAMLNode) {
        let found = keys.filter { fields[$0] != nil }
        guard found.count == 1, let key = found.first, let node = fields[key] else {
            throw parent.refusal(
                "must have exactly one of \(keys.joined(separator: ", "))",
                remedy: found.isEmpty ? "Add one of them." : "Keep one of \(found.joined(separator: ", ")).")
        }
        return (key, node)
    }
}
