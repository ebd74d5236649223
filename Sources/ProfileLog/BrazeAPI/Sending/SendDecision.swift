internal import ProfileLogMessaging
internal import ProfileLogRequests

/// Decides a send to named users, by what a view of the log shows: an event for each device or address, or why there is
/// none.
struct SendDecision {
    private(set) var dropped: [SendRefusal] = []
    private(set) var errors: [String]
    /// Tells whether something is sent.
    private(set) var sendsAnything = false
    let request: SendRequest
    /// The requests that wait for their time: each user gets the part of the request that is theirs; nil to send at
    /// once.
    var waiting: (schedule: Schedule, request: AttributeValue)?
    private let api: BrazeAPI
    private let view: DecisionView
    private let budget = RenderBudget()
    private var reached = ReachedAddresses()

    /// A recipient that gets nothing, or an attribute of theirs that is not stored.
    struct SendRefusal {
        var reason: String
        /// The recipient's place in the request.
        var index: Int
    }

    init(_ request: SendRequest, _ api: BrazeAPI, _ view: DecisionView) {
        (self.request, self.api, self.view) = (request, api, view)
        errors = request.errors
        dropped = request.ignored.map { SendRefusal(reason: $0.reason, index: $0.index) }
    }

    private var now: Timestamp { api.log.options.now() }

    /// Decides all of it, and adds what is to be stored to `builder`.
    mutating func decide(_ builder: inout AppendBuilder) throws {
        let audience = try request.audience.map { try Audience($0, typeOf: typeOf) }
        let people = try request.recipients.map(addressee)
        let changes = try applyAttributes(people, &builder)
        // Of several entries for one user the last one counts.
        var last: [TrackProfiles.Person: Int] = [:]
        for index in people.indices { last[sameUser(people[index], request.recipients[index])] = index }
        for (index, recipient) in request.recipients.enumerated() {
            var user: UserInfo?
            switch people[index] {
            case .user(let known): user = known
            case .unknown where changes[index] != nil: user = nil
            case .unknown:
                try leaveOut(index, recipient.updatesOnly ? .unknownUser : .attributesRefused, &builder)
                continue
            case .undecided(let reason):
                try leaveOut(index, reason, &builder)
                continue
            }
            guard last[sameUser(people[index], recipient)] == index else {
                drop(index, RecipientReason.namedAgain.rawValue)
                continue
            }
            let id = user.map { UserID.assignedID($0.brazeID) } ?? recipient.person.id
            if let (schedule, request) = waiting {
                if user != nil { try view.requireSame(id) }
                let step = schedule.step(of: request, for: recipient.given)
                try builder.add(.message(step), EventContext(source: .rest), to: id)
                continue
            }
            let state = try user.flatMap { try view.profile(of: $0.number) } ?? ProfileProjection.initial
            let sends = try self.recipient(user, recipient.person.id, state, changes[index] ?? [])
            if let reason = try reasonAgainst(sends, audience) {
                drop(index, reason.rawValue)
                continue
            }
            if user != nil { try view.requireSame(id) }
            let failing = api.store.failingChannels.all
            for event in request.plan.events(
                for: sends, recipient.properties, now: now, failing: failing, budget: budget, &reached,
                cause: recipient.cause)
            {
                if try builder.add(event, to: id) { sendsAnything = true }
            }
        }
    }

    private mutating func leaveOut(
        _ index: Int, _ reason: RecipientReason, _ builder: inout AppendBuilder
    ) throws {
        drop(index, reason.rawValue)
        let place = request.place(of: index)
        try builder.leaveOut([ObjectRefusal(list: place.array, index: place.index, reason: reason.rawValue)], of: nil)
    }

    /// The user that a recipient means.
    private enum Addressee {
        case user(UserInfo)
        case unknown
        /// Several users share the address, and the request does not name one.
        case undecided(RecipientReason)
    }

    private func addressee(_ recipient: SendRequest.Recipient) throws -> Addressee {
        do {
            return .user(try recipient.person.user(view))
        } catch let none as Person.NoSingleUser {
            switch none.case {
            case .unknown: return .unknown
            case .none: return .undecided(.noneLeft)
            case .several: return .undecided(.severalLeft)
            }
        }
    }

