internal import ProfileLogRequests

/// The workspace file; docs/workspace.md is its description.
extension Workspace {
    /// Bytes of a workspace file that are read at most.
    package static let maxBytes = 4 << 20

    /// Reads a workspace file. An empty one is the workspace without a file.
    package init(yaml: String) throws(YAMLFileError) {
        self.init()
        guard yaml.utf8.count <= Self.maxBytes else {
            throw YAMLFileError(
                line: 1, place: "", reason: "is larger than \(Self.maxBytes) bytes", remedy: "Shorten it.")
        }
        guard let root = try YAMLNode(yaml: yaml) else { return }
        let fields = try root.fields([
            "apps", "subscription_groups", "segments", "blocklist", "attribute_types", "limits", "export_window_days",
        ])
        for node in try fields.elements("apps") { apps.append(try Self.app(node)) }
        try Self.refuseTwice(fields.elements("apps"))
        for node in try fields.elements("subscription_groups") { subscriptionGroups.append(try Self.group(node)) }
        try Self.refuseTwice(fields.elements("subscription_groups"))
        for node in try fields.elements("segments") { segments.append(try Self.segment(node)) }
        try Self.refuseTwice(fields.elements("segments"))
        if let blocklist = try fields["blocklist"]?.fields(["attributes", "events"]) {
            blockedAttributes = try Self.names(blocklist, "attributes")
            blockedEvents = try Self.names(blocklist, "events")
        }
        for (name, node) in try fields["attribute_types"]?.members() ?? [] {
            guard ReservedField.attribute(name) == nil else {
                throw node.refusal(
                    "is a standard attribute", remedy: "Only custom attributes are given types; leave it out.")
            }
            forcedTypes[name] = try Self.type(node)
        }
        if let node = fields["limits"] { limits = try TrackLimits(node) }
        exportWindowDays = try fields["export_window_days"]?.integer(1...36_500)
    }

    private static func app(_ node: YAMLNode) throws(YAMLFileError) -> App {
        let fields = try node.fields(["id", "name", "platform"])
        return App(
            id: try fields.required("id").text(), name: try fields.required("name").text(),
            platform: try fields["platform"]?.text())
    }

    private static let channels = [
        "email", "sms", "whatsapp", "push", "web_push", "kakao", "line", "rcs", "in_app_message", "content_card",
    ]

    private static func group(_ node: YAMLNode) throws(YAMLFileError) -> SubscriptionGroup {
        let fields = try node.fields(["id", "name", "channel"])
        let channel = try fields.required("channel")
        let name = try channel.text()
        guard channels.contains(name) else {
            throw channel.refusal(
                "is no channel",
                remedy: "The channels are \(NearestNames(to: name, among: channels).all.joined(separator: ", ")).")
        }
        return SubscriptionGroup(
            id: try fields.required("id").text(), name: try fields.required("name").text(), channel: name)
    }

    private static func segment(_ node: YAMLNode) throws(YAMLFileError) -> Segment {
        let fields = try node.fields(["id", "name", "users", "all", "any"])
        return Segment(
            id: try fields.required("id").text(), name: try fields.required("name").text(),
            rule: try SegmentRule(segment: fields))
    }

    /// Refuses an `id` that is in two of `nodes`.
    private static func refuseTwice(_ nodes: [YAMLNode]) throws(YAMLFileError) {
        var seen: Set<Name> = []
        for node in nodes {
            for (key, value) in try node.members() where key == "id" {
                guard seen.insert(Name(try value.text())).inserted else {
                    throw value.refusal("is the `id` of another one too", remedy: "Give each an `id` of its own.")
                }
            }
        }
    }

    /// Entries of a blocklist; as many as Braze allows.
    private static let blocklistEntries = 300

    private static func names(_ fields: YAMLFields, _ key: String) throws(YAMLFileError) -> Set<Name> {
        guard let list = fields[key] else { return [] }
        var names: Set<Name> = []
        for element in try list.elements() {
            let name = try element.name()
            if key == "attributes", ReservedField.attribute(name) != nil {
                throw element.refusal(
                    "is a standard attribute", remedy: "Only custom attributes can be blocked; leave it out.")
            }
            names.insert(name)
        }
        guard names.count <= blocklistEntries else {
            throw list.refusal("has more than \(blocklistEntries) names", remedy: "Shorten the list.")
        }
        return names
    }

    private static let types: [(name: String, type: AttributeType)] = [
        ("boolean", .boolean), ("number", .number), ("string", .string), ("time", .time), ("array", .array),
        ("object", .object), ("object_array", .objectArray),
    ]

    private static func type(_ node: YAMLNode) throws(YAMLFileError) -> AttributeType {
        let text = try node.text()
        guard let type = types.first(where: { $0.name == text })?.type else {
            throw node.refusal("is no type", remedy: "The types are \(types.map(\.name).joined(separator: ", ")).")
        }
        return type
    }
}

extension TrackLimits {
    /// The keys of `limits`, each with the largest number that the store can hold up with.
    static let keys: [(name: String, path: any WritableKeyPath<TrackLimits, Int> & Sendable, most: Int)] = [
        ("objects_per_array", \.objectsPerArray, 10_000),
        ("objects_per_request", \.objectsPerRequest, 30_000),
        ("objects_per_bulk_request", \.objectsPerBulkRequest, 30_000),
        ("objects_per_user_in_bulk", \.objectsPerUserInBulk, 30_000),
        ("bytes_per_bulk_request", \.bytesPerBulkRequest, APIRouter.maxBodyBytes),
        ("characters_per_name", \.charactersPerName, Limits.charactersPerName),
        ("characters_per_string", \.charactersPerString, 100_000),
        ("array_elements", \.arrayElements, 10_000),
        ("bytes_per_nested_value", \.bytesPerNestedValue, 512 << 10),
        ("bytes_per_attributes_object", \.bytesPerAttributesObject, 512 << 10),
        ("properties", \.properties, 1_000),
        ("bytes_per_properties", \.bytesPerProperties, 512 << 10),
        ("depth", \.depth, 48),
        ("identifiers_per_export", \.identifiersPerExport, 1_000),
        ("users_per_subscription_request", \.usersPerSubscriptionRequest, 1_000),
    ]

    init(_ node: YAMLNode) throws(YAMLFileError) {
        self.init()
        let fields = try node.fields(Self.keys.map(\.name))
        for key in Self.keys {
            if let number = fields[key.name] { self[keyPath: key.path] = try number.integer(1...key.most) }
        }
    }
}
