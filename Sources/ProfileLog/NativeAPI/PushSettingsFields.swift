internal import ProfileLogRequests

/// The push settings of a device as fields of a request and members of an answer.
enum PushSettingsFields {
    static let inputs: [EndpointInput] = [
        .init("permission"), .init("startup", .any), .init("content_extension", .any), .init("server_events"),
    ]

    // MARK: - Reading

    static func read(_ fields: Fields, into change: inout SettingsChange) throws {
        change.permission = try fields.choice(
            "permission", "must be granted, denied or not_asked", permissions.value)
        change.serverEvents = try fields.choice(
            "server_events", "must be swift, objective-c or off", handlers.value)
        if let startup = fields.value("startup") { change.startup = try self.startup(startup) }
        if let app = fields.value("content_extension") { change.contentExtension = .some(try contentExtension(app)) }
    }

    /// `null`: the SDK starts with the app.
    private static func startup(_ value: AttributeValue) throws -> SDKStartup {
        var startup = SDKStartup()
        if value == .null { return startup }
        let fields = try object(value, "startup", ["prepared", "push_automation", "analytics", "subscribed"])
        startup.isDelayed = true
        startup.preparation =
            try fields.choice("prepared", "must be in_time, too_late or never", preparations.value) ?? .inTime
        startup.analytics = try fields.choice("analytics", "must be queue or drop", analytics.value) ?? .queue
        let subscribed = try fields.choice("subscribed", "must be in_time or too_late") {
            ["in_time": true, "too_late": false][$0]
        }
        startup.subscribesInTime = subscribed ?? true
        if let options = try fields.array("push_automation") {
            startup.automation = []
            for option in options {
                guard let automation = option.asText.flatMap(automations.value) else {
                    throw APIProblem.invalid(
                        "push_automation", "must list received, opened and authorization",
                        remedy: "Send null for the standard, which is received and opened.")
                }
                startup.automation.insert(automation)
            }
        }
        return startup
    }

    /// `null`: the app has none.
    private static func contentExtension(_ value: AttributeValue) throws -> ContentExtension? {
        if value == .null { return nil }
        let fields = try object(value, "content_extension", ["categories", "user_interaction", "pairs", "input"])
        let categories = (try fields.array("categories") ?? []).compactMap { $0.asText.map { Name($0) } }
        guard !categories.isEmpty, categories.count == (try fields.array("categories") ?? []).count,
            categories.allSatisfy({ !$0.text.isEmpty })
        else {
            throw APIProblem.invalid(
                "content_extension.categories", "must list one category or more",
                remedy: "Send those of UNNotificationExtensionCategory.")
        }
        var app = ContentExtension(categories: categories)
        app.allowsInteraction = try fields.flag("user_interaction")
        app.input = try fields.choice("input", "must be email, phone or text", inputKinds.value)
        app.pairs = try (fields.object("pairs") ?? []).map { pair in
            guard pair.value == .string("text") || pair.value == .string("number") else {
                throw APIProblem.invalid(
                    "content_extension.pairs.\(pair.key.text)", "must be text or number: what the extension reads")
            }
            return .init(pair.key, isNumber: pair.value == .string("number"))
        }
        return app
    }

    private static func object(_ value: AttributeValue, _ place: String, _ known: Set<Name>) throws -> Fields {
        guard case .object(let members) = value else { throw APIProblem.invalid(place, "must be an object or null") }
        return try Fields(members, known)
    }

    // MARK: - Writing

    static func write(_ settings: PushSettings, to json: inout JSONWriter) {
        json.member("permission", permissions.word(settings.permission))
        json.member("force_quit", settings.isForceQuit)
        json.member("sdk_instance", settings.hasInstance)
        write(settings.startup, to: &json)
        write(settings.contentExtension, to: &json)
        json.member("server_events", handlers.word(settings.serverEvents))
    }

    private static func write(_ startup: SDKStartup, to json: inout JSONWriter) {
        guard startup.isDelayed else { return json.member("startup", .null) }
        json.object("startup") { json in
            json.member("prepared", preparations.word(startup.preparation))
            json.array("push_automation", automations.all.filter { startup.automation.contains($0.value) }) {
                $0.value($1.word)
            }
            json.member("analytics", analytics.word(startup.analytics))
            json.member("subscribed", startup.subscribesInTime ? "in_time" : "too_late")
        }
    }

    private static func write(_ app: ContentExtension?, to json: inout JSONWriter) {
        guard let app else { return json.member("content_extension", .null) }
        json.object("content_extension") { json in
            json.array("categories", app.categories) { $0.value($1.text) }
            json.member("user_interaction", app.allowsInteraction)
            json.object("pairs") { json in
                for pair in app.pairs { json.member(pair.key.text, pair.isNumber ? "number" : "text") }
            }
            json.member("input", app.input.map { AttributeValue.string(inputKinds.word($0)) } ?? .null)
        }
    }

    // MARK: - Words

    private static let permissions = Words<PushSettings.Permission>([
        ("granted", .granted), ("denied", .denied), ("not_asked", .notAsked),
    ])
    private static let handlers = Words<ServerEventHandler>([
        ("swift", .swift), ("objective-c", .objectiveC), ("off", .off),
    ])
    private static let preparations = Words<SDKStartup.Preparation>([
        ("in_time", .inTime), ("too_late", .tooLate), ("never", .never),
    ])
    private static let analytics = Words<SDKStartup.Analytics>([("queue", .queue), ("drop", .drop)])
    private static let automations = Words<PushAutomation>([
        ("received", .received), ("opened", .opened), ("authorization", .authorization),
    ])
    private static let inputKinds = Words<ContentExtension.Input>([
        ("email", .email), ("phone", .phone), ("text", .text),
    ])

    /// Values and their names in JSON.
    private struct Words<Value: Equatable & Sendable>: Sendable {
        let all: [(word: String, value: Value)]

        init(_ all: [(word: String, value: Value)]) { self.all = all }

        func value(_ word: String) -> Value? { all.first { $0.word == word }?.value }
        func word(_ value: Value) -> String { all.first { $0.value == value }?.word ?? "" }
    }
}

extension PushSettingsFields {
    /// The members that `write` adds to the settings of a device.
    static let shape: AnswerShape = [
        "permission": .text, "force_quit": .boolean, "sdk_instance": .boolean,
        "startup": .orNull([
            "prepared": .text, "push_automation": [.text], "analytics": .text, "subscribed": .text,
        ]),
        "content_extension": .orNull([
            "categories": [.text], "user_interaction": .boolean, "pairs": .map(.text), "input": .orNull(.text),
        ]),
        "server_events": .text,
    ]
}
