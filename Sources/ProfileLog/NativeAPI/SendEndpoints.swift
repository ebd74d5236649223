internal import ProfileLogRequests

/// The sent messages: `GET /v1/sends`, and `POST /v1/channels`, by which a test lets a channel fail.
struct SendEndpoints {
    let store: RequestStore

    private static let mostSends = 1_000

    /// Messages that were sent, or not and why, of one user or of all, in the order of the log.
    func sends(_ request: APIRequest, _ log: LogReader) throws -> APIAnswer {
        var query = Query(request)
        let id = try query.user()
        var filter = EventFilter()
        filter.kinds = [.messageSent, .messageNotSent]
        filter.name = try query.text("message").map { Name($0) }
        let after = Position(rawValue: try query.number("after", 0 ... .max - 1, standard: 0))
        let limit = try query.limit(standard: 100, most: Self.mostSends)
        try query.end()
        let found = try Self.found(id, filter, after, limit + 1, log)
        let note = ListNote(id == nil ? "sends" : "sends to the user", request, none: "No message was sent.")
            .naming("message", "campaign, canvas or message", isKnown: Self.isSent, among: Self.sentNames)
        var events = EventJSON(log: log)
        return try APIAnswer.ok { json in
            try json.array("sends", found.prefix(limit)) { try events.write($1, to: &$0) }
            json.member("more", found.count > limit)
            try json.note(note, isEmpty: found.isEmpty, in: log)
        }
    }

    /// The names of what was sent, or not.
    @Sendable private static func sentNames(_ log: LogReader) throws -> [String] {
        var names: Set<String> = []
        for event in try found(nil, EventFilter(kinds: [.messageSent, .messageNotSent]), .start, mostSends, log) {
            if case .message(let step) = event.event { names.insert(step.message.text) }
        }
        return names.sorted()
    }

    @Sendable private static func isSent(_ log: LogReader, _ name: String) throws -> Bool {
        let filter = EventFilter(kinds: [.messageSent, .messageNotSent], name: Name(name))
        return try !found(nil, filter, .start, 1, log).isEmpty
    }

    private static func found(
        _ id: UserID?, _ filter: EventFilter, _ after: Position, _ limit: Int, _ log: LogReader
    ) throws -> [RecordedEvent] {
        if let id {
            guard let user = try log.users.user(meantBy: id) else { throw APIError.unknownUser(id) }
            return try found(user.number, filter, after, limit, log)
        }
        var found: [RecordedEvent] = []
        var scanned = after
        while found.count < limit {
            let page = try log.events.page(from: scanned.next, limit: limit - found.count, where: filter)
            found += page.events.filter(\.event.isSend)
            scanned = max(scanned, page.scanned)
            if scanned >= page.last { break }
        }
        return found
    }

    private static func found(
        _ user: UserNumber, _ filter: EventFilter, _ after: Position, _ limit: Int, _ log: LogReader
    ) throws -> [RecordedEvent] {
        var found: [RecordedEvent] = []
        var from = try log.past.version(of: user, at: after).next
        while found.count < limit {
            let wanted = limit - found.count
            let page = try log.events.history(of: user, from: from, limit: wanted, where: filter)
            found += page.filter { $0.position > after && $0.event.isSend }
            guard page.count == wanted, let last = page.last else { break }
            from = last.version.next
        }
        return found
    }

    /// Lets a channel fail, or work again.
    func setChannel(_ request: APIRequest) throws -> APIAnswer {
        let fields = try Fields(withoutConditions: request)
        let name = try fields.requiredText("channel")
        guard let channel = MessageStep.Channel(name: name), channel != .inAppMessage else {
            let channels = MessageStep.Channel.allCases.filter { $0 != .inAppMessage }.map(\.name)
            throw APIError.invalid(
                "channel", "is no channel",
                remedy: "The channels are \(NearestNames(to: name, among: channels).all.joined(separator: ", ")).")
        }
        store.failingChannels.set(channel, fails: try fields.flag("fails"))
        return APIAnswer.ok { json in
            json.array("failing", store.failingChannels.all.map(\.name).sorted()) { $0.value($1) }
        }
    }
}

extension ProfileEvent {
    /// Tells whether it is about a channel. What a device gets of in-app messages is no send.
    fileprivate var isSend: Bool {
        if case .message(let step) = self { step.channel != .inAppMessage } else { false }
    }
}

extension SendEndpoints {
    static let list: AnswerShape = ["sends": [EventJSON.shape], "more": .boolean] + .note
    static let failing: AnswerShape = ["failing": [.text]]
}
