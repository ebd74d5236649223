internal import ProfileLogRequests

/// The pushes of a device: `GET /v1/devices/{device}/pushes` and `POST /v1/devices/{device}/push`.
struct PushEndpoints {
    let store: RequestStore

    /// Fields of `POST /v1/devices/{device}/push`.
    static let inputs: [EndpointInput] = [
        .required("action"), .init("push", .integer), .init("limit", .integer), .init("payload", .object),
        .init("channel"), .init("message"), .init("collapse_id"), .init("expiry"), .init("way"), .init("text"),
        .init("button"), .init("response"), .init("time"),
    ]

    /// Bytes of a payload on its way to a device (spec/messaging-api 2).
    private static let maxBytes = 4_096
    private static let mostDelivered = PushState.mostUnderway

    // MARK: - Reading

    func pushes(_ request: APIRequest, _ log: LogReader) throws -> APIAnswer {
        let device = try AskedDevice(request, log)
        let state = device.state.status.pushes
        var events = EventJSON(log: log, past: device.past)
        return try APIAnswer.ok { json in
            json.member("device", device.id)
            try write(state, &events, to: &json)
            let isEmpty = state.pushes.isEmpty && state.captured.isEmpty
            try json.note(ListNote("pushes on the device", request, past: device.asked), isEmpty: isEmpty, in: log)
        }
    }

    private func write(_ state: PushState, _ events: inout EventJSON, to json: inout JSONWriter) throws {
        try json.objects("underway", state.pushes.filter(\.isUnderway)) { try write($1, &events, to: &$0) }
        try json.objects("shown", state.pushes.filter { !$0.isUnderway }) { try write($1, &events, to: &$0) }
        try json.objects("captured", state.captured) { json, capture in
            json.member("push", capture.position)
            json.member("user", try events.id(of: UserNumber(rawValue: capture.user)))
            try write(stepAt: capture.position, withContent: false, events.log, to: &json)
        }
    }

    private func write(_ push: PushProgress, _ events: inout EventJSON, to json: inout JSONWriter) throws {
        json.member("push", push.sent)
        json.member("last", push.last)
        json.member("user", try events.id(of: UserNumber(rawValue: push.user)))
        if !push.isUnderway { json.member("screen", push.screen.name) }
        try write(stepAt: push.sent, withContent: true, events.log, to: &json)
    }

    /// Writes the message of the step at `position`.
    private func write(
        stepAt position: UInt64, withContent: Bool, _ log: LogReader, to json: inout JSONWriter
    ) throws {
        guard let event = try log.event(at: Position(rawValue: position)), case .message(let step) = event.event else {
            return
        }
        json.member("at", event.occurredAt)
        json.member("message", step.message.text.isEmpty ? nil : step.message.text)
        json.member("channel", step.channel.name)
        json.member("dispatch_id", step.dispatch)
        json.member("action", step.action)
        if withContent { json.member("content", .object(JSONValues.json(step.content))) }
    }

    // MARK: - Acting

    func push(_ request: APIRequest) async throws -> APIAnswer {
        let (device, fields) = try DeviceEndpoints.deviceFields(request)
        let intent = try Self.intent(fields)
        let context = try DeviceEndpoints.deviceContext(fields)
        let report = try await APIError.decidingHere {
            try await store.perform { log in try log.push(intent, on: device, context: context) }
        }
        return try store.read { try answer(report, on: device, $0) }
    }

    private func answer(_ report: PushReport, on device: String, _ log: LogReader) throws -> APIAnswer {
        var events = EventJSON(log: log)
        let positions = (report.events + report.flushed).sorted()
        let state = try log.devices.state(of: device)
        return try APIAnswer.ok { json in
            try json.stored((positions + report.sent).max() ?? .start, in: log)
            json.member("device", device)
            try json.array("events", positions) { json, position in
                if let event = try log.event(at: position) { try events.write(event, to: &json) }
            }
            try events.writeSent(report.sent, to: &json)
            try write(try log.devices.pushes(on: device), &events, to: &json)
            json.member("queued", state.queued.count)
            json.member("waiting", state.waiting.count)
        }
    }

    /// The member `action`.
    private enum Action: String, CaseIterable {
        case deliver, receive, expand, input, act, open, dismiss, initialize
        case forceQuit = "force_quit"

        private var fields: Set<Name> {
            switch self {
            case .deliver: ["limit"]
            case .receive: ["payload", "channel", "message", "collapse_id", "expiry"]
            case .expand: ["push", "way"]
            case .input: ["push", "text"]
            case .act: ["push", "button", "response"]
            case .open, .dismiss: ["push"]
            case .initialize, .forceQuit: []
            }
        }

