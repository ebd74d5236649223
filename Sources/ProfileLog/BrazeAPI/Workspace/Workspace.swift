internal import ProfileLogMessaging
internal import ProfileLogRequests

/// The settings of a Braze workspace that no request carries: apps, subscription groups, segments, blocklists, types,
/// limits.
///
/// docs/workspace.md describes the file. Without one there are no groups and no segments, nothing is blocked, and the
/// limits are those of the documentation.
package struct Workspace: Sendable {
    /// The apps that an `app_id` may name; empty if any may be named.
    var apps: [App] = []
    var subscriptionGroups: [SubscriptionGroup] = []
    package private(set) var segments: [Segment] = []
    var campaigns: [Campaign] = []
    var canvases: [Campaign] = []
    /// Computed traits (docs/traits.md).
    package private(set) var traits: [ComputedTrait] = []
    /// Custom attributes that are not processed.
    var blockedAttributes: Set<Name> = []
    /// Custom events that are not processed.
    var blockedEvents: Set<Name> = []
    /// Types of custom attributes that do not depend on their first value.
    var forcedTypes: [Name: AttributeType] = [:]
    var limits = TrackLimits()
    /// The in-app messages (docs/in-app-messages.md), as they are declared; nil without the key.
    package private(set) var messages: AttributeValue?
    /// The policies of attributes, which the log holds; nil without the key.
    package private(set) var policies: FoldRules?
    /// Days that exports look back for events and purchases; nil for the whole history.
    var exportWindowDays: Int?

    /// An app of the workspace.
    struct App: Hashable {
        var id: String
        var name: String
        var platform: String?
    }

    /// A group that a user can subscribe to.
    struct SubscriptionGroup: Hashable {
        var id: String
        var name: String
        /// `email`, `sms`, …: as in answers.
        var channel: String
    }

    /// The workspace without a file.
    package init() {}

    /// Stores in `log` what of the file the log holds, unless it holds the same already: the in-app messages and the
    /// policies of attributes.
    package func declare(in log: EventLog) throws {
        if let messages { _ = try log.commit(.messages(messages)) }
        if let policies { try log.setRules(policies) }
    }

    /// Tells whether requests may name the app `id`.
    func knowsApp(_ id: String) -> Bool { apps.isEmpty || app(id) != nil }

    func app(_ id: String) -> App? { apps.first { $0.id.utf8.elementsEqual(id.utf8) } }

    func subscriptionGroup(_ id: String) -> SubscriptionGroup? {
        subscriptionGroups.first { $0.id.utf8.elementsEqual(id.utf8) }
    }

    func segment(_ id: String) -> Segment? { segments.first { $0.id.utf8.elementsEqual(id.utf8) } }

    /// The messages that requests of this form can send.
    func campaigns(_ form: SendForm) -> [Campaign] { form == .canvas ? canvases : campaigns }

    func campaign(_ form: SendForm, _ id: String) -> Campaign? {
        campaigns(form).first { $0.id.hasSameBytes(as: id) }
    }
}

/// The workspace file; docs/workspace.md is its description.
extension Workspace {
    /// Bytes of a workspace file that are read at most.
    package static let maxBytes = 4 << 20

    /// Reads a workspace file. An empty one is the workspace without a file.
    package init(yaml: String) throws(YAMLFileError) {
        guard yaml.utf8.count <= Self.maxBytes else {
            throw YAMLFileError(
                line: 1, place: "", reason: "is larger than \(Self.maxBytes) bytes", remedy: "Shorten it.")
        }
        if let root = try YAMLNode(yaml: yaml) { try self.init(root) } else { self.init() }
    }

    /// The keys of a file.
    package static let fileKeys = [
        "apps", "subscription_groups", "traits", "segments", "campaigns", "canvases", "messages", "blocklist",
        "attribute_types", "attribute_policies", "limits", "export_window_days",
    ]

