internal import ProfileLogMessaging
internal import ProfileLogRequests

/// Decides a track request: what becomes of each object, by what a view of the log shows: stored, dropped or refused.
struct TrackDecision {
    private(set) var answer = TrackAnswer()
    /// The first valid object, of those that take effect; nil if none was.
    private(set) var first: TrackObject?
    /// The stored events of each user, in order; empty unless ``keepsStored``.
    private(set) var stored: [(user: UserID, events: [ProfileEvent])] = []
    var keepsStored = false
    private var leftOut = ObjectRefusals()
    private let api: BrazeAPI
    private let view: DecisionView
    private var profiles: TrackProfiles
    private var typing: AttributeTyping
    /// The push tokens for which this request makes users.
    private var imported: Set<PushToken> = []

    init(_ api: BrazeAPI, _ view: DecisionView) {
        (self.api, self.view) = (api, view)
        profiles = TrackProfiles(view)
        typing = AttributeTyping(api, view)
    }

    /// Decides all of `body`, and adds what is to be stored to `builder`.
    mutating func decide(_ body: TrackBody, _ reader: TrackReader, _ builder: inout AppendBuilder) throws {
        for array in TrackArray.allCases {
            for (index, value) in body[array].enumerated() {
                do {
                    let object = try reader.object(value.get(), in: array, at: index)
                    try take(object, array, index, &builder)
                } catch TrackError.object(let type, let kept) {
                    try refuse(try? value.get(), type, array, index, kept: kept)
                } catch TrackError.field(let reason) {
                    try refuse(try? value.get(), reason, array, index)
                } catch let refusal as LogRefusal {
                    try refuse(
                        try? value.get(), "\(refusal.place) \(refusal.reason)", array, index, kept: refusal.reason)
                }
            }
        }
        if builder.count == 0 {
            // The idempotency key goes with them, and may name a person.
            let holder = try leftOut.moveToFront { try view.find($0) != nil }
            if let holder { try view.requireUnchanged(holder) }
        }
        try leftOut.add(to: &builder)
        answer.misspelt = body.misspelt
        answer.refusesAll = first == nil
    }

    private mutating func take(
        _ object: TrackObject, _ array: TrackArray, _ index: Int, _ builder: inout AppendBuilder
    ) throws {
        if object.imports.isEmpty {
            try store(object, array, index, &builder)
        } else {
            try makeOwners(of: object, array, index, &builder)
        }
        if first == nil { first = object }
        answer.processed[array] += 1
    }

    /// Makes a user for each push token of `object` that no user has.
    private mutating func makeOwners(
        of object: TrackObject, _ array: TrackArray, _ index: Int, _ builder: inout AppendBuilder
    ) throws {
        for entry in object.imports {
            guard let token = PushToken(entry) else { continue }
            let user = try device(of: entry, token)
            let isKnown = try view.withState(of: api.pushTokens) { $0.holds(token) }
            view.requireUnchanged(.pushTokens)
            try view.requireUnchanged(user)
            guard !isKnown, imported.insert(token).inserted else {
                let reason = "another profile has this token already"
                drop(reason, array, index, field: StandardAttribute.pushTokens.name, of: nil)
                continue
            }
            var owner = object
            owner.target.user = user
            owner.events = object.events.map { $0.having([entry]) }
            try store(owner, array, index, &builder)
        }
    }

    /// The device by which the owner of a token is known: that of the token, or if a user is on it, the first that is
    /// made of the token and has no user.
    private mutating func device(of entry: AttributeValue, _ token: PushToken) throws -> UserID {
        let named = entry[WireNames.deviceID]?.asText ?? ""
        var device = (1...Limits.bytesPerDevice).contains(named.utf8.count) ? named : token.deviceID
        var tries = 0
        while try profiles.exists(.device(device)) {
            device = token.deviceID(tries)
            tries += 1
        }
        return .device(device)
    }

