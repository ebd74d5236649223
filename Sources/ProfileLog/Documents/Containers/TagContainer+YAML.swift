package import ProfileLogSnippets

/// Reading a container file of the tag manager; docs/tag-manager.md describes it.
extension TagContainer {
    /// Reads the text of a file: a container as that document has it, or as the tag manager's web interface exports it.
    /// What it refers to must be in it.
    ///
    /// - Parameter given: values of variables, which replace what the file says.
    package init(yaml: String, given: [Name: AttributeValue] = [:]) throws(YAMLFileError) {
        guard let root = try YAMLNode(yaml: TagExport.yaml(yaml), withAnchors: false) else {
            throw YAMLFileError(
                line: 1, place: "", reason: "is empty", remedy: "docs/tag-manager.md has an example of a container.")
        }
        try self.init(root, given: given)
    }

    /// Reads a container that is a part of another file.
    package init(_ root: YAMLNode, given: [Name: AttributeValue] = [:]) throws(YAMLFileError) {
        if let container = try TagExport.container(root, given: given) {
            self = container
            return
        }
        let fields = try root.fields(["provider", "triggers", "variables", "tags"])
        let triggers = try TagElements(fields, "triggers", ["event"], "trigger") { fields throws(YAMLFileError) in
            try fields.required("event").name()
        }
        let variables = try TagElements(fields, "variables", TagVariables.kinds, "variable") {
            fields throws(YAMLFileError) in try TagVariables.variable(fields)
        }
        let list = try fields.required("tags")
        let tags = try TagElements(fields, "tags", ["class", "triggers", "parameters"], "tag") {
            fields throws(YAMLFileError) in
            let firing = try fields.required("triggers")
            let names = firing.isList ? try firing.elements() : [firing]
            guard !names.isEmpty else {
                throw firing.refusal("names no trigger", remedy: "Name one, or no event fires it.")
            }
            var places: [Int] = []
            for name in names { places.append(try triggers.place(of: name.name(), name)) }
            var parameters: [Tag.Parameter] = []
            for (key, value) in try fields["parameters"]?.members() ?? [] {
                parameters.append(.init(key, try TagVariables.parameter(value, variables)))
            }
            return Tag(
                name: "", classPath: try fields.required("class").text(), firing: places, parameters: parameters)
        }
        guard !tags.all.isEmpty else { throw list.refusal("has no tag", remedy: "Add one.") }
        self.init(
            provider: try fields["provider"]?.text(),
            variables: variables.all.map { name, variable in
                given[name].map { TagVariable(name: name, .value(.fixed($0))) }
                    ?? TagVariable(name: name, variable.rule, otherwise: variable.otherwise)
            },
            triggers: triggers.all.map { TagTrigger(name: $0, event: $1) },
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

    /// The place of the element called `name`, which `node` refers to.
    func place(of name: Name, _ node: YAMLNode) throws(YAMLFileError) -> Int {
        if let number = numbers[name] { return number }
        let names = all.map(\.name.text)
        let remedy =
            NearestNames(to: name.text, among: names).question()
            ?? (names.isEmpty
                ? "The container has no \(word)." : "There are: \(names.prefix(20).joined(separator: ", ")).")
        throw node.refusal("refers to no \(word) of the container", remedy: remedy)
    }
}

/// Variables, and the parameters that use them.
private enum TagVariables {
    static let kinds = ["event-parameter", "constant", "built-in", "default"]

    static func variable(_ fields: YAMLFields) throws(YAMLFileError) -> TagVariable {
        let (kind, node) = try fields.one(of: ["event-parameter", "constant", "built-in"])
        if kind != "event-parameter", let other = fields["default"] {
            throw other.refusal("has no meaning here", remedy: "Only an `event-parameter` may be missing.")
        }
        switch kind {
        case "event-parameter":
            let otherwise = try fields["default"].map(fixed)
            return TagVariable(
                name: "", .eventParameter(.fixed(.string(try node.name().text))),
                otherwise: otherwise.map { .fixed($0) })
        case "constant": return TagVariable(name: "", .value(.fixed(try fixed(node))))
        default:
            guard try node.text() == "Event Name" else {
                throw node.refusal("is no built-in variable", remedy: "Write `Event Name`.")
            }
            return TagVariable(name: "", .value(.eventName))
        }
    }

    /// A value of a tag's parameter: fixed, `{{NAME}}` for a variable, or text with variables in it.
    static func parameter(
        _ node: YAMLNode, _ variables: TagElements<TagVariable>
    ) throws(YAMLFileError) -> TagValueSource {
        let value = try fixed(node)
        guard case .string(let text) = value else { return .fixed(value) }
        return try TagTemplate(text).source { (name) throws(YAMLFileError) in
            .variable(try variables.place(of: name, node))
        }
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
