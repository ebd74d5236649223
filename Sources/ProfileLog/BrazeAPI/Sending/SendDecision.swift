internal import ProfileLogRequests
internal import ProfileLogSending

/// Decides a send to named users, by what a view of the log shows: an event for each device or address, or why there is
/// none.
struct SendDecision {
    private(set) var dropped: [Drop] = []
    private(set) var errors: [String]
    /// Whether something is sent.
    private(set) var sendsAnything = false
    let request: SendRequest
    /// What is to wait for its time: each user gets the part of the request that is theirs; nil to send at once.
    var waiting: (schedule: Schedule, request: AttributeValue)?
    private let api: BrazeAPI
    private let view: DecisionView
    private let budget = RenderBudget()

    /// A recipient that gets nothing, or an attribute of theirs that is not stored.
    struct Drop {
        var reason: String
        /// The recipient's place in the request.
        var index: Int
    }

    init(_ request: SendRequest, _ api: BrazeAPI, _ view: DecisionView) {
        (self.request, self.api, self.view) = (request, api, view)
        errors = request.errors
    }

    private var now: Timestamp { api.log.options.now() }

    /// Decides all of it, and adds what is to be stored to `builder`.
    mutating func decide(_ builder: inout AppendBuilder) throws {
        let audience = try request.audience.map { try Audience($0, typeOf: typeOf) }
        let users = try request.recipients.map { try user($0.id) }
        let changes = try applyAttributes(users, &builder)
        for (index, recipient) in request.recipients.enumerated() {
            let user = users[index]
            guard user != nil || changes[index] != nil else {
                let reason = recipient.updatesOnly ? SkippedRecipient.unknownUser : .attributesRefused
                drop(index, reason.rawValue)
                try builder.leaveOut([LeftOut(list: request.list, index: index, reason: reason.rawValue)], of: nil)
                continue
            }
            let id = user.map { UserID.brazeID($0.brazeID) } ?? recipient.id
            if let (schedule, request) = waiting {
                if user != nil { try view.requireSame(id) }
                let step = schedule.step(of: request, for: recipient)
                try builder.add(.message(step), EventContext(source: .rest), to: id)
                continue
            }
            let state = try user.flatMap { try view.profile(of: $0.number) } ?? ProfileProjection.initial
            let sends = try self.recipient(user, recipient.id, state, changes[index] ?? [])
            if let reason = try reasonAgainst(sends, audience) {
                drop(index, reason.rawValue)
                continue
            }
            if user != nil { try view.requireSame(id) }
            let failing = api.store.failingChannels.all
            for event in request.plan.events(
                for: sends, recipient.properties, now: now, failing: failing, budget: budget, cause: recipient.cause)
            {
                if try builder.add(event, to: id) { sendsAnything = true }
            }
        }
    }

    /// The type of a custom attribute: the one that the workspace forces, or that of the first value.
    private func typeOf(_ name: Name) throws -> AttributeType? {
        if let forced = api.workspace.forcedTypes[name] { return forced }
        return try view.withState(of: api.catalogue) { view.log.firstType(of: name, by: $0) }
    }

    /// The user that `id` means; an address means the one to whom it resolves.
    private func user(_ id: UserID) throws -> UserInfo? {
        guard id.isAddress else { return try view.find(id) }
        return try view.users(sharing: id).first
    }

    private func recipient(
        _ user: UserInfo?, _ id: UserID, _ state: ProfileState, _ changes: [ProfileEvent]
    ) throws -> SendRecipient {
        let usage = { try user.flatMap { try view.usage(of: $0.number) } ?? UsageProjection.initial }
        return try api.recipient(
            user, named: id, state, changes, usage: request.plan.hasPush ? usage : nil,
            device: { try view.device($0) })
    }

    /// Why the request does not mean this user after all; nil if it does.
    private func reasonAgainst(_ recipient: SendRecipient, _ audience: Audience?) throws -> SkippedRecipient? {
        if let segment = request.segment, let user = recipient.profile.user {
            let profile = ProfileSubject(user, recipient.profile.state, in: api.log)
            if try !segment.rule.accepts(profile, at: now) { return .notInSegment }
        }
        if let audience, try !audience.takes(recipient.profile, at: now) { return .notInAudience }
        return nil
    }

    private mutating func drop(_ index: Int, _ reason: String) { dropped.append(Drop(reason: reason, index: index)) }

    /// Applies the attributes of recipients, as `/users/track` does, before anything is rendered. What it changes, by
    /// recipient; a user that it makes has an entry.
    private mutating func applyAttributes(
        _ users: [UserInfo?], _ builder: inout AppendBuilder
    ) throws -> [Int: [ProfileEvent]] {
        let given = request.recipients.indices.filter { index in
            let recipient = request.recipients[index]
            return users[index] == nil ? !recipient.updatesOnly : !recipient.attributes.isEmpty
        }
        if given.isEmpty { return [:] }
        var json = JSONWriter()
        json.object { json in
            json.array(TrackArray.attributes.rawValue, given) { json, index in
                json.value(Self.object(request.recipients[index]))
            }
        }
        let reader = TrackReader(workspace: api.workspace, now: now, sent: SentOrder(json.bytes))
        var decision = TrackDecision(api, view)
        decision.keepsStored = true
        try decision.decide(TrackBody(json.bytes, api.workspace.limits), reader, &builder)
        errors += decision.errors.map { "\(request.list)[\(given[$0.index])].attributes: \($0.kept)" }
        for dropped in decision.dropped { drop(given[dropped.index], "attributes: \(dropped.reason)") }

        var changes: [Int: [ProfileEvent]] = [:]
        for index in request.recipients.indices {
            let events = try decision.stored.filter { stored in
                try users[index].map { try view.find(stored.user)?.number == $0.number }
                    ?? (stored.user == request.recipients[index].id)
            }
            if !events.isEmpty { changes[index] = events.flatMap(\.events) }
        }
        return changes
    }

    /// The attributes of a recipient as an object of a track request.
    private static func object(_ recipient: SendRequest.Recipient) -> AttributeValue {
        let (key, value): (Name, AttributeValue) =
            switch recipient.id {
            case .alias(let label, let name):
                (
                    WireNames.userAlias,
                    .object([.init(WireNames.aliasLabel, .string(label)), .init(WireNames.aliasName, .string(name))])
                )
            case .email(let address): (WireNames.email, .string(address))
            default: (WireNames.externalID, .string(recipient.id.parts.last ?? ""))
            }
        // What names the user wins over an attribute of the same name.
        let others = recipient.attributes.filter { $0.key != key }
        return .object((others + [.init(key, value)]).sorted { $0.key < $1.key })
    }
}
