internal import ProfileLogRequests

/// `POST /users/track`, `/users/track/bulk` and `/users/track/sync`: a request is one append, durable before the
/// answer.
struct TrackEndpoints {
    let api: BrazeAPI

    private var log: EventLog { api.log }
    private var limits: TrackLimits { api.workspace.limits }

    func track(_ request: APIRequest, isBulk: Bool) async throws -> APIAnswer {
        try await track(request) {
            try isBulk ? TrackBody(bulk: request.body, limits) : TrackBody(request.body, limits)
        }.answer.answer
    }

    /// The outcome of a request.
    private struct Tracked {
        var answer: TrackAnswer
        /// The first object that was in order; nil if that is not known any more.
        var first: TrackObject?
        /// The receipt; nil if nothing was stored.
        var receipt: AppendReceipt?
    }

    /// Does what a track request asks, once for each idempotency key.
    private func track(_ request: APIRequest, reading read: () throws -> TrackBody) async throws -> Tracked {
        let key = try RequestKey(request)
        if let (receipt, remembered) = try api.store.append(under: key) {
            return Tracked(answer: try TrackAnswer(remembered: remembered), receipt: receipt)
        }
        let body = try read()
        let sent = SentOrder(request.body)
        var (tracked, receipt) = try await api.store.decide { [self] view in
            let reader = TrackReader(workspace: api.workspace, now: log.options.now(), sent: sent)
            var builder = log.prepare(capacity: body.count)
            var decision = TrackDecision(api, view)
            try decision.decide(body, reader, &builder)
            if decision.answer.refusesAll { return Decision(Tracked(answer: decision.answer)) }
            let answer = key == nil ? decision.answer : decision.answer.nameless
            return Decision(
                Tracked(answer: answer, first: decision.first),
                storing: try builder.finish(under: key, remembering: answer.body))
        }
        tracked.receipt = receipt
        if let key, let receipt, receipt.isRepetition {
            tracked.answer = try TrackAnswer(remembered: key.remembered(by: receipt))
        }
        return tracked
    }

    // MARK: - One object, and what the profile says afterwards (spec/rest-api 1.11)

    func trackInSync(_ request: APIRequest) async throws -> APIAnswer {
        let tracked = try await track(request) { try Self.oneObject(TrackBody(request.body, limits)) }
        let isKnown = tracked.receipt?.isErased != true && !tracked.answer.refusesAll
        guard isKnown, let object = try? tracked.first ?? objectSent(in: request) else { return tracked.answer.answer }
        return try syncAnswer(object, tracked.receipt, tracked.answer)
    }

    /// The object of a request that was stored. Nil, or an error, if by now it would be refused: with an erased person
    /// it is forgotten what the request was, and the limits of a workspace may be others.
    private func objectSent(in request: APIRequest) throws -> TrackObject? {
        let reader = TrackReader(workspace: api.workspace, now: .distantFuture, sent: SentOrder(request.body))
        let body = try TrackBody(request.body, limits)
        guard let array = TrackArray.allCases.first(where: { !body[$0].isEmpty }) else { return nil }
        return try reader.object(body[array][0].get(), in: array, at: 0)
    }

    private static func oneObject(_ body: TrackBody) throws -> TrackBody {
        guard body.count == 1 else {
            throw APIError(
                status: 400, code: "too_many_objects",
                error: "Exactly one object in 'attributes', 'events' or 'purchases' is allowed, not \(body.count).",
                remedy: "Send the others in requests of their own, or all of them to /users/track.")
        }
        return body
    }

    /// `users`, with the profile as the append left it, then what was skipped.
    private func syncAnswer(
        _ object: TrackObject, _ receipt: AppendReceipt?, _ answer: TrackAnswer
    ) throws -> APIAnswer {
        let view = try place(object, receipt).map { user, version in
            log.reader.named(try log.reader.profile(of: user, asOf: version))
        }
        return APIAnswer.ok(status: 201) { json in
            json.objects("users", view.map { [$0] } ?? []) { $0.touched(object, $1) }
            json.member("message", "success")
            answer.writeRefusals(to: &json)
        }
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
        return try log.reader.users.user(meantBy: object.target.user).map { ($0.number, $0.version) }
    }
}

extension Timestamp {
    /// A time after every time that a request can name.
    static let distantFuture = Timestamp(rawValue: .max)
}

extension JSONWriter {
    /// An entry of `users`: the used identifier, and the parts of the user in the object.
    fileprivate mutating func touched(_ object: TrackObject, _ view: Profile) {
        identifier(object.target.user)
        switch object.touched {
        case .customAttributes(let names):
            let fields = Dictionary(uniqueKeysWithValues: view.customAttributes.map { ($0.name, $0.value) })
            if names.isEmpty { break }
            self.object("custom_attributes") { json in
                for name in names { json.member(name.text, fields[name].map(TrackTime.json) ?? .null) }
            }
        case .customEvent(let name):
            objects("custom_events", view.customEvents.filter { $0.name == name }) {
                $0.counted("name", $1.name, $1.occurrences)
            }
        case .product(let product):
            objects("purchase_events", view.purchases.filter { $0.name == product }) {
                $0.counted("product_id", $1.name, $1.occurrences)
            }
        }
    }

    private mutating func identifier(_ user: UserID) {
        switch user {
        case .externalID(let id): member("external_id", id)
        case .alias(let label, let name):
            object("user_alias") { json in
                json.member("alias_name", name)
                json.member("alias_label", label)
            }
        case .assignedID(let id): member("braze_id", id)
        case .email(let address): member("email", address)
        case .phone(let number): member("phone", number)
        case .device(let device): member("device_id", device)
        }
    }

    /// `name`, `first`, `last` and `count`, as in exports.
    mutating func counted(_ nameKey: String, _ name: Name, _ occurrences: ProfileState.Occurrences) {
        member(nameKey, name.text)
        member("first", TrackTime.text(occurrences.first))
        member("last", TrackTime.text(occurrences.last))
        member("count", occurrences.count)
    }
}

// MARK: - The form of the answer

extension TrackEndpoints {
    static let synced: AnswerShape =
        [
            "users?": [
                [
                    "external_id?": .text, "user_alias?": ExportedProfile.alias, "braze_id?": .text, "email?": .text,
                    "phone?": .text, "device_id?": .text, "custom_attributes?": .map(.any),
                    "custom_events?": [ExportedProfile.counted("name")],
                    "purchase_events?": [ExportedProfile.counted("product_id")],
                ]
            ]
        ] + TrackAnswer.shape
}
