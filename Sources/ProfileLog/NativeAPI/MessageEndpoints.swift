internal import ProfileLogRequests

/// `GET /v1/messages/explain`.
struct MessageEndpoints {
    let log: EventLog

    private static let mostLinks = 10_000
    private static let versionsPerPage: UInt64 = 4_096

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
        let links = try links(of: user) { event in
            guard let message else { return event.position.rawValue == position }
            guard case .message(let step) = event.event else { return false }
            return step.message == message || step.dispatch.map { Name($0) } == message
                || step.stage == .ignored && InAppContent(step.content).others.contains(message)
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
            try json.array("links", links.prefix(Self.mostLinks)) { try events.write($1, to: &$0) }
            json.member("more", links.count > Self.mostLinks)
        }
    }

    /// The first links of the user's chain, one more than an answer has.
    private func links(of user: UserInfo, from isWanted: (RecordedEvent) -> Bool) throws -> [RecordedEvent] {
        var chain = EventChain()
        var first: UInt64 = 1
        while first <= user.version.rawValue {
            let last = min(first + Self.versionsPerPage - 1, user.version.rawValue)
            let page = try log.history(of: user.number, from: Version(rawValue: first), to: Version(rawValue: last))
            for event in page { chain.add(event, isWanted: isWanted(event)) }
            first = last + 1
        }
        var links: [RecordedEvent] = []
        for position in chain.positions() where links.count <= Self.mostLinks {
            if let event = try log.event(at: position), event.user == user.number { links.append(event) }
        }
        return links
    }

    /// Why nothing happened to an in-app message that is declared, or that a device of the user has; nil for others.
    private func reasonWithoutSteps(_ message: Name, _ user: UserInfo) throws -> String? {
        var devices: [String] = []
        for name in try log.state(UsageProjection.self, of: user.number, asOf: user.version).devices.sorted() {
            let device = name.text
            guard try log.device(device)?.user == user.number else { continue }
            if try log.inAppState(of: device)?.isEligible(message) == true { devices.append(device) }
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

extension MessageEndpoints {
    static let explanation: AnswerShape = [
        "user": .user, "reason?": .text, "links": [EventJSON.shape], "more": .boolean,
    ]
}