    /// Reads a workspace that is the whole or a part of a file.
    package init(_ root: YAMLNode) throws(YAMLFileError) {
        self.init()
        let fields = try root.fields(Self.fileKeys)
        apps = try Self.list(fields, "apps", Self.app)
        subscriptionGroups = try Self.list(fields, "subscription_groups", Self.group)
        traits = try fields["traits"]?.computedTraits() ?? []
        segments = try Self.list(fields, "segments", Self.segment)
        for segment in try fields.elements("segments") { try checkTraits(segment) }
        campaigns = try Self.list(fields, "campaigns", Campaign.init(campaign:))
        canvases = try Self.list(fields, "canvases", Campaign.init(canvas:))
        try checkSegments(fields)
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
        messages = try fields["messages"]?.inAppMessages()
        policies = try fields["attribute_policies"]?.attributePolicies()
        if let node = fields["limits"] { limits = try TrackLimits(node) }
        exportWindowDays = try fields["export_window_days"]?.integer(1...36_500)
    }

    private static func app(_ node: YAMLNode) throws(YAMLFileError) -> App {
        let fields = try node.fields(["id", "name", "platform"])
        return App(id: try fields.text("id"), name: try fields.text("name"), platform: try fields["platform"]?.text())
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
        return SubscriptionGroup(id: try fields.text("id"), name: try fields.text("name"), channel: name)
    }

    private static func segment(_ node: YAMLNode) throws(YAMLFileError) -> Segment {
        let fields = try node.fields(["id", "name", "users", "all", "any"])
        return Segment(id: try fields.text("id"), name: try fields.text("name"), rule: try Condition(segment: fields))
    }

    /// Throws if a condition of a segment is about a trait that is not there.
    private func checkTraits(_ condition: YAMLNode) throws(YAMLFileError) {
        for (key, value) in try condition.members() {
            if key == "all" || key == "any" {
                for element in try value.elements() { try checkTraits(element) }
            } else if key == "trait", !traits.contains(where: { $0.name.text == (try? value.text()) }) {
                let nearest = NearestNames(to: try value.text(), among: traits.map(\.name.text))
                throw value.refusal(
                    "is no trait of this file", remedy: nearest.question() ?? "Declare it under `traits`.")
            }
        }
    }

    /// Throws if a campaign or a canvas names a segment that is not there.
    private func checkSegments(_ fields: YAMLFields) throws(YAMLFileError) {
        let known = segments.map(\.id)
        for key in ["campaigns", "canvases"] {
            for element in try fields.elements(key) {
                for (name, value) in try element.members() where name == "segment" {
                    let id = try value.text()
                    guard segment(id) == nil else { continue }
                    throw value.refusal(
                        "is no segment of this file",
                        remedy: NearestNames(to: id, among: known).question() ?? "Declare it under `segments`.")
                }
            }
        }
    }

    /// The elements of a list, each by `read`. An `id` that is in two of them is refused.
    private static func list<Element>(
        _ fields: YAMLFields, _ key: String, _ read: (YAMLNode) throws(YAMLFileError) -> Element
    ) throws(YAMLFileError) -> [Element] {
        var seen: Set<Name> = []
        let nodes = try fields.elements(key)
        let elements = try nodes.map(read)
        for node in nodes {
            for (key, value) in try node.members() where key == "id" {
                guard seen.insert(Name(try value.text())).inserted else {
                    throw value.refusal("is the `id` of another one too", remedy: "Give each an `id` of its own.")
                }
            }
        }
        return elements
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

    private static func type(_ node: YAMLNode) throws(YAMLFileError) -> AttributeType {
        let text = try node.text()
        guard let type = AttributeType.allCases.first(where: { $0.word == text }) else {
            let words = AttributeType.allCases.map(\.word).joined(separator: ", ")
            throw node.refusal("is no type", remedy: "The types are \(words).")
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
        ("targeted_sends_per_minute", \.targetedSendsPerMinute, 1_000_000),
        ("send_ids_per_day", \.sendIDsPerDay, 1_000_000),
    ]

    init(_ node: YAMLNode) throws(YAMLFileError) {
        self.init()
        let fields = try node.fields(Self.keys.map(\.name))
        for key in Self.keys {
            if let number = fields[key.name] { self[keyPath: key.path] = try number.integer(1...key.most) }
        }
    }
}
