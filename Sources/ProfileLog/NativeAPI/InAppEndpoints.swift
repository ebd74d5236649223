internal import ProfileLogRequests

/// In-app messages: `/v1/messages` and `/v1/devices/{device}/messages` (docs/in-app-messages.md).
package struct InAppEndpoints {
    let store: RequestStore

    static let actionInputs: [EndpointInput] = [
        .required("action"), .init("message"), .init("button"), .init("time"),
    ]

    // MARK: - Declarations

    /// `POST /v1/messages`: replaces the declared messages.
    func declare(_ request: APIRequest) async throws -> APIAnswer {
        let fields = try Fields(withoutConditions: request)
        guard let list = fields.value("messages") else {
            throw APIError.invalid("messages", "is missing", remedy: "Send the list of all messages.")
        }
        let definitions = try Self.definitions(list)
        let receipt = try await store.perform { log in try log.commit(.messages(definitions)) }
        return try store.read { log in
            try APIAnswer.ok { json in
                _ = try Self.writeDeclared(log, to: &json)
                json.member("changed", !receipt.places.isEmpty)
            }
        }
    }

    /// The list as it is stored; a wrong definition is refused by its place.
    static func definitions(_ list: AttributeValue) throws -> AttributeValue {
        do {
            let list = try JSONValues.value(list)
            _ = try InAppMessage.list(list, at: "messages")
            return list
        } catch let error as JSONFormError {
            throw APIError.invalid("messages", error.reason)
        }
    }

    /// Writes the declared messages, and returns whether there are none.
    private static func writeDeclared(_ log: LogReader, to json: inout JSONWriter) throws -> Bool {
        let declared = try log.devices.declaredMessages()
        json.member("position", declared.position.rawValue)
        try json.cursor(declared.position, in: log)
        json.member("messages", JSONValues.json(declared.definitions))
        try writeSkipped(declared.definitions, to: &json)
        return declared.definitions == .array([])
    }

    /// Says which of the stored definitions this program refuses: nothing triggers them.
    private static func writeSkipped(_ definitions: AttributeValue, to json: inout JSONWriter) throws {
        let skipped = try InAppMessage.stored(definitions, at: "messages").skipped
        if skipped.isEmpty { return }
        json.objects("skipped", skipped) { json, error in
            json.member("place", error.place)
            json.member("reason", error.reason)
            json.member("remedy", error.remedy)
        }
    }

    /// `GET /v1/messages`: the declared messages.
    func declared(_ request: APIRequest, _ log: LogReader) throws -> APIAnswer {
        try Query(request).end()
        return try APIAnswer.ok { json in
            let isEmpty = try Self.writeDeclared(log, to: &json)
            try json.note(ListNote("declared in-app messages", request), isEmpty: isEmpty, in: log)
        }
    }

    // MARK: - A device

    /// `GET /v1/devices/{device}/messages`: what the device has of it.
    func messages(_ request: APIRequest, _ log: LogReader) throws -> APIAnswer {
        let device = try AskedDevice(request, log)
        let state = device.state.status.inApp ?? InAppState()
        return try APIAnswer.ok { json in
            json.member("device", device.id)
            json.member("user", try device.state.user.flatMap { try log.user($0, in: device.past) })
            write(state, to: &json)
            try Self.writeSkipped(log.devices.declaredMessages(in: device.past).definitions, to: &json)
            EventJSON.write(device.state.settings, to: &json)
            let isEmpty = state.eligible.isEmpty && state.screen == nil && state.stack.isEmpty && state.delayed.isEmpty
            let note = ListNote("in-app messages on the device", request, past: device.asked)
            try json.note(note, isEmpty: isEmpty, in: log)
        }
    }

    private func write(_ state: InAppState, to json: inout JSONWriter) {
        json.member("catalogue", state.catalogue)
        json.array("eligible", state.eligible) { $0.value($1.text) }
        json.member("screen", state.screen.map { AttributeValue.string($0.message.text) } ?? .null)
        // The next one first, as the app sees the stack.
        json.array("stack", state.stack.reversed()) { $0.value($1.message.text) }
        json.objects("delayed", state.delayed) { json, item in
            json.member("message", item.message.text)
            json.member("ready_at", Timestamp(rawValue: item.readyAt))
            if let deadline = item.deadline { json.member("deadline", Timestamp(rawValue: deadline)) }
        }
        json.member("last_trigger", state.lastTrigger.map(Timestamp.init(rawValue:)))
    }

    /// `POST /v1/devices/{device}/messages`: the app or the user does something.
    func act(_ request: APIRequest) async throws -> APIAnswer {
        try request.refuseConditions()
        try Query(request).end()
        let device = try Identifiers.device(request.parameters["device"] ?? DeviceStorage.defaultDevice)
        let fields = try DeviceEndpoints.fields(request)
        let action = try Self.action(fields)
        let context = try DeviceEndpoints.deviceContext(fields)
        let receipt = try await APIError.decidingHere {
            try await store.perform { log in try log.commit(.inApp(action, on: device, context: context)) }
        }
        return try store.read { log in
            var events = EventJSON(log: log)
            return try APIAnswer.ok { json in
                try json.stored(receipt.stored, in: log)
                json.member("device", device)
                try json.array("steps", log.events(of: receipt)) { try events.write($1, to: &$0) }
                write(try log.devices.inAppState(of: device) ?? InAppState(), to: &json)
            }
        }
    }

    static func action(_ fields: Fields) throws -> InAppAction {
        let message = try fields.text("message").map { Name($0) }
        let button = try fields.text("button").map { Name($0) }
        let word = try fields.requiredText("action")
        if word != "present", message != nil {
            throw APIError.invalid("message", "belongs to the action `present` only")
        }
        if !["click", "log_click"].contains(word), button != nil {
            throw APIError.invalid("button", "belongs to the actions `click` and `log_click` only")
        }
        switch word {
        case "next": return .next
        case "present":
            guard let message else { throw APIError.invalid("message", "is missing") }
            return .present(message)
        case "click": return .click(button: button)
        case "close": return .close
        case "log_impression": return .logImpression
        case "log_click": return .logClick(button: button)
        case "time_passed": return .timePassed
        default:
            let nearest = NearestNames(to: word, among: actions)
            throw APIError.invalid("action", "is not known", remedy: nearest.remedy("The actions are", "`"))
        }
    }

    package static let actions = ["next", "present", "click", "close", "log_impression", "log_click", "time_passed"]
}

