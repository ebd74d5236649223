internal import ProfileLogRequests

/// What a subscription request comes to, given who exists: an event for each user that it reaches.
struct SubscriptionDecision {
    /// The users that were not found, and the addresses that more users have than there is room for.
    private(set) var dropped: [(place: String, reason: String)] = []
    private var profiles: TrackProfiles
    private var addresses: TrackAddresses
    /// The users who have each address.
    private var holders: [UserID: [UserID]] = [:]
    /// Where addresses stand.
    private var addressed: [(place: String, address: UserID)] = []
    /// What each user gets, in the order in which they are named.
    private var recipients: [Recipient] = []
    private var places: [UserID: Int] = [:]

    private struct Recipient {
        let user: UserID
        var states = SubscriptionStates(nil)
        /// Whether an ID names them, and not an address alone.
        var isNamed = false
    }

    init(_ view: DecisionView) {
        profiles = TrackProfiles(view)
        addresses = TrackAddresses(view)
    }

    /// Decides all of `request`, and adds what is to be stored to `builder`.
    mutating func decide(_ request: SubscriptionRequest, _ builder: inout AppendBuilder) throws {
        for change in request.changes { try gather(change) }
        let leftOut = try store(in: &builder)
        for (place, address) in addressed where !leftOut.isDisjoint(with: holders[address] ?? []) {
            dropped.append((place, SubscriptionStates.tooManyElsewhere))
        }
    }

    private mutating func gather(_ change: SubscriptionRequest.Change) throws {
        var known: Set<UserID> = []
        for person in change.people {
            let (own, address) = try recipient(person)
            let others = try address.map { try holders(of: $0) } ?? []
            if own == nil, others.isEmpty {
                dropped.append((person.place, person.user == nil ? "is not valid" : "is no user's"))
            }
            if let own { give(change, to: own, isNamed: true) }
            guard let address, known.insert(address).inserted else { continue }
            for user in others { give(change, to: user, isNamed: false) }
            addressed.append((person.place, address))
        }
    }

    /// The user that an ID names, and the address by which the change reaches others; nil where there is none.
    private mutating func recipient(_ person: SubscriptionRequest.Person) throws -> (own: UserID?, address: UserID?) {
        guard let user = person.user else { return (nil, nil) }
        if person.isContact { return (nil, user) }
        return (try profiles.view.find(user).map { .brazeID($0.brazeID) }, try profiles.email(of: user))
    }

    private mutating func holders(of address: UserID) throws -> [UserID] {
        if let known = holders[address] { return known }
        let users = try addresses.holders(of: address, &profiles)
        holders[address] = users
        return users
    }

    private mutating func give(_ change: SubscriptionRequest.Change, to user: UserID, isNamed: Bool) {
        let place = places[user] ?? recipients.count
        if place == recipients.count { recipients.append(Recipient(user: user)) }
        places[user] = place
        recipients[place].states.set(change.group, isSubscribed: change.isSubscribed)
        if isNamed { recipients[place].isNamed = true }
    }

    /// Adds an event for each recipient: for all that an ID names, then for others as long as there is room.
    /// Gives those for whom there was none.
    private mutating func store(in builder: inout AppendBuilder) throws -> Set<UserID> {
        var leftOut: Set<UserID> = []
        for recipient in recipients.filter(\.isNamed) + recipients.filter({ !$0.isNamed }) {
            if recipient.isNamed || SubscriptionStates.haveRoom(in: builder) {
                try recipient.states.add(to: recipient.user, isNamed: recipient.isNamed, &builder, &profiles)
            } else {
                leftOut.insert(recipient.user)
            }
        }
        return leftOut
    }

    /// 201, and what was skipped.
    var answer: APIAnswer {
        return APIAnswer.ok(status: 201) { json in
            json.member("message", "success")
            if !dropped.isEmpty {
                json.objects("dropped", dropped) { json, drop in
                    json.member("reason", drop.reason)
                    json.member("field", drop.place)
                }
            }
        }
    }
}
