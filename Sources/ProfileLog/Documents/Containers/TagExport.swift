internal import ProfileLogFacts
internal import ProfileLogSnippets

/// A container as the tag manager's web interface exports it: JSON with `exportFormatVersion` and `containerVersion`.
///
/// What this program cannot play is not an error: the container names it (`TagContainer.unplayed`), and plays the rest.
/// A container that can mean nothing is an error: a reference to nothing, two of one name, a variable that refers to
/// itself.
struct TagExport {
    private let version: ExportObject
    private let variables: ExportVariables
    private let platform: TagContainer.Platform?

    /// The container that `root` is; nil if it is no export.
    static func container(
        _ root: YAMLNode, given: [Name: AttributeValue]
    ) throws(YAMLFileError) -> TagContainer? {
        do throws(TagExportError) {
            return try TagExport(root, given: given)?.container()
        } catch {
            throw error.error
        }
    }

    private init?(_ root: YAMLNode, given: [Name: AttributeValue]) throws(TagExportError) {
        guard root.isMapping else { return nil }
        let file = try ExportObject(root)
        if file["resource"]?.isMapping ?? false {
            throw .wrong(root, "is a compiled container, as an app downloads it", remedy: Self.howToExport)
        }
        if let format = try file.text("exportFormatVersion"), format != "2", let node = file["exportFormatVersion"] {
            throw .wrong(node, "must be 2", remedy: Self.howToExport)
        }
        if let node = file["containerVersion"] {
            version = try ExportObject(node)
        } else if file["containerVersionId"] != nil {
            version = file  // as the tag manager's API has it
        } else if let node = file["exportFormatVersion"] {
            throw .wrong(node, "comes without a `containerVersion`", remedy: Self.howToExport)
        } else {
            return nil
        }
        let container = try version.object("container")
        let words = try container?.texts("usageContext").map { $0.text.text.uppercased() } ?? []
        let isMobile = words.contains { $0.hasPrefix("IOS") || $0.hasPrefix("ANDROID") }
        guard isMobile || words.isEmpty else {
            let shown = words.prefix(4).map(\.shown).joined(separator: ", ")
            throw .wrong(
                container?["usageContext"] ?? version.node, "is \(shown): this is no container of an app",
                remedy: "Export the container of the iOS or the Android app.")
        }
        platform = words.isEmpty ? nil : words.contains { $0.hasPrefix("IOS") } ? .iOS : .android
        variables = try ExportVariables(version, container, platform: platform?.rawValue, given: given)
    }

    private static let howToExport = "Export it in the tag manager's web interface: Admin, Export Container."

    /// JSON may write one character as two `\u` escapes, which YAML cannot read: they become the character.
    static func yaml(_ text: String) -> String {
        guard ["{", "["].contains(text.first { !$0.isWhitespace }), text.utf8.contains(UInt8(ascii: "\\")) else {
            return text
        }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count else {
                result.append(bytes[index])
                index += 1
                continue
            }
            if let high = unit(bytes, index), (0xD800..<0xDC00).contains(high),
                let low = unit(bytes, index + 6), (0xDC00..<0xE000).contains(low),
                let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
            {
                result += Array(String(scalar).utf8)
                index += 12
            } else {
                result += bytes[index...index + 1]
                index += 2
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The number of the escape `\uXXXX` at `index`.
    private static func unit(_ bytes: [UInt8], _ index: Int) -> UInt32? {
        guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u") else {
            return nil
        }
        return UInt32(String(decoding: bytes[index + 2..<index + 6], as: UTF8.self), radix: 16)
    }

    // MARK: - The container

    private func container() throws(TagExportError) -> TagContainer {
        var unplayed = variables.unplayed
        var triggers = ExportTriggers(patternSteps: variables.patternSteps)
        for object in try version.objects("trigger") { try triggers.add(object, variables) }
        unplayed += triggers.unplayed
        var tags: [(tag: TagContainer.Tag, priority: Int)] = []
        var (ids, names): (Set<Name>, Set<Name>) = ([], [])
        let objects = try version.objects("tag")
        guard !objects.isEmpty else {
            throw .wrong(version.node, "has no tag", remedy: "Export a container that has one.")
        }
        for object in objects {
            try object.claim("tagId", in: &ids, "tag")
            try object.claim("name", in: &names, "tag")
            let reader = ExportTag(object: object, name: try object.name(), variables: variables, triggers: triggers)
            do throws(TagExportError) {
                tags.append((try reader.tag(), try reader.priority()))
                unplayed += try reader.notes()
            } catch {
                unplayed.append(try error.unplayed(reader.name))
            }
        }
        // Those of the same priority stay in the order of the file.
        let order = tags.enumerated().sorted { ($1.element.priority, $0.offset) < ($0.element.priority, $1.offset) }
        return TagContainer(
            platform: platform, variables: variables.all, triggers: triggers.all, tags: order.map(\.element.tag),
            unplayed: unplayed)
    }
}

/// The reason why a part of an export is not read.
struct TagExportError: Error {
    let error: YAMLFileError
    /// Tells whether the part is right, and only this program cannot play it.
    let isUnplayable: Bool