    /// The person whose entries are merged into one.
    private func sameUser(_ addressee: Addressee, _ recipient: SendRequest.Recipient) -> TrackProfiles.Person {
        if case .user(let user) = addressee { .known(user.number) } else { .new(recipient.person.id) }
    }

    /// The type of a custom attribute: the one that the workspace forces, or that of the first value.
    private func typeOf(_ name: Name) throws -> AttributeType? {
        if let forced = api.workspace.forcedTypes[name] { return forced }
        return try view.withState(of: api.catalogue) { view.log.reader.firstType(of: name, by: $0) }
    }

    private func recipient(
        _ user: UserInfo?, _ id: UserID, _ state: ProfileState, _ changes: [ProfileEvent]
    ) throws -> SendRecipient {
        let usage = { try user.flatMap { try view.usage(of: $0.number) } ?? UsageProjection.initial }
        return try api.recipient(
            user, named: id, state, changes, usage: request.plan.hasPush ? usage : nil,
            device: { try view.device($0) })
    }

    /// Returns the reason why the request does not mean this user after all; nil if it does.
    private func reasonAgainst(_ recipient: SendRecipient, _ audience: Audience?) throws -> RecipientReason? {
        if let segment = request.segment, let user = recipient.profile.user {
            let profile = ProfileSubject(user, recipient.profile.state, in: api.store.reader)
            if try !segment.rule.accepts(profile, at: now) { return .notInSegment }
        }
        if let audience, try !audience.takes(recipient.profile, at: now) { return .notInAudience }
        return nil
    }

    private mutating func drop(_ index: Int, _ reason: String) {
        dropped.append(SendRefusal(reason: reason, index: index))
    }

    /// Applies the attributes of recipients, as `/users/track` does, before anything is rendered. What it changes, by
    /// recipient; a user that it makes has an entry.
    private mutating func applyAttributes(
        _ people: [Addressee], _ builder: inout AppendBuilder
    ) throws -> [Int: [ProfileEvent]] {
        let given = request.recipients.indices.filter { index in
            let recipient = request.recipients[index]
            return switch people[index] {
            case .user: !recipient.attributes.isEmpty
            case .unknown: !recipient.updatesOnly
            case .undecided: false
            }
        }
        if given.isEmpty { return [:] }
        let objects = given.map { Self.object(request.recipients[$0], people[$0]) }
        let reader = TrackReader(workspace: api.workspace, now: now)
        var decision = TrackDecision(api, view)
        decision.keepsStored = true
        try decision.decide(TrackBody(attributes: objects, api.workspace.limits), reader, &builder)
        errors += decision.answer.errors.map { error in
            let place = request.place(of: given[error.index])
            return "\(place.array)[\(place.index)].attributes: \(error.kept)"
        }
        for dropped in decision.answer.dropped { drop(given[dropped.index], "attributes: \(dropped.reason)") }

        var changes: [Int: [ProfileEvent]] = [:]
        for index in request.recipients.indices {
            let events = try decision.stored.filter { stored in
                if case .user(let user) = people[index] { return try view.find(stored.user)?.number == user.number }
                return stored.user == request.recipients[index].person.id
            }
            if !events.isEmpty { changes[index] = events.flatMap(\.events) }
        }
        return changes
    }

    /// The attributes of a recipient as an object of a track request.
    private static func object(_ recipient: SendRequest.Recipient, _ addressee: Addressee) -> AttributeValue {
        let key: Name
        let value: AttributeValue
        switch (addressee, recipient.person.id) {
        case (.user(let user), .email), (.user(let user), .assignedID):
            (key, value) = (WireNames.brazeID, .string(user.brazeID))
        case (_, .alias(let label, let name)):
            key = WireNames.userAlias
            value = .object([.init(WireNames.aliasLabel, .string(label)), .init(WireNames.aliasName, .string(name))])
        case (_, .email(let address)): (key, value) = (WireNames.email, .string(address))
        case (_, let id): (key, value) = (WireNames.externalID, .string(id.parts.last ?? ""))
        }
        return .object((recipient.attributes + [.init(key, value)]).sorted { $0.key < $1.key })
    }
}
