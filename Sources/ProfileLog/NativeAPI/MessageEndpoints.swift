internal import ProfileLogRequests

/// `GET /v1/messages/explain`.
struct MessageEndpoints {
    let log: LogReader

    private static let mostLinks = 10_000

    /// Returns the reason why a message was, or was not, sent, received or shown; or what became of the event at a
    /// position.
    func explain(_ request: APIRequest) throws -> APIAnswer {
        var query = Query(request)
        let id = try Identifiers.user(query.requiredText("user"))
        let message = try query.text("message").map { Name($0) }
        let position = try query.number("position", 0 ... .max, standard: 0)
        try query.end()
        guard (message == nil) != (position == 0) else {
            throw APIError.invalid("message", "or `position` is needed, and not both")
        }
        guard let user = try log.users.user(meantBy: id) else { throw APIError.unknownUser(id) }
        let (links, fates) = try links(of: user) { event in
            guard let message else { return event.position.rawValue == position }
            guard case .message(let step) = event.event else { return false }
            return step.message == message || step.dispatch.map { Name($0) } == message
                || step.stage == .ignored && InAppContent(step.content).others.contains(message)
        }
        let definition = try message.flatMap { try declared($0) }
        let misses = try definition.map { try nearMisses(of: $0, user, fates) } ?? []
        let reason = try links.isEmpty ? message.flatMap { try reasonWithoutSteps($0, user, definition) } : nil
        guard !links.isEmpty || reason != nil else {
            throw try unknown(message, user)
        }
        var events = EventJSON(log: log)
        return try APIAnswer.ok(version: user.version) { json in
            json.member("user", user)
            json.member("reason", reason)
            try json.array("links", links.prefix(Self.mostLinks)) { try events.write($1, to: &$0) }
            json.member("more", links.count > Self.mostLinks)
            try events.write(misses, to: &json)
        }
    }

    /// Status 404: no event at the position, or no step of `message`. Names the nearest message that is known.
    private func unknown(_ message: Name?, _ user: UserInfo) throws -> APIError {
        let look = "See what was sent with `GET /v1/sends`, and the user's events with `GET /v1/history`."
        guard let message else {
            return APIError(
                status: 404, code: "no_such_message", error: "The user has no event at this position.", remedy: look)
        }
        var known = Set(
            try InAppMessage.stored(log.devices.declaredMessages().definitions, at: "messages").messages.map(\.id))
        try log.events.forEachInLife(
            of: user.number, asOf: user.version, skipping: { _, _ in },
            where: { kind, _ in if case .message = kind.role { true } else { false } }
        ) { event in
            if case .message(let step) = event.event, !step.message.text.isEmpty { known.insert(step.message) }
            return true
        }
        let near = NearestNames(to: message.text, among: known.map(\.text).sorted()).close.first
        let guess = near.map { "Did you mean \($0.shown)? " } ?? ""
        return APIError(
            status: 404, code: "no_such_message", error: "No step of this message is known for the user.",
            remedy: guess + look)
    }

    /// The first links of the chain in a life, one more than an answer has, and what became of its items.
    private func links(
        of user: UserInfo, from isWanted: (RecordedEvent) -> Bool
    ) throws -> (links: [RecordedEvent], fates: ItemFates) {
        var chain = EventChain()
        var fates = ItemFates()
        try log.events.forEachInLife(of: user.number, asOf: user.version) { event in
            chain.add(event, isWanted: isWanted(event))
            fates.add(event)
            return true
        }
        return (try chain.positions().prefix(Self.mostLinks + 1).compactMap { try log.event(at: $0) }, fates)
    }

    private func nearMisses(of message: InAppMessage, _ user: UserInfo, _ fates: ItemFates) throws -> [NearMiss] {
        var finder = TriggerMisses(message, UnsettledItems(log: log, fates: fates))
        try log.events.forEachInLife(of: user.number, asOf: user.version, where: { kind, _ in kind.mayTrigger }) {
            event in
            try finder.add(event)
            return true
        }
        return finder.newest
    }

    /// The in-app message with this ID, as it is declared now; nil if it is not.
    private func declared(_ message: Name) throws -> InAppMessage? {
        let definitions = try log.devices.declaredMessages().definitions
        return try InAppMessage.stored(definitions, at: "messages").messages.first { $0.id == message }
    }

    /// Returns the reason why nothing happened to an in-app message that is declared, or that a device of the user has;
    /// nil for others.
    private func reasonWithoutSteps(
        _ message: Name, _ user: UserInfo, _ definition: InAppMessage?
    ) throws -> String? {
        var devices: [String] = []
        for name in try log.state(UsageProjection.self, of: user.number, asOf: user.version).devices.sorted() {
            let device = name.text
            guard try log.devices.find(device)?.user == user.number else { continue }
            if try log.devices.inAppState(of: device)?.isEligible(message) == true { devices.append(device) }
        }
        guard devices.isEmpty else {
            return "it is eligible on \(devices.joined(separator: ", ")), and no event triggered it"
        }
        return definition == nil
            ? nil : "it is declared, and no device of the user has had a session with a network since"
    }
}