    static func wrong(_ node: YAMLNode, _ reason: String, remedy: String = exportAgain) -> TagExportError {
        TagExportError(error: node.refusal(reason, remedy: remedy), isUnplayable: false)
    }

    static func unplayable(_ node: YAMLNode, _ reason: String, remedy: String) -> TagExportError {
        TagExportError(error: node.refusal(reason, remedy: remedy), isUnplayable: true)
    }

    /// The next step where a part is missing.
    static let exportAgain = "Export the container once more."

    /// The part called `name`, with its reason; what is wrong is an error of the file.
    func unplayed(_ name: Name) throws(TagExportError) -> TagContainer.Unplayed {
        guard isUnplayable else { throw self }
        return .init(place: error.place, name: name, reason: error.reason, remedy: error.remedy)
    }

    /// Runs `read`; what it throws is wrong.
    static func reading<Value>(_ read: () throws(YAMLFileError) -> Value) throws(TagExportError) -> Value {
        do throws(YAMLFileError) {
            return try read()
        } catch {
            throw TagExportError(error: error, isUnplayable: false)
        }
    }
}

/// An object of an export. What it has beyond what is asked for has no meaning here: fingerprints, links, notes.
struct ExportObject {
    let node: YAMLNode
    private let members: [String: YAMLNode]

    init(_ node: YAMLNode) throws(TagExportError) {
        self.node = node
        let members = try TagExportError.reading { () throws(YAMLFileError) in try node.members() }
        self.members = Dictionary(uniqueKeysWithValues: members.map { ($0.key.text, $0.value) })
    }

    subscript(key: String) -> YAMLNode? { members[key].flatMap { $0.isNull ? nil : $0 } }

    func text(_ key: String) throws(TagExportError) -> String? { try self[key].map(Self.text) }

    private static func text(_ node: YAMLNode) throws(TagExportError) -> String {
        try TagExportError.reading { () throws(YAMLFileError) in try node.anyText() }
    }

    func flag(_ key: String) throws(TagExportError) -> Bool { try text(key)?.lowercased() == "true" }

    /// The `name`, which every element has.
    func name() throws(TagExportError) -> Name {
        guard let name = try text("name") else {
            throw .wrong(node, "has no `name`")
        }
        return Name(name)
    }

    /// The elements of the list `key`; none if there is no list.
    func elements(_ key: String) throws(TagExportError) -> [YAMLNode] {
        guard let list = self[key] else { return [] }
        return try TagExportError.reading { () throws(YAMLFileError) in try list.elements() }
    }

    /// The texts of the list `key`.
    func texts(_ key: String) throws(TagExportError) -> [(text: Name, node: YAMLNode)] {
        try elements(key).map { (node) throws(TagExportError) in (Name(try Self.text(node)), node) }
    }

    func objects(_ key: String) throws(TagExportError) -> [ExportObject] { try elements(key).map(ExportObject.init) }

    func object(_ key: String) throws(TagExportError) -> ExportObject? { try self[key].map(ExportObject.init) }

    /// Its type in one spelling: `CUSTOM_EVENT`, of which the tag manager's API makes `customEvent`.
    func type() throws(TagExportError) -> String { Self.spelled(try text("type") ?? "") }

    static func spelled(_ word: String) -> String { word.filter { $0 != "_" }.uppercased() }

    /// Refuses the value of `key` if another element has it.
    func claim(_ key: String, in known: inout Set<Name>, _ word: String) throws(TagExportError) {
        guard let text = try text(key), let node = self[key], !known.insert(Name(text)).inserted else { return }
        throw .wrong(node, "is the \(key == "name" ? "name" : "ID") of another \(word)", remedy: "Keep one of the two.")
    }

    /// Its parameters, or those in the list `key`.
    func parameters(_ key: String = "parameter") throws(TagExportError) -> ExportParameters {
        try ExportParameters(objects(key))
    }
}

/// Parameters of a tag, a variable or a condition: each has a type, a key, and a value, a list or a map.
struct ExportParameters {
    let all: [ExportObject]
    private var places: [String: Int] = [:]

    init(_ all: [ExportObject]) throws(TagExportError) {
        self.all = all
        for (place, parameter) in all.enumerated() {
            if let key = try parameter.text("key"), places.updateValue(place, forKey: key) != nil {
                throw .wrong(parameter.node, "has the key of another parameter", remedy: "Keep one of the two.")
            }
        }
    }

    subscript(key: String) -> ExportObject? { places[key].map { all[$0] } }

    func text(_ key: String) throws(TagExportError) -> String? { try self[key]?.text("value") }
    func flag(_ key: String) throws(TagExportError) -> Bool { try text(key)?.lowercased() == "true" }
}
