internal import ProfileLog
internal import ProfileLogBrazeAPI
internal import ProfileLogNativeAPI

/// A part of a JSON Schema: what a value may be.
indirect enum JSONSchema: Sendable {
    case any
    case types([String])
    case words([String])
    case numbers([Int])
    case integer(ClosedRange<Int>)
    /// A value of `types`, which matches this regular expression if it is text.
    case matching(String, types: [String])
    case list(JSONSchema, least: Int = 0)
    /// Members with any keys.
    case map(JSONSchema)
    case object([Member], required: [String] = [])
    case anyOf([JSONSchema])
    case described(String, JSONSchema)

    typealias Member = (name: String, schema: JSONSchema)

    static let text = types(["string", "number"])
    static let flag = types(["boolean"])
    static let null = types(["null"])
    static let span = matching("^-?[0-9]+[smhd]?$", types: ["string", "integer"])

    func write(to json: inout JSONWriter) {
        switch self {
        case .any: break
        case .types(let types): Self.write(types, to: &json)
        case .words(let words): json.member("enum", words)
        case .numbers(let numbers): json.member("enum", .array(numbers.map { .int(Int64($0)) }))
        case .integer(let range):
            json.member("type", "integer")
            json.member("minimum", range.lowerBound)
            json.member("maximum", range.upperBound)
        case .matching(let pattern, let types):
            Self.write(types, to: &json)
            json.member("pattern", pattern)
        case .list(let element, let least):
            json.member("type", "array")
            if least > 0 { json.member("minItems", least) }
            json.object("items") { element.write(to: &$0) }
        case .map(let value):
            json.member("type", "object")
            json.object("additionalProperties") { value.write(to: &$0) }
        case .object(let members, let required):
            json.member("type", "object")
            json.member("additionalProperties", false)
            if !required.isEmpty { json.member("required", required) }
            json.object("properties") { json in
                for member in members { json.object(member.name) { member.schema.write(to: &$0) } }
            }
        case .anyOf(let schemas): json.objects("anyOf", schemas) { $1.write(to: &$0) }
        case .described(let meaning, let schema):
            json.member("description", meaning)
            schema.write(to: &json)
        }
    }

    private static func write(_ types: [String], to json: inout JSONWriter) {
        types.count == 1 ? json.member("type", types[0]) : json.member("type", types)
    }
}

// MARK: - What devices and messages are set up with

extension JSONSchema {
    static let startup = anyOf([
        null,
        .object([
            ("prepared", .words(SDKStartup.preparations.words)),
            ("push_automation", .list(.words(SDKStartup.automations.words))),
            ("analytics", .words(SDKStartup.behaviors.words)),
            ("subscribed", .words(SDKStartup.subscriptions.words)),
        ]),
    ])

    private static let contentMembers: [Member] = [
        ("user_interaction", flag), ("pairs", .map(.words(ContentExtension.pairTypes.words))),
        ("input", .anyOf([null, .words(ContentExtension.inputs.words)])),
        ("language", .words(ContentExtension.languages.words)),
    ]

    /// A mapping, or the extension's property list by its file.
    static let contentExtension = anyOf([
        null, .types(["string"]),
        .object([("categories", .list(.types(["string"]), least: 1))] + contentMembers, required: ["categories"]),
        .object([("info_plist", .types(["string"]))] + contentMembers, required: ["info_plist"]),
    ])

    static let appGroupTargets = list(
        .object(
            [("process", .types(["string"])), ("app_group", .types(["string"]))], required: ["process", "app_group"]))

    /// A mapping, or the workspace's file.
    static let workspace = anyOf([
        .types(["string"]), .object(Workspace.fileKeys.map { ($0, $0 == "messages" ? inAppMessages : .any) }),
    ])

    private static let decision = words(InAppSettings.Decision.allCases.map(\.word))

    static let inAppSettings = object([
        ("minimum_interval", .span), ("automatic_display", flag), ("prevent_display_for_different_user", flag),
        ("orientation", .words(InAppSettings.Orientation.allCases.map(\.rawValue))),
        ("theme", .words(InAppSettings.Theme.allCases.map(\.rawValue))), ("request_time", .span),
        ("display_choice", decision), ("display_choices", .map(decision)),
        ("failing_assets", .list(.types(["string"]))),
    ])

    private static let filter = object(
        [
            ("property_key", .types(["string"])),
            ("property_type", .words(PropertyFilter.PropertyType.allCases.map(\.rawValue))),
            ("comparator", .numbers(PropertyFilter.Comparator.allCases.map(\.rawValue))), ("property_value", .any),
        ], required: ["property_key", "property_type", "comparator"])

    private static let trigger = anyOf(
        TriggerCondition.Word.allCases.map { word in
            let needed = word.keys.filter { $0 == "event_name" || $0 == "property_filters" }
            return .object(
                [("type", .words([word.rawValue]))]
                    + word.keys.map {
                        ($0, $0 == "property_filters" ? .list(.list(filter, least: 1), least: 1) : .text)
                    },
                required: ["type"] + needed)
        })

    static let inAppMessages = list(
        .object(
            [
                ("id", .types(["string"])), ("type", .words(InAppMessage.Kind.allCases.map(\.rawValue))),
                ("trigger_conditions", .list(trigger, least: 1)), ("priority", .types(["number"])),
                ("start_time", .text), ("end_time", .text), ("re_eligibility", .span), ("delay", .span),
                ("timeout", .span), ("orientation", .words(InAppMessage.Orientation.allCases.map(\.rawValue))),
                (
                    "form",
                    .object([
                        ("type", .words(["slideup", "modal", "full", "custom"])),
                        ("slide_from", .words(InAppMessage.Edge.allCases.map(\.rawValue))),
                        ("themes", .object(InAppSettings.Theme.allCases.map { ($0.rawValue, .types(["object"])) })),
                    ])
                ),
                ("header", .types(["string"])), ("message", .types(["string"])),
                ("buttons", .list(.types(["string"]))), ("extras", .types(["object"])),
                (
                    "assets",
                    .list(
                        .object(
                            [
                                ("type", .words(InAppMessage.Asset.Kind.allCases.map(\.rawValue))),
                                ("url", .types(["string"])),
                            ], required: ["url"]))
                ), ("control", flag),
            ], required: ["id", "trigger_conditions"]))
}
