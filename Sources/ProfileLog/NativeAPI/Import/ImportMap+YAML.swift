package import ProfileLogDocuments
internal import ProfileLogRequests

/// The map as a file (docs/import.md).
extension ImportMap {
    private static let tableKeys = ["columns", "skip_header", "delimiter", "missing"]
    private static let rowKeys = ["user", "time", "recorded_at", "id"]
    private static let entryKeys = ["event", "purchase", "properties", "attributes", "user_attributes"]

    /// Reads the text of a map.
    package init(yaml: String) throws(YAMLFileError) {
        guard let root = try YAMLNode(yaml: yaml, withAnchors: false) else {
            throw YAMLFileError(
                line: 1, place: "", reason: "is empty", remedy: "Let `profilecli import --suggest FILE` write one.")
        }
        let fields = try root.fields(Self.tableKeys + Self.rowKeys + Self.entryKeys + ["rows"])
        header = try fields["columns"].map { (node) throws(YAMLFileError) in try Self.texts(node) }
        skipsHeader = try fields["skip_header"]?.flag() ?? false
        if let node = fields["delimiter"] {
            guard let delimiter = Delimiter(try node.anyText()) else {
                throw node.refusal("is no delimiter", remedy: "Write one sign in quotes, tab, or space.")
            }
            self.delimiter = delimiter
        }
        if let node = fields["missing"] { missing = Set(try Self.texts(node)) }
        user = try source(fields.required("user")) ?? Source()
        time = try source(fields["time"], isTime: true)
        recorded = try source(fields["recorded_at"], isTime: true)
        id = try source(fields["id"])
        if let rows = fields["rows"] {
            for key in Self.entryKeys {
                guard let node = fields[key] else { continue }
                throw node.refusal("is not for a map with `rows`", remedy: "Move it into an element of `rows`.")
            }
            for row in try rows.elements() { try entries.append(entry(row.fields(["when"] + Self.entryKeys), row)) }
        } else {
            entries = [try entry(fields, root)]
        }
        omitRead()
    }

    /// Takes `column` for the ID of a row.
    package mutating func identify(by column: String) { id = Source(columns: [self.column(column)]) }

    /// Leaves out when rows were recorded: they are recorded when they come.
    package mutating func omitRecording() { recorded = nil }

    /// The column of the ID, if rows have one.
    package var idColumn: String? { id?.columns.first.map { columns[$0] } }

    private mutating func column(_ name: String) -> Int {
        if let known = columns.firstIndex(of: name) { return known }
        columns.append(name)
        return columns.count - 1
    }

    private static func texts(_ node: YAMLNode) throws(YAMLFileError) -> [String] {
        try (node.isList ? node.elements() : [node]).map { (element) throws(YAMLFileError) in try element.anyText() }
    }

    // MARK: - Entries

    private mutating func entry(_ fields: YAMLFields, _ node: YAMLNode) throws(YAMLFileError) -> Entry {
        var entry = Entry()
        if let when = fields["when"] {
            for (key, value) in try when.members() {
                entry.when.append((column(key.text), Set(try Self.texts(value))))
            }
        }
        entry.event = try source(fields["event"])
        entry.properties = try bag(fields["properties"])
        entry.attributes = try bag(fields["attributes"])
        if let purchase = fields["purchase"] { try readPurchase(purchase, into: &entry) }
        for (key, value) in try fields["user_attributes"]?.members() ?? [] {
            guard let attribute = StandardAttribute(name: key.text) else {
                throw value.unknown(
                    "is no standard user attribute", key: key.text, among: StandardAttribute.allCases.map(\.name))
            }
            if let source = try source(value) { entry.userAttributes.append((attribute, source)) }
        }
        if entry.event == nil, entry.product == nil, entry.attributes == nil, entry.userAttributes.isEmpty {
            throw node.refusal(
                "says nothing about its rows", remedy: "Add event, purchase, attributes or user_attributes.")
        }
        if entry.properties != nil, entry.event == nil, entry.product == nil {
            throw node.refusal("has `properties` and no event", remedy: "Add event or purchase, or use attributes.")
        }
        return entry
    }

