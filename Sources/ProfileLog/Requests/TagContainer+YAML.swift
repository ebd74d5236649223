package import ProfileLogGuide

/// Reading a container file of the tag manager; docs/tag-manager.md describes it.
extension TagContainer {
    /// Reads the text of a file. What it refers to must be in it.
    package init(yaml: String) throws(YAMLFileError) {
        guard let root = try YAMLNode(yaml: yaml, withAnchors: false) else {
            throw YAMLFileError(
                line: 1, place: "", reason: "is empty", remedy: "docs/tag-manager.md has an example of a container.")
        }
        try self.init(root)
    }

    /// Reads a container that is a part of another file.
    package init(_ root: YAMLNode) throws(YAMLFileError) {
        let fields = try root.fields(["provider", "triggers", "variables", "tags"])
        let triggers = try TagElements(fields, "triggers", ["event"], "trigger") { fields throws(YAMLFileError) in
            try fields.required("event").name()
        }
        let variables = try TagElements(fields, "variables", TagVariables.kinds, "variable") {
            fields throws(YAMLFileError) in try TagVariables.source(fields)
        }
        let list = try fields.required("tags")
        let tags = try TagElements(fields, "tags", ["class", "triggers", "parameters"], "tag") {
            fields throws(YAMLFileError) in
            let firing = try fields.required("triggers")
            let names = firing.isList ? try firing.elements() : [firing]
            guard !names.isEmpty else {
                throw firing.refusal("names no trigger", remedy: "Name one, or no event fires it.")
            }
            var events: Set<Name> = []
            for name in names { events.insert(try triggers.find(name.name(), name)) }
            var parameters: [(key: Name, source: TagValueSource)] = []
            for (key, value) in try fields["parameters"]?.members() ?? [] {
                parameters.append((key, try TagVariables.parameter(value, variables)))
            }
            return Tag(
                name: "", classPath: try fields.required("class").text(), events: events, parameters: parameters)
        }
        guard !tags.all.isEmpty else { throw list.refusal("has no tag", remedy: "Add one.") }
        self.init(
            provider: try fields["provider"]?.text(),
            tags: tags.all.map { name, tag in
                var tag = tag
                tag.name = name
                return tag
            })
    }
}

/// The named elements of one of the container's lists.
private struct TagElements<Element> {
    /// In the order of the file.
    private(set) var all: [(name: Name, element: Element)] = []
    private var numbers: [Name: Int] = [:]
    private let word: String

    /// Reads the list `key`, whose elements have a `name` and the keys `known`.
    init(
        _ parent: YAMLFields, _ key: String, _ known: [String], _ word: String,
        _ read: (YAMLFields) throws(YAMLFileError) -> Element
    ) throws(YAMLFileError) {
        self.word = word
        for node in try parent.elements(key) {
            let fields = try node.fields(["name"] + known)
            let nameNode = try fields.required("name")
            let name = try nameNode.name()
            guard numbers.updateValue(all.count, forKey: name) == nil else {
                throw nameNode.refusal("is the name of another \(word)", remedy: "Give each \(word) its own name.")
            }
            all.append((name, try read(fields)))
        }
    }

    /// The element called `name`, which `node` refers to.
    func find(_ name: Name, _ node: YAMLNode) throws(YAMLFileError) -> Element {
        if let number = numbers[name] { return all[number].element }
        let names = all.map(\.name.text)
        let remedy =
            NearestNames(to: name.text, among: names).close.first.map { "Did you mean `\($0)`?" }
            ?? (names.isEmpty
                ? "The container has no \(word)." : "There are: \(names.prefix(20).joined(separator: ", ")).")
        throw node.refusal("refers to no \(word) of the container", remedy: remedy)
    }
}

/// Variables, and the parameters that use them.
private enum TagVariables {
    static let kinds = ["event-parameter", "constant", "built-in", "default"]

    static func source(_ fields: YAMLFields) throws(YAMLFileError) -> TagValueSource {
        let (kind, node) = try fields.one(of: ["event-parameter", "constant", "built-in"])
        if kind != "event-parameter", let other = fields["default"] {
            throw other.refusal("has no meaning here", remedy: "Only an `event-parameter` may be missing.")
        }
        switch kind {
        case "event-parameter":
            return .eventParameter(try node.name(), otherwise: try fields["default"].map(fixed))
        case "constant": return .fixed(try fixed(node))
        default:
            guard try node.text() == "Event Name" else {
                throw node.refusal("is no built-in variable", remedy: "Write `Event Name`.")
            }
            return .eventName
        }
    }

    /// A value of a tag's parameter: fixed, or `{{NAME}}` for a variable.
    static func parameter(
        _ node: YAMLNode, _ variables: TagElements<TagValueSource>
    ) throws(YAMLFileError) -> TagValueSource {
        let value = try fixed(node)
        guard case .string(let text) = value, text.contains("{{") else { return .fixed(value) }
        guard text.hasPrefix("{{"), text.hasSuffix("}}"), !text.dropFirst(2).contains("{{") else {
            throw node.refusal(
                "mixes text and a variable", remedy: "Write the variable alone, as in \"{{genre}}\".")
        }
        return try variables.find(Name(String(text.dropFirst(2).dropLast(2))), node)
    }

    /// Text, a number, a boolean, or a list of them.
    private static func fixed(_ node: YAMLNode) throws(YAMLFileError) -> AttributeValue {
        if node.isMapping {
            throw node.refusal(
                "must be one value or a list", remedy: "Put a variable in quotes, as in \"{{genre}}\".")
        }
        return try node.json()
    }
}
