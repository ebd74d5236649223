internal import ProfileLogMessaging
internal import ProfileLogRequests

/// The requests below `/subscription` and `/v2/subscription`.
struct SubscriptionEndpoints {
    let api: BrazeAPI

    private var workspace: Workspace { api.workspace }

    // MARK: - Setting: one request is one append, and changes no group that it does not name

    func set(_ request: APIRequest, isVersion2: Bool) async throws -> APIAnswer {
        let key = try RequestKey(request)
        if let answer = try api.store.answer(under: key) { return answer }
        let asked =
            try isVersion2
            ? SubscriptionRequest(version2: request.body, workspace) : SubscriptionRequest(request.body, workspace)
        return try await api.store.decide(under: key) { view, builder in
            var decision = SubscriptionDecision(view)
            try decision.decide(asked, &builder)
            return decision.answer
        }
    }

    // MARK: - Asking (spec/rest-api 2.8)

    /// The states of some users in one group, by what the request calls them.
    func subscriptionStatus(_ request: APIRequest) throws -> APIAnswer {
        var query = Query(request)
        let group = try workspace.knownGroup(query.text("subscription_group_id"))
        let people = try people(&query)
        return try api.store.read { log in
            try APIAnswer.ok { json in
                try json.object("status") { json in
                    for person in people {
                        // Profiles that share an address were all set at once; of others, the first that has a state
                        // speaks.
                        let state = try users(person, log).compactMap { try profile($0, log).states[group] }.first
                        json.member(person.place, state.map(Self.status) ?? "unknown")
                    }
                }
                json.member("message", "success")
            }
        }
    }

    /// Users with the groups in which they have a state.
    func subscriptionsOfUsers(_ request: APIRequest) throws -> APIAnswer {
        var query = Query(request)
        let people = try people(&query)
        let limit = Int(try query.number(.usersPerPage))
        let offset = Int(try query.number(.offset))
        var seen: Set<UserNumber> = []
        return try api.store.read { log in
            let users = try people.flatMap { try self.users($0, log) }.filter { seen.insert($0.number).inserted }
            return try APIAnswer.ok { json in
                try json.objects("users", users.dropFirst(offset).prefix(limit)) { try write($1, log, to: &$0) }
                json.member("total_count", users.count)
                json.member("message", "success")
                try json.note(ListNote("users", request), isEmpty: users.dropFirst(offset).isEmpty, in: log)
            }
        }
    }

    private func write(_ user: UserInfo, _ log: LogReader, to json: inout JSONWriter) throws {
        let (profile, states) = try profile(user, log)
        for (key, text) in [
            ("email", profile.value(.email)?.asText), ("phone", profile.value(.phone)?.asText),
            ("external_id", profile.externalID),
        ] { json.member(key, text.map(AttributeValue.string) ?? .null) }
        let groups = workspace.subscriptionGroups.compactMap { group in states[group.id].map { (group, $0) } }
        json.objects("subscription_groups", groups) { json, entry in
            json.member("id", entry.0.id)
            json.member("name", entry.0.name)
            json.member("channel", entry.0.channel)
            json.member("status", Self.status(entry.1))
        }
    }

    private static func status(_ isSubscribed: Bool) -> String { isSubscribed ? "Subscribed" : "Unsubscribed" }

    private func profile(
        _ user: UserInfo, _ log: LogReader
    ) throws -> (ProfileSubject, states: SubscriptionStates) {
        let profile = ProfileSubject(user, try log.profile(of: user.number, asOf: user.version), in: log)
        return (profile, SubscriptionStates(profile.value(.subscriptionGroups)))
    }

    // MARK: - Users

    /// The users that the query names; `place` is what it calls them.
    private func people(_ query: inout Query) throws -> [SubscriptionRequest.Person] {
        var people: [SubscriptionRequest.Person] = []
        for key in [WireNames.externalID, WireNames.email, WireNames.phone] {
            people += Self.values(&query, key.text).map { .init(place: $0, user: TrackTarget.id(key, .string($0))) }
        }
        guard !people.isEmpty else {
            throw APIError(
                status: 400, code: "invalid", error: "The request names no user.",
                remedy: "Send external_id[], email or phone.")
        }
        let most = workspace.limits.usersPerSubscriptionRequest
        guard people.count <= most else {
            throw APIError.invalid(
                "external_id", "is given \(people.count) times, of at most \(most)",
                remedy: "Send them in several requests.")
        }
        var seen: Set<Name> = []
        return people.filter { seen.insert(Name($0.place)).inserted }
    }

    /// The values of `name`, of `name[]`, and of `name[0]`, `name[1]`, … as PHP writes an array. Empty text is none.
    private static func values(_ query: inout Query, _ name: String) -> [String] {
        (query.all(name) + query.all(name + "[]") + query.numbered(name)).filter { !$0.isEmpty }
    }

    private func users(_ person: SubscriptionRequest.Person, _ log: LogReader) throws -> [UserInfo] {
        try person.user.map { try log.addresses.users(sharing: $0) } ?? []
    }
}

// MARK: - The form of the answers

extension SubscriptionEndpoints {
    static let wasSet: AnswerShape = .success + ["dropped?": .dropped]
    static let status: AnswerShape = ["status": .map(.text)] + .success

    static let ofUsers: AnswerShape =
        [
            "users": [
                [
                    "email": .orNull(.text), "phone": .orNull(.text), "external_id": .orNull(.text),
                    "subscription_groups": [["id": .text, "name": .text, "channel": .text, "status": .text]],
                ]
            ],
            "total_count": .integer,
        ] + .success + .note
}
