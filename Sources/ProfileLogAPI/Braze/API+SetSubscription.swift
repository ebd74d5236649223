internal import ProfileLog

/// `POST /subscription/status/set` and `/v2/subscription/status/set`: one request is one append, and changes no group that it does not name.
extension API {
    func setSubscription(_ request: APIRequest) async -> APIAnswer {
        await set(request) { try SubscriptionRequest(request.body, workspace) }
    }

    func setSubscriptions(_ request: APIRequest) async -> APIAnswer {
        await set(request) { try SubscriptionRequest(version2: request.body, workspace) }
    }

    private func set(_ request: APIRequest, _ read: () throws -> SubscriptionRequest) async -> APIAnswer {
        do {
            let key = try Self.key(of: request)
            let digest = key == nil ? [] : RequestNote.digest(request)
            if let key, let earlier = try log.append(underKey: key) {
                return APIAnswer(status: 201, body: try note(of: earlier, digest).answer)
            }
            return try await set(try read(), key, digest)
        } catch {
            return APIProblem(error).messageAnswer
        }
    }

    private func set(_ request: SubscriptionRequest, _ key: String?, _ digest: [UInt8]) async throws -> APIAnswer {
        do {
            return try await settle { [self] _ in
                var builder = log.prepare()
                let answer = try decide(request, &builder)
                guard builder.count > 0 else { return .answer(answer) }
                let note = key == nil ? [] : RequestNote(digest: digest, answer: answer.body).bytes
                return .store(try builder.finish(idempotencyKey: key, note: note)) { receipt in
                    guard receipt.isRepetition else { return answer }
                    return APIAnswer(status: 201, body: try self.note(of: receipt, digest).answer)
                }
            }
        } catch AppendError.keyReused(let position) {
            guard let key, let earlier = try log.append(underKey: key) else {
                throw AppendError.keyReused(position: position)
            }
            return APIAnswer(status: 201, body: try note(of: earlier, digest).answer)
        }
    }

    /// Adds to `builder` what is to be stored: one event for each user. The answer tells who was not found.
    private func decide(_ request: SubscriptionRequest, _ builder: inout AppendBuilder) throws -> APIAnswer {
        var profiles = TrackProfiles(log)
        var dropped: [(place: String, reason: String)] = []
        /// What each user gets, in the order in which they are named.
        var gathered: [(user: UserInfo, states: SubscriptionStates)] = []
        var places: [UserNumber: Int] = [:]
        for change in request.changes {
            for person in change.people {
                let users = try users(person, &profiles)
                if users.isEmpty {
                    dropped.append((person.place, person.user == nil ? "is not valid" : "is no user's"))
                }
                for user in users {
                    let place = places[user.number] ?? gathered.count
                    if place == gathered.count { gathered.append((user, SubscriptionStates(nil))) }
                    places[user.number] = place
                    gathered[place].states.set(change.group, isSubscribed: change.isSubscribed)
                }
            }
        }
        for (user, states) in gathered { try states.add(to: .brazeID(user.brazeID), &builder, &profiles) }
        profiles.expectPins(in: &builder)
        var json = JSONWriter()
        json.beginObject()
        json.member("message", "success")
        if !dropped.isEmpty {
            json.key("dropped")
            json.array(dropped) { json, drop in
                json.beginObject()
                json.member("reason", drop.reason)
                json.member("field", drop.place)
                json.endObject()
            }
        }
        json.endObject()
        return APIAnswer(status: 201, body: json.bytes)
    }

    /// Whom the request means: with a profile all that have its e-mail address.
    private func users(
        _ person: SubscriptionRequest.Person, _ profiles: inout TrackProfiles
    ) throws -> [UserInfo] {
        guard let user = person.user else { return [] }
        if person.isContact { return try log.users(sharing: user) }
        guard let own = try profiles.find(user) else { return [] }
        guard let address = try profiles.email(of: user) else { return [own] }
        return [own] + (try log.users(sharing: address).filter { $0.number != own.number })
    }
}