        /// Refuses a field that says nothing about this action.
        func check(_ given: Fields) throws {
            for input in PushEndpoints.inputs where !["action", "time"].contains(input.name) {
                let name = Name(input.name)
                guard given.value(name) != nil, !fields.contains(name) else { continue }
                let known = fields.sorted().map(\.text).joined(separator: ", ")
                throw APIError.invalid(
                    input.name, "does not belong to the action \(rawValue)",
                    remedy: known.isEmpty ? "Send `action` alone." : "The fields of this action are \(known).")
            }
        }
    }

    static func intent(_ fields: Fields) throws -> PushIntent {
        let action = try fields.requiredText("action")
        guard let kind = Action(rawValue: action) else {
            let nearest = NearestNames(to: action, among: Action.allCases.map(\.rawValue))
            throw APIError.invalid(
                "action", "is none of a push",
                remedy: nearest.question() ?? "Send one of \(nearest.all.joined(separator: ", ")).")
        }
        try kind.check(fields)
        return try intent(kind, fields)
    }

    private static func intent(_ action: Action, _ fields: Fields) throws -> PushIntent {
        switch action {
        case .deliver:
            let limit = try fields.integer(
                "limit", in: 1...Int64(mostDelivered), "must be from 1 to \(mostDelivered)")
            return .deliver(limit: limit.map { Int($0) } ?? mostDelivered)
        case .receive: return .receive(try step(fields))
        case .expand:
            let way = try fields.choice("way", "must be long_press, swipe_down or view", Expansion.init(rawValue:))
            return .expand(try choice(fields), way ?? .longPress)
        case .input: return .input(try choice(fields), try fields.requiredText("text"))
        case .act:
            let words = ExtensionResponse.allCases.map(\.rawValue).joined(separator: ", ")
            let response = try fields.choice(
                "response", "must be one of \(words)", ExtensionResponse.init(rawValue:))
            return .act(try choice(fields), action: try fields.requiredText("button"), response)
        case .open: return .open(try choice(fields))
        case .dismiss: return .dismiss(try choice(fields))
        case .initialize: return .initialize
        case .forceQuit: return .forceQuit
        }
    }

    private static func choice(_ fields: Fields) throws -> PushIntent.PushChoice {
        try fields.integer("push", in: 1 ... .max, "must be a position, 1 or more").map { .at(UInt64($0)) } ?? .newest
    }

    /// The push of `receive`: a push that another service sent, or one from a file.
    private static func step(_ fields: Fields) throws -> MessageStep {
        guard let members = try fields.object("payload") else {
            throw APIError.invalid(
                "payload", "is missing", remedy: #"Send it as the device gets it: {"aps": {"alert": "Hi"}}."#)
        }
        let payload = AttributeValue.object(members)
        let bytes = payload.jsonByteCount
        guard bytes <= maxBytes else {
            throw APIError.invalid(
                "payload", "has \(bytes) bytes, more than the \(maxBytes) of a push",
                remedy: "Send less in it.")
        }
        let channel = try fields.choice("channel", "must be apple_push or android_push") { name in
            MessageStep.Channel(name: name).flatMap { $0.isPush ? $0 : nil }
        }
        var content: [AttributeValue.Member] = []
        if let collapse = try fields.text("collapse_id") { content.append(.init("collapse_id", .string(collapse))) }
        if let expiry = try fields.time("expiry") {
            let text = expiry.timestamp.rfc3339(utcOffsetMinutes: expiry.utcOffsetMinutes)
            content.append(.init("expiry", .string(text)))
        }
        content.append(.init("payload", payload))
        return MessageStep(
            .received, of: Name(try fields.text("message") ?? ""), by: channel ?? .applePush, content: content)
    }
}

// MARK: - The form of the answers

extension PushEndpoints {
    private static let push: AnswerShape = .named(
        "Push",
        [
            "push": .integer, "last?": .integer, "user?": .text, "screen?": .text, "at?": .time, "message?": .text,
            "channel?": .text, "dispatch_id?": .text, "action?": .text, "content?": .map(.any),
        ])

    private static let state: AnswerShape = ["underway": [push], "shown": [push], "captured": [push]]

    static let pushes: AnswerShape = ["device": .text] + state + .note

    static let acted: AnswerShape =
        .stored + ["device": .text, "events": [EventJSON.shape], "sent": [EventJSON.outcome]] + state
        + ["queued": .integer, "waiting": .integer]
}
