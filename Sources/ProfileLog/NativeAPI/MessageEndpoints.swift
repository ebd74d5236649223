internal import ProfileLogRequests

/// `GET /v1/messages/explain`.
struct MessageEndpoints {
    let log: EventLog

    private static let mostEvents = 10_000

    /// Why a message was, or was not, sent, received or shown; or what became of the event at a position.
    func explain(_ request: APIRequest) throws -> APIAnswer {
        var query = Query(request)
        let id = try Identifiers.user(query.requiredText("user"))
        let message = try query.text("message").map { Name($0) }
        let position = try query.number("position", 0 ... .max, standard: 0)
        try query.end()
        guard (message == nil) != (position == 0) else {
            throw APIProblem.invalid("message", "or `position` is needed, and not both")
        }
        guard let user = try log.user(meantBy: id) else { throw APIProblem.unknownUser(id) }
        let history = try log.history(of: user.number)
        let links = EventChain.links(history) { event in
            guard let message else { return event.position.rawValue == position }
            guard case .message(let step) = event.event else { return false }
            return step.message == message || step.dispatch.map { Name($0) } == message
        }
        let reason = try links.isEmpty ? message.flatMap { try reasonWithoutSteps($0, user) } : nil
        guard !links.isEmpty || reason != nil else {
            throw APIProblem(
                status: 404, code: "no_such_message",
                error: message == nil
                    ? "The user has no event at this position." : "No step of this message is known for the user.",
                remedy: "See what was sent with GET /v1/sends, and the user's events with GET /v1/history.")
        }
        var events = EventJSON(log: log)
        return try APIAnswer.ok(version: user.version) { json in
            json.member("user", user)
            json.member("reason", reason)
            json.key("links")
            json.beginArray()
            for event in links.suffix(Self.mostEvents) { try events.write(event, to: &json) }
            json.endArray()
        }
    }
    /// Why nothing happened to an in-app message that is declared, or that a device of the user has; nil for others.
    private func reasonWithoutSteps(_ message: Name, _ user: UserInfo) throws -> String? {
        var devices: [String] = []
        for device in try log.devices() where device.user == user.number {
            if try log.inAppState(of: device.device)?.isEligible(message) == true { devices.append(device.device) }
        }
        guard devices.isEmpty else {
            return "it is eligible on \(devices.joined(separator: ", ")), and no event triggered it"
        }
        guard case .array(let declared) = try log.declaredMessages().definitions,
            declared.contains(where: { $0["id"] == .string(message.text) })
        else { return nil }
        return "it is declared, and no device of the user has had a session with a network since"
    }
}
