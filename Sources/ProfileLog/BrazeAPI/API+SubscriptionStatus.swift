internal import ProfileLogRequests

/// `GET /subscription/status/get` and `/subscription/user/status` (spec/rest-api 2.8).
extension BrazeAPI {
    /// The states of some users in one group, by what the request calls them.
    func subscriptionStatus(_ request: APIRequest) -> APIAnswer {
        do {
            var query = Query(request)
            let group = try workspace.knownGroup(query.text("subscription_group_id"))
            let people = try people(&query)
            return try APIAnswer.ok { json in
                json.key("status")
                json.beginObject()
                for person in people {
                    // Profiles that share an address were all set at once; of others, the first that has a state
                    // speaks.
                    let state = try users(person).compactMap { try profile($0).states[group] }.first
                    json.key(person.shown)
                    json.value(state.map(Self.status) ?? "unknown")
                }
                json.endObject()
                json.member("message", "success")
            }
        } catch {
            return APIProblem(error).messageAnswer
        }
    }

    /// Users with the groups in which they have a state.
    func subscriptionsOfUsers(_ request: APIRequest) -> APIAnswer {
        do {
            var query = Query(request)
            let people = try people(&query)
            let limit = Int(try query.number(.usersPerPage))
            let offset = Int(try query.number(.offset))
            var seen: Set<UserNumber> = []
            let users = try people.flatMap(users).filter { seen.insert($0.number).inserted }
            return try APIAnswer.ok { json in
                json.key("users")
                try json.array(users.dropFirst(offset).prefix(limit)) { json, user in try write(user, to: &json) }
                json.key("total_count")
                json.value(users.count)
                json.member("message", "success")
            }
        } catch {
            return APIProblem(error).messageAnswer
        }
    }

    private func write(_ user: UserInfo, to json: inout JSONWriter) throws {
        let (profile, states) = try profile(user)
        json.beginObject()
        for (key, text) in [
            ("email", profile.text(.email)), ("phone", profile.text(.phone)), ("external_id", profile.externalID),
        ] {
            json.key(key)
            if let text { json.value(text) } else { json.null() }
        }
        json.key("subscription_groups")
        json.beginArray()
        for group in workspace.subscriptionGroups {
            guard let isSubscribed = states[group.id] else { continue }
            json.beginObject()
            json.member("id", group.id)
            json.member("name", group.name)
            json.member("channel", group.channel)
            json.member("status", Self.status(isSubscribed))
            json.endObject()
        }
        json.endArray()
        json.endObject()
    }

    private static func status(_ isSubscribed: Bool) -> String { isSubscribed ? "Subscribed" : "Unsubscribed" }

    private func profile(_ user: UserInfo) throws -> (ExportedProfile, states: SubscriptionStates) {
        let profile = try ExportedProfile(user, self)
        return (profile, SubscriptionStates(profile.value(.subscriptionGroups)))
    }

    // MARK: - Who is meant

    /// A user that the query names, and how it calls them.
    private struct Person {
        var shown: String
        var id: UserID?
        var isContact: Bool
    }

    private func people(_ query: inout Query) throws -> [Person] {
        var people = Self.values(&query, "external_id").map {
            Person(shown: $0, id: TrackTarget.externalID(.string($0)).map(UserID.externalID), isContact: false)
        }
        people += Self.values(&query, "email").map {
            Person(shown: $0, id: Identifiers.email($0).map(UserID.email), isContact: true)
        }
        people += Self.values(&query, "phone").map {
            Person(shown: $0, id: Identifiers.phone($0).map(UserID.phone), isContact: true)
        }
        guard !people.isEmpty else {
            throw APIProblem(
                status: 400, code: "invalid", error: "The request names no user.",
                remedy: "Send external_id[], email or phone.")
        }
        let most = limits.usersPerSubscriptionRequest
        guard people.count <= most else {
            throw APIProblem.invalid(
                "external_id", "stands \(people.count) times, of at most \(most)",
                remedy: "Send them in several requests.")
        }
        var seen: Set<Name> = []
        return people.filter { seen.insert(Name($0.shown)).inserted }
    }

    /// The values of `name`, of `name[]`, and of `name[0]`, `name[1]`, … as PHP writes an array. Empty text is none.
    private static func values(_ query: inout Query, _ name: String) -> [String] {
        (query.all(name) + query.all(name + "[]") + query.numbered(name)).filter { !$0.isEmpty }
    }

    private func users(_ person: Person) throws -> [UserInfo] {
        guard let id = person.id else { return [] }
        return person.isContact ? try log.users(sharing: id) : try log.find(id).map { [$0] } ?? []
    }
}