extension EventJSON {
    /// Writes the settings of in-app messages as `messages`, unless they are the defaults.
    static func write(_ settings: InAppSettings, to json: inout JSONWriter) {
        if settings == InAppSettings() { return }
        json.object("messages") { json in
            json.member("minimum_interval", Int(settings.minimumInterval))
            json.member("automatic_display", settings.isDisplayAutomatic)
            json.member("prevent_display_for_different_user", settings.guardsUser)
            json.member("orientation", settings.orientation.rawValue)
            json.member("theme", settings.theme.rawValue)
            json.member("request_time", Int(settings.requestTime))
            json.member("display_choice", settings.decision.word)
            json.object("display_choices") { json in
                for (message, decision) in settings.decisions.sorted(by: { $0.key < $1.key }) {
                    json.member(message.text, decision.word)
                }
            }
            json.array("failing_assets", settings.failingAssets.sorted()) { $0.value($1.text) }
        }
    }
}

// MARK: - The form of the answers

extension InAppEndpoints {
    /// The member `messages` of a device's settings.
    static let settings: AnswerShape = [
        "minimum_interval": .integer, "automatic_display": .boolean, "prevent_display_for_different_user": .boolean,
        "orientation": .text, "theme": .text, "request_time": .integer, "display_choice": .text,
        "display_choices": .map(.text), "failing_assets": [.text],
    ]

    static let declarations: AnswerShape =
        .stored + [
            "messages": [.map(.any)], "skipped?": [["place": .text, "reason": .text, "remedy?": .text]],
        ] + .note

    static let declared: AnswerShape = declarations + ["changed": .boolean]

    private static let state: AnswerShape = [
        "catalogue": .integer, "eligible": [.text], "screen": .orNull(.text), "stack": [.text],
        "delayed": [["message": .text, "ready_at": .time, "deadline?": .time]], "last_trigger": .orNull(.time),
    ]

    static let messages: AnswerShape =
        ["device": .text, "user": .orNull(.user)] + state + ["settings": EventJSON.settings] + .note

    static let action: AnswerShape =
        .stored + ["device": .text, "steps": [EventJSON.shape]] + state
}
