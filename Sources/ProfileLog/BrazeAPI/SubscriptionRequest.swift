internal import ProfileLogMessaging
internal import ProfileLogRequests

/// The body of `/subscription/status/set`, in either version (spec/rest-api 2.8).
struct SubscriptionRequest: Sendable {
    private(set) var changes: [Change] = []
    private(set) var misspelt: [Misspelling] = []

    /// One group, its new state, and the users.
    struct Change: Sendable {
        var group: String
        var isSubscribed: Bool
        var people: [Person]
    }

    /// A user that the request names.
    struct Person: Sendable {
        /// The field that names them, as in `subscription_groups[0].emails[1]`.
        var place: String
        /// The user's ID; nil if the text is no ID, address or number.
        var user: UserID?
    }

    /// The old form: one group, and lists or single values.
    init(_ bytes: [UInt8], _ workspace: Workspace) throws {
        let body = try BodyObject.read(bytes)
        changes = [try Self.change(body, in: "", workspace)]
        misspelt = Misspelling.all(in: body, among: Self.members)
    }

    /// The new form: several groups.
    init(version2 bytes: [UInt8], _ workspace: Workspace) throws {
        let body = try BodyObject.read(bytes)
        guard let groups = body.present("subscription_groups")?.asArray, !groups.isEmpty else {
            throw APIError.invalid("subscription_groups", "must be an array of objects, and not empty")
        }
        guard groups.count <= workspace.limits.usersPerSubscriptionRequest else {
            throw Self.tooMany("subscription_groups", groups.count, workspace.limits)
        }
        for (index, group) in groups.enumerated() {
            let place = "subscription_groups[\(index)]"
            guard case .object = group else { throw APIError.invalid(place, "must be an object") }
            changes.append(try Self.change(group, in: place + ".", workspace))
            misspelt += Misspelling.all(in: group, among: Self.members, at: place)
        }
    }

    /// Members of a group, in both forms.
    private static let members = [
        "subscription_group_id", "subscription_state", "external_id", "external_ids", "email", "emails", "phone",
        "phones", "use_double_opt_in_logic",
    ]

    private static func change(
        _ object: AttributeValue, in place: String, _ workspace: Workspace
    ) throws -> Change {
        let group = try workspace.knownGroup(object.present(SubscriptionStates.groupID)?.asText, in: place)
        let states = ["subscribed": true, "unsubscribed": false]
        guard let isSubscribed = object.present(SubscriptionStates.state)?.asText.flatMap({ states[$0] }) else {
            throw APIError.invalid(place + "subscription_state", "must be subscribed or unsubscribed")
        }
        var people: [Person] = []
        var counts: [Int] = []
        for (key, names) in [
            (WireNames.externalID, ["external_id", "external_ids"]), (WireNames.email, ["email", "emails"]),
            (WireNames.phone, ["phone", "phones"]),
        ] {
            for name in names { people += try Self.people(object, Name(name), place, key) }
            counts.append(people.count)
        }
        let (identified, withEmail) = (counts[0], counts[1])
        /// The names of the members in this version.
        let (ids, emails, phones) =
            place.isEmpty ? ("external_id", "email", "phone") : ("external_ids", "emails", "phones")
        guard withEmail == identified || withEmail == people.count else {
            throw APIError.invalid(
                place + emails, "cannot be combined with `\(phones)`", remedy: "Send them in requests of their own.")
        }
        guard !people.isEmpty else {
            throw APIError.invalid(
                place + ids, "names no user, nor do `\(emails)` and `\(phones)`", remedy: "Name at least one user.")
        }
        guard people.count <= workspace.limits.usersPerSubscriptionRequest else {
            throw tooMany(place + ids, people.count, workspace.limits)
        }
        return Change(group: group, isSubscribed: isSubscribed, people: people)
    }

    /// The users that a member names: one, or an array. Empty text names no user.
    private static func people(
        _ object: AttributeValue, _ key: Name, _ place: String, _ id: Name
    ) throws -> [Person] {
        guard let value = object.present(key) else { return [] }
        guard let values = value.isText ? [value] : value.asArray, values.allSatisfy(\.isText) else {
            let what = [WireNames.email: "email", WireNames.phone: "phone"][id] ?? "ID"
            throw APIError(
                status: 400, code: "invalid",
                error: "The value provided for the \(key) field is not a valid \(what) array.",
                remedy: "Send an array of texts, or one text.", place: place + key.text)
        }
        return values.enumerated().filter { $1 != .string("") }.map { index, each in
            Person(
                place: value.isText ? "\(place)\(key)" : "\(place)\(key)[\(index)]", user: TrackTarget.id(id, each))
        }
    }

    private static func tooMany(_ place: String, _ count: Int, _ limits: TrackLimits) -> APIError {
        APIError.invalid(
            place, "has \(count) entries, of at most \(limits.usersPerSubscriptionRequest)",
            remedy: "Send them in several requests.")
    }
}

extension Workspace {
    /// The group with this ID, which must be one of the workspace's.
    ///
    /// - Parameter place: where the ID is, as in `subscription_groups[0].`.
    func knownGroup(_ id: String?, in place: String = "") throws -> String {
        guard let id, subscriptionGroup(id) != nil else {
            throw APIError(
                status: 400, code: "invalid", error: "Invalid subscription group ID",
                remedy: "Send the `id` of a group in the workspace file (docs/workspace.md).",
                place: place + "subscription_group_id")
        }
        return id
    }
}

/// The decision about a subscription request: an event for each user that it reaches.
struct SubscriptionDecision {
    /// The users that were not found, and the addresses that more users have than there is room for.
    private(set) var dropped: [(place: String, reason: String)] = []
    private var misspelt: [Misspelling] = []
    private var profiles: TrackProfiles
    /// The users who have each address.
    private var holders: [UserID: [UserID]] = [:]
    /// The fields with addresses.
    private var addressed: [(place: String, address: UserID)] = []
    /// The users who get states, in the order in which they are named.
    private var recipients: [Recipient] = []
    private var places: [UserID: Int] = [:]

    private struct Recipient {
        let user: UserID
        var states = SubscriptionStates(nil)
        /// Tells whether an ID names them, and not an address only.
        var isNamed = false
    }

    init(_ view: DecisionView) { profiles = TrackProfiles(view) }

    /// Decides all of `request`, and adds what is to be stored to `builder`.
    mutating func decide(_ request: SubscriptionRequest, _ builder: inout AppendBuilder) throws {
        misspelt = request.misspelt
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
        if user.isAddress { return (nil, user) }
        return (try profiles.view.find(user).map { .assignedID($0.brazeID) }, try profiles.email(of: user))
    }

    private mutating func holders(of address: UserID) throws -> [UserID] {
        if let known = holders[address] { return known }
        let users = try profiles.holders(of: address)
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
    /// Returns those without one.
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
        APIAnswer.ok(status: 201) { json in
            json.member("message", "success")
            json.dropped(fields: dropped.map { ($0.reason, $0.place) }, misspelt)
        }
    }
}

extension AttributeValue {
    /// Tells whether it is text, or a whole number, which clients send for text.
    fileprivate var isText: Bool {
        switch self {
        case .string, .int: true
        default: false
        }
    }
}
