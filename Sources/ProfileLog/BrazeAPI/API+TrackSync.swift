internal import ProfileLogRequests

/// `POST /users/track/sync`: one object, and what the profile says afterwards (spec/rest-api 1.11).
extension BrazeAPI {
    func trackUserInSync(_ request: APIRequest) async -> APIAnswer {
        do {
            return try await track(
                request, check: Self.checkIsOne,
                known: { [self] receipt, answer in
                    guard !receipt.isErased, let object = try? objectSent(in: request) else { return answer.answer }
                    return try syncAnswer(object, receipt, answer)
                },
                stored: { [self] receipt, decision in
                    let answer = TrackAnswer(decision)
                    guard let object = decision.first else { return answer.answer }
                    return try syncAnswer(object, receipt, answer)
                })
        } catch {
            return APIProblem(error).messageAnswer
        }
    }

    /// The object of a request that was stored. Nil, or an error, if by now it would be refused: with an erased person
    /// it is forgotten what the request was, and the limits of a workspace may be others.
    private func objectSent(in request: APIRequest) throws -> TrackObject? {
        let reader = TrackReader(workspace: workspace, now: .distantFuture, request: request.body)
        let body = try TrackBody(request.body, limits)
        guard let array = TrackArray.allCases.first(where: { !body[$0].isEmpty }) else { return nil }
        return try reader.object(body[array][0].get(), in: array, at: 0)
    }

    private static func checkIsOne(_ body: TrackBody) throws {
        guard body.count == 1 else {
            throw APIProblem(
                status: 400, code: "too_many_objects",
                error: "Exactly one object in 'attributes', 'events' or 'purchases' is allowed, not \(body.count).",
                remedy: "Send the others in requests of their own, or all of them to /users/track.")
        }
    }

    /// `users`, with the profile as the append left it, then what was skipped.
    private func syncAnswer(
        _ object: TrackObject, _ receipt: AppendReceipt?, _ answer: TrackAnswer
    ) throws -> APIAnswer {
        var json = JSONWriter()
        json.beginObject()
        json.key("users")
        json.beginArray()
        if let (user, version) = try place(object, receipt) {
            let view = log.profileView(try log.profile(of: user, asOf: version))
            json.touched(object, view)
        }
        json.endArray()
        json.member("message", "success")
        answer.writeLeftOut(to: &json)
        json.endObject()
        return APIAnswer(status: 201, body: json.bytes)
    }

    /// The user and the version that the append gave them; of what stored nothing, the user as they are. Nil if there
    /// is none, or was none the first time.
    private func place(_ object: TrackObject, _ receipt: AppendReceipt?) throws -> (UserNumber, Version)? {
        // After the user's own events there may be those of others, who share a subscription state. What was skipped
        // may be stored with the system, whose number is 0.
        let places = (receipt?.places ?? []).filter { $0.user.rawValue > 0 }
        if let user = places.first?.user, let place = places.last(where: { $0.user == user }) {
            return (user, place.version)
        }
        if receipt?.isRepetition == true { return nil }
        return try log.user(meantBy: object.target.user).map { ($0.number, $0.version) }
    }
}

extension Timestamp {
    /// After every time that a request can name.
    static let distantFuture = Timestamp(rawValue: .max)
}

extension JSONWriter {
    /// An entry of `users`: the identifier that was used, and the parts that the object is about.
    fileprivate mutating func touched(_ object: TrackObject, _ view: ProfileView) {
        beginObject()
        identifier(object.target.user)
        switch object.touched {
        case .customAttributes(let names):
            let fields = Dictionary(uniqueKeysWithValues: view.customAttributes.map { ($0.name, $0.value) })
            if names.isEmpty { break }
            key("custom_attributes")
            beginObject()
            for name in names {
                key(name)
                value(fields[name].map(TrackTime.json) ?? .null)
            }
            endObject()
        case .customEvent(let name):
            key("custom_events")
            beginArray()
            for event in view.customEvents where event.name == name {
                counted("name", event.name, event.occurrences)
            }
            endArray()
        case .product(let product):
            key("purchase_events")
            beginArray()
            for purchase in view.purchases where purchase.product == product {
                counted("product_id", purchase.product, purchase.occurrences)
            }
            endArray()
        }
        endObject()
    }

    private mutating func identifier(_ user: UserID) {
        switch user {
        case .externalID(let id): member("external_id", id)
        case .alias(let label, let name):
            key("user_alias")
            beginObject()
            member("alias_name", name)
            member("alias_label", label)
            endObject()
        case .brazeID(let id): member("braze_id", id)
        case .email(let address): member("email", address)
        case .phone(let number): member("phone", number)
        case .device(let device): member("device_id", device)
        }
    }

    /// `{name, first, last, count}`, as in exports.
    mutating func counted(_ nameKey: String, _ name: Name, _ occurrences: ProfileState.Occurrences) {
        beginObject()
        member(nameKey, name.text)
        member("first", TrackTime.text(occurrences.first))
        member("last", TrackTime.text(occurrences.last))
        key("count")
        value(occurrences.count)
        endObject()
    }
}