    private mutating func readPurchase(_ node: YAMLNode, into entry: inout Entry) throws(YAMLFileError) {
        let fields = try node.fields(["product", "price", "quantity", "currency", "properties"])
        entry.product = try source(fields.required("product"))
        entry.price = try source(fields.required("price"), standard: .number) ?? Source()
        entry.quantity = try source(fields["quantity"], standard: .integer)
        entry.currency = try source(fields.required("currency")) ?? Source()
        if let bag = try bag(fields["properties"]) {
            guard entry.event == nil else {
                throw node.refusal("has `properties` next to an event", remedy: "Put them next to `event`.")
            }
            entry.properties = bag
        }
    }

    /// Properties or attributes: a list of columns, names with their sources, a column that holds an object, or `"*"`.
    private mutating func bag(_ node: YAMLNode?) throws(YAMLFileError) -> Bag? {
        guard let node else { return nil }
        var named: [(name: Name, source: Source)] = []
        if node.isList {
            for element in try node.elements() {
                let text = try element.text()
                named.append((Name(text), Source(columns: [column(text)])))
            }
        } else if node.isMapping {
            for (key, value) in try node.members() {
                if let source = try source(value) { named.append((key, source)) }
            }
        } else {
            let text = try node.text()
            return text == "*" ? .rest : .members(of: column(text), except: [])
        }
        named.sort { $0.name < $1.name }
        if zip(named, named.dropFirst()).contains(where: { $0.name == $1.name }) {
            throw node.refusal("names a column twice", remedy: "Keep one of them.")
        }
        return .named(named)
    }

    /// Removes members that are read by their own path from an object that is taken as a whole.
    private mutating func omitRead() {
        func without(_ bag: Bag?) -> Bag? {
            guard case .members(let place, _)? = bag else { return bag }
            let prefix = columns[place] + "."
            let names = columns.filter { $0.hasPrefix(prefix) }.map { Name(String($0.dropFirst(prefix.count))) }
            return .members(of: place, except: Set(names))
        }
        for place in entries.indices {
            entries[place].properties = without(entries[place].properties)
            entries[place].attributes = without(entries[place].attributes)
        }
    }

    // MARK: - Sources

    private mutating func source(
        _ node: YAMLNode?, standard: Kind = .any, isTime: Bool = false
    ) throws(YAMLFileError) -> Source? {
        guard let node else { return nil }
        var source = Source(type: standard)
        guard node.isMapping else {
            for text in try Self.texts(node) { source.columns.append(column(text)) }
            return source
        }
        let fields = try node.fields(["column", "value", "type", "decimal", "format", "zone", "default"])
        if let columns = fields["column"] {
            for text in try Self.texts(columns) { source.columns.append(column(text)) }
        }
        if let constant = fields["value"] ?? fields["default"] { source.fallback = try constant.json() }
        if source.columns.isEmpty == (fields["value"] == nil) {
            throw node.refusal("must have either `column` or `value`", remedy: "Add one of them, or omit one.")
        }
        if let type = fields["type"] {
            guard let kind = Kind(rawValue: try type.text()) else {
                throw type.refusal(
                    "is no type", remedy: "The types are \(Kind.allCases.map(\.rawValue).joined(separator: ", ")).")
            }
            source.type = kind
        }
        if let decimal = fields["decimal"] {
            let text = try decimal.text()
            guard [",", "."].contains(text) else {
                throw decimal.refusal(
                    "must be \",\" or \".\"", remedy: "Write the sign before the decimals, in quotes.")
            }
            source.decimalSign = text == "," ? "," : "."
            source.type = .number
        }
        guard let format = fields["format"] ?? fields["zone"] else { return source }
        let text = try fields["format"]?.text() ?? "iso"
        guard text != "CHOOSE" else {
            throw format.refusal(
                "is yet to be chosen",
                remedy:
                    "Write dd/mm/yyyy if the day comes first, or mm/dd/yyyy if the month does, and then the time as "
                    + "the comment there shows.")
        }
        guard let form = TimeForm(format: text, zone: try fields["zone"]?.text()) else {
            throw format.refusal(
                "is no format of times",
                remedy: "Write one as in \(TimeForm.words.joined(separator: ", ")); `zone` is "
                    + "+01:00 or Europe/Berlin.")
        }
        source.form = form
        if !isTime { source.type = .time }
        return source
    }
}