    private mutating func store(
        _ object: TrackObject, _ array: TrackArray, _ index: Int, _ builder: inout AppendBuilder
    ) throws {
        var object = object
        let holder = try holder(of: object.target.user)
        var user = holder ?? object.target.user
        object.target.user = user
        if let reason = try object.blocked ?? reasonAgainstCreation(object.target, holder) {
            drop(reason, array, index, of: holder)
            return
        }
        if holder == nil { try view.release(user) }
        if object.target.reasonAgainstCreation != nil, let known = try view.find(user) {
            // A `braze_id` makes no user, should they be gone when it is stored.
            user = .assignedID(known.brazeID)
            try view.requireSame(user)
            object.target.user = user
        }
        try typing.fit(&object)
        try AttributeGrowth(limits: api.workspace.limits).fit(&object, &profiles)
        let states = try SubscriptionStates.fit(&object, in: api.workspace, &profiles)
        if object.events.isEmpty, try !profiles.exists(user) {
            // A profile is made even if nothing is said about it; nothing else is recorded then.
            object.events = [.userAttributesChanged(Self.initialState)]
            try view.requireUnchanged(user)
        }
        var events = object.events
        let doubt = try user.doubt.flatMap { try profiles.exists(user) ? nil : $0 }
        do throws(AppendError) {
            try builder.add(events, object.context, to: user)
        } catch {
            guard case .invalid(let place, let reason, _) = error else { throw error }
            throw LogRefusal(place: place, reason: reason)
        }
        if let address = try address(of: user, object) {
            try builder.add(address, EventContext(source: .rest), to: user)
            try view.requireUnchanged(user)
            events.append(address)
        }
        if let doubt { answer.notes.append(TrackRefusal(reason: doubt, array: array, index: index)) }
        profiles.add(events, to: user)
        if keepsStored { stored.append((user, events)) }
        if let states, let reason = try share(states, by: user, &builder) {
            object.dropped.append((StandardAttribute.subscriptionGroups.name, reason))
        }
        for (field, reason) in object.dropped {
            drop(reason, array, index, field: field, of: user)
        }
    }

    /// - Parameter kept: the reason as the log keeps it, if `type` says more than it may.
    private mutating func refuse(
        _ value: AttributeValue?, _ type: String, _ array: TrackArray, _ index: Int, kept: String? = nil
    ) throws {
        let error = TrackObjectError(type: type, kept: kept ?? type, array: array, index: index)
        answer.errors.append(error)
        let user = try value.flatMap { try? TrackTarget($0) }.flatMap { try self.holder(of: $0.user) }
        leftOut.take(ObjectRefusal(list: array.rawValue, index: index, reason: error.kept), of: user)
    }

    private mutating func drop(
        _ reason: String, _ array: TrackArray, _ index: Int, field: String? = nil, of user: UserID?
    ) {
        answer.dropped.append(TrackRefusal(reason: reason, array: array, index: index, field: field))
        leftOut.take(ObjectRefusal(list: array.rawValue, index: index, field: field, reason: reason), of: user)
    }

    /// - Parameter holder: as `holder(of:)` gives it.
    private mutating func reasonAgainstCreation(_ target: TrackTarget, _ holder: UserID?) throws -> String? {
        guard let reason = target.reasonAgainstCreation else { return nil }
        if let holder, try profiles.exists(holder) { return nil }
        return reason
    }

    /// Sets a subscription state for all profiles with the same e-mail address (spec/rest-api 1.4).
    /// Returns why one did not get it; nil if all did.
    private mutating func share(
        _ states: SubscriptionStates, by user: UserID, _ builder: inout AppendBuilder
    ) throws -> String? {
        guard let address = try profiles.email(of: user) else { return nil }
        // Only whether anybody else has it: they may be many.
        if !SubscriptionStates.haveRoom(in: builder), try view.isShared(address) {
            return SubscriptionStates.tooManyElsewhere
        }
        let own = try profiles.person(user)
        var reason: String?
        for other in try profiles.holders(of: address) where try profiles.person(other) != own {
            guard SubscriptionStates.haveRoom(in: builder) else { return SubscriptionStates.tooManyElsewhere }
            if try states.fits(other, in: api.workspace, &profiles) {
                try states.add(to: other, isNamed: false, &builder, &profiles)
            } else {
                reason = SubscriptionStates.fullElsewhere
            }
        }
        return reason
    }

