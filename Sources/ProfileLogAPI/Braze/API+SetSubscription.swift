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
            return try await settle { [self] basis in
                var builder = log.prepare()
                let answer = try decide(request, basis, &builder)
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

    /// Adds to `builder` what is to be stored: one event for each user, first for those whom an ID names. The answer tells who was not found, and
    /// which addresses more have than there is room for.
    func decide(
        _ request: SubscriptionRequest, _ basis: DecisionBasis, _ builder: inout AppendBuilder
    ) throws -> APIAnswer {
        var profiles = TrackProfiles(log)
        var addresses = TrackAddresses(log, at: basis.place)
        var dropped: [(place: String, reason: String)] = []
        /// What each user gets, in the order in which they are named.
        var gathered: [(user: UserInfo, states: SubscriptionStates, isNamed: Bool)] = []
        var places: [UserNumber: Int] = [:]
        func gather(_ user: UserInfo, _ change: SubscriptionRequest.Change, isNamed: Bool) {
            let place = places[user.number] ?? gathered.count
            if place == gathered.count { gathered.append((user, SubscriptionStates(nil), isNamed)) }
            places[user.number] = place
            gathered[place].states.set(change.group, isSubscribed: change.isSubscribed)
            if isNamed { gathered[place].isNamed = true }
        }
        /// Whom each address means.
        var addressed: [(place: String, users: [UserInfo])] = []
        for change in request.changes {
            var known: Set<UserID> = []
            for person in change.people {
                let own = try person.isContact ? nil : person.user.flatMap { try profiles.find($0) }
                let address = try person.isContact ? person.user : person.user.flatMap { try profiles.email(of: $0) }
                let sharers = try address.map { try addresses.inLog($0) } ?? []
                if own == nil, sharers.isEmpty {
                    dropped.append((person.place, person.user == nil ? "is not valid" : "is no user's"))
                }
                if let own { gather(own, change, isNamed: true) }
                guard let address, known.insert(address).inserted else { continue }
                for user in sharers { gather(user, change, isNamed: false) }
                addressed.append((person.place, sharers))
            }
        }
        var leftOut: Set<UserNumber> = []
        for (user, states, isNamed) in gathered.filter(\.isNamed) + gathered.filter({ !$0.isNamed }) {
            if isNamed || SubscriptionStates.haveRoom(in: builder) {
                try states.add(to: .brazeID(user.brazeID), &builder, &profiles)
            } else {
                leftOut.insert(user.number)
            }
        }
        for (place, users) in addressed where users.contains(where: { leftOut.contains($0.number) }) {
            dropped.append((place, SubscriptionStates.tooManyElsewhere))
        }
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
}
