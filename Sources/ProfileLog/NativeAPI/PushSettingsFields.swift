internal import ProfileLogRequests

/// The push settings of a device as fields of a request and members of an answer.
enum PushSettingsFields {
    static let inputs: [EndpointInput] = [
        .init("permission"), .init("startup", .any), .init("content_extension", .any), .init("server_events"),
    ]

    // MARK: - Reading

    static func read(_ fields: Fields, into change: inout SettingsChange) throws {
        change.permission = try fields.choice("permission", PushSettings.permissions)
        change.serverEvents = try fields.choice("server_events", PushSettings.handlers)
        // `null`: the SDK starts with the app.
        if let startup = fields.value("startup") {
            change.startup = try members(startup, "startup").map { try SDKStartup($0) } ?? SDKStartup()
        }
        // `null`: the app has none.
        if let app = fields.value("content_extension") {
            change.contentExtension = .some(try members(app, "content_extension").map { try ContentExtension($0) })
        }
    }

    /// The members of an object; nil for `null`.
    private static func members(_ value: AttributeValue, _ place: String) throws -> [AttributeValue.Member]? {
        switch value {
        case .null: return nil
        case .object(let members): return members
        default: throw APIError.invalid(place, "must be an object or null")
        }
    }

    // MARK: - Writing

    static func write(_ settings: PushSettings, to json: inout JSONWriter) {
        json.member("permission", PushSettings.permissions.word(settings.permission))
        json.member("force_quit", settings.isForceQuit)
        json.member("sdk_instance", settings.hasInstance)
        write(settings.startup, to: &json)
        write(settings.contentExtension, to: &json)
        json.member("server_events", PushSettings.handlers.word(settings.serverEvents))
    }

    private static func write(_ startup: SDKStartup, to json: inout JSONWriter) {
        guard startup.isDelayed else { return json.member("startup", .null) }
        json.object("startup") { json in
            json.member("prepared", SDKStartup.preparations.word(startup.preparation))
            json.array(
                "push_automation", SDKStartup.automations.all.filter { startup.automation.contains($0.value) }
            ) { $0.value($1.word) }
            json.member("analytics", SDKStartup.behaviors.word(startup.analytics))
            json.member("subscribed", SDKStartup.subscriptions.word(startup.subscription))
        }
    }

    private static func write(_ app: ContentExtension?, to json: inout JSONWriter) {
        guard let app else { return json.member("content_extension", .null) }
        json.object("content_extension") { json in
            json.array("categories", app.categories) { $0.value($1.text) }
            json.member("user_interaction", app.allowsInteraction)
            json.object("pairs") { json in
                for pair in app.pairs {
                    json.member(pair.key.text, ContentExtension.pairTypes.word(pair.isNumber))
                }
            }
            json.member("input", app.input.map { AttributeValue.string(ContentExtension.inputs.word($0)) } ?? .null)
            json.member("language", ContentExtension.languages.word(app.language))
        }
    }
}

extension Fields {
    /// Reads the choice that the word at `name` names; another word is refused with the nearest.
    fileprivate func choice<Value>(_ name: Name, _ words: SettingsWords<Value>) throws -> Value? {
        guard let text = try text(name) else { return nil }
        if let value = words.value(text) { return value }
        throw DocumentError(
            place: name.text, reason: "is not a known word", unknown: text, among: words.words, called: "words")
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
            "language": .text,
        ]),
        "server_events": .text,
    ]
}