    /// The ID under which an object about `user` is stored: for an address, the user who has it. Nil if no user has the
    /// address, and it still leads to the user who was made by it.
    private mutating func holder(of user: UserID) throws -> UserID? {
        guard user.isAddress else { return user }
        if let holder = try profiles.user(having: user) {
            try view.requireSame(holder)
            return holder
        }
        return try profiles.exists(user) ? nil : user
    }

    /// The address by which `object` makes a user, as their attribute; nil if it makes none, or says so itself.
    private mutating func address(of user: UserID, _ object: TrackObject) throws -> ProfileEvent? {
        let changes: [UserAttributeChange]
        switch user {
        case .email(let address):
            changes = [.init(.email, .string(address)), .init(.emailSubscribe, .string("subscribed"))]
        case .phone(let number): changes = [.init(.phone, .string(number))]
        default: return nil
        }
        if try profiles.exists(user) { return nil }
        let saysSo = object.events.contains { event in
            guard case .userAttributesChanged(let said) = event else { return false }
            return said.contains { $0.attribute == changes[0].attribute }
        }
        return saysSo ? nil : .userAttributesChanged(changes)
    }

    /// The subscription states of a new profile: not set, which is shown as `subscribed` (spec/rest-api 3). A state
    /// that was set would win over the opt-out of a profile that is merged into this one.
    private static let initialState: [UserAttributeChange] = [
        .init(.emailSubscribe, .null), .init(.pushSubscribe, .null),
    ]
}

extension ProfileEvent {
    /// The event with these push tokens, if it sets any.
    fileprivate func having(_ tokens: [AttributeValue]) -> ProfileEvent {
        guard case .userAttributesChanged(let changes) = self else { return self }
        return .userAttributesChanged(
            changes.map { $0.attribute == .pushTokens ? UserAttributeChange(.pushTokens, .array(tokens)) : $0 })
    }
}

/// The objects that a request skips, gathered by user for the log: `/v1/rejected` lists it.
private struct ObjectRefusals {
    /// The most skipped objects that are kept of a request, with the number of the others.
    private static let most = 10_000
    private static let itemsPerEvent = 64
    private static let charactersPerField = 255

    private var users: [UserID?] = []
    private var items: [UserID?: [ObjectRefusal]] = [:]
    private var count = 0

    /// Notes that `item` is skipped of what the request says about `user`; nil if it does not say which user.
    mutating func take(_ item: ObjectRefusal, of user: UserID?) {
        count += 1
        guard count <= Self.most else { return }
        var item = item
        item.field = item.field.map { $0.prefix(characters: Self.charactersPerField) }
        if items[user] == nil { users.append(user) }
        items[user, default: []].append(item)
    }

    /// Moves the first user that `isKnown` accepts to the front; nil if there is none.
    mutating func moveToFront(_ isKnown: (UserID) throws -> Bool) rethrows -> UserID? {
        guard let place = try users.firstIndex(where: { try $0.map(isKnown) ?? false }) else { return nil }
        users.swapAt(0, place)
        return users[0]
    }

    /// Adds all of it to the request's append.
    func add(to builder: inout AppendBuilder) throws {
        for user in users {
            let items = items[user] ?? []
            for begin in stride(from: 0, to: items.count, by: Self.itemsPerEvent) {
                try builder.leaveOut(Array(items[begin...].prefix(Self.itemsPerEvent)), of: user)
            }
        }
        guard count > Self.most, let last = users.last.flatMap({ items[$0]?.last }) else { return }
        let reason = "\(count - Self.most) more were left out of this request"
        try builder.leaveOut([ObjectRefusal(list: last.list, index: last.index, reason: reason)], of: nil)
    }
}