/// Finds the events of a life that came near to triggering an in-app message, and why they did not.
struct TriggerMisses {
    private let message: InAppMessage
    private var items: UnsettledItems
    private var misses: [NearMiss] = []
    /// The messages that each device had in its session.
    private var sessions: [String: [Name]] = [:]
    /// The last event of each name.
    private var names: [Name: RecordedEvent] = [:]

    init(_ message: InAppMessage, _ items: UnsettledItems) { (self.message, self.items) = (message, items) }

    /// The newest misses, oldest first.
    var newest: [NearMiss] {
        if misses.isEmpty, let other = otherName { return [other] }
        return Array(misses.suffix(NearMisses.most))
    }

    /// Takes note of the next event of the life.
    mutating func add(_ event: RecordedEvent) throws {
        if case .message(let step) = event.event, step.stage == .sent, step.channel == .inAppMessage,
            let device = event.context.device
        {
            sessions[device] = InAppContent(step.content).session
        }
        if case .objectsLeftOut(let left) = event.event {
            for item in left where message.triggers.contains(where: { $0.isNamed(by: item) }) {
                misses.append(NearMiss(event: event, reason: "lost: \(item.reason)", look: "profilecli rejected"))
            }
        }
        guard let trigger = TriggerEvent(anyhow: event.event) else { return }
        if case .customEvent(let logged) = trigger { names[logged.name] = event }
        let conditions = message.triggers.filter { $0.isAbout(trigger) }
        let miss =
            conditions.isEmpty
            ? message.triggers.lazy.compactMap { $0.otherProduct(trigger) }.first
                .map { NearMiss(event: event, reason: $0) }
            : try miss(event, trigger, conditions)
        if let miss { misses.append(miss) }
        if misses.count > 2 * NearMisses.most { misses.removeFirst(NearMisses.most) }
    }

    private mutating func miss(
        _ event: RecordedEvent, _ trigger: TriggerEvent, _ conditions: [TriggerCondition]
    ) throws -> NearMiss? {
        // What the SDK took and has not sent triggers all the same.
        if event.event.kind.isSaved, !items.fates.isTaken(event.position), let miss = try items.miss(event) {
            return miss
        }
        let isLogged = event.event.kind.isSaved || event.context.source.isSDK
        if !isLogged {
            let source = event.context.source == .rest ? "a server" : "an import"
            return NearMiss(
                event: event,
                reason: "it came from \(source) (\(event.context.source.name)): "
                    + "only what the SDK on a device logs triggers messages")
        }
        guard let device = event.context.device else {
            return NearMiss(event: event, reason: "it came from no device: log it with --device")
        }
        let filtered = conditions.compactMap { $0.nearMiss(trigger) }
        if filtered.count == conditions.count {
            return NearMiss(event: event, reason: filtered.joined(separator: "; "))
        }
        if trigger != .sessionStart, !(sessions[device] ?? []).contains(message.id) {
            return NearMiss(
                event: event,
                reason: "\(device) did not have the message then: "
                    + "no session with a network had begun since it was declared",
                look: "profilecli messages show \(device)")
        }
        return nil
    }

    /// An event of nearly the name that is waited for.
    private var otherName: NearMiss? {
        for case .customEvent(let wanted, _) in message.triggers {
            if names[wanted] != nil { continue }
            let near = NearestNames(to: wanted.text, among: names.keys.map(\.text).sorted()).close.first
            guard let near, let event = names[Name(near)] else { continue }
            return NearMiss(event: event, reason: "its name is \(near), wanted \(wanted)")
        }
        return nil
    }
}

extension EventKind {
    /// Tells whether an event of the kind says something about triggers.
    fileprivate var mayTrigger: Bool {
        switch role {
        case .content(.customEvent, _), .content(.purchase, _), .message: true
        case .content(.customAttributes, _), .content(.userAttributes, _), .identity, .device, .outcome: false
        case .note: self == .objectsLeftOut
        }
    }
}

extension TriggerEvent {
    /// Makes the trigger of an event as if the SDK on a device logged it.
    fileprivate init?(anyhow event: ProfileEvent) {
        switch event.content {
        case .customEvent(let event): self = .customEvent(event)
        case .purchase(let purchase): self = .purchase(purchase)
        case .customAttributes, .userAttributes: return nil
        case nil:
            guard case .message(let step) = event, step.stage == .opened else { return nil }
            self = .pushOpened(campaign: step.message)
        }
    }
}

extension TriggerCondition {
    /// Tells whether an item of a request, which was refused or lost, was such an event.
    fileprivate func isNamed(by item: ObjectRefusal) -> Bool {
        switch self {
        case .customEvent(let name, _): item.list == "events" && item.field == name.text
        case .purchase(let product, _):
            item.list == "purchases" && item.field.map { field in product.map { $0.text == field } ?? true } ?? false
        case .sessionStart, .pushClick: false
        }
    }
}

extension MessageEndpoints {
    static let explanation: AnswerShape =
        ["user": .user, "reason?": .text, "links": [EventJSON.shape], "more": .boolean] + EventJSON.misses
}
