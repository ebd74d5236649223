internal import ProfileLogRequests

/// `POST /users/track`, `/users/track/bulk` and `/users/track/sync`: a request is one append, durable before the
/// answer.
struct TrackEndpoints {
    let api: BrazeAPI

    private var log: EventLog { api.log }
    private var limits: TrackLimits { api.workspace.limits }

    func track(_ request: APIRequest, isBulk: Bool) async throws -> APIAnswer {
        try await track(request, isBulk: isBulk) { _, answer in answer.answer }
    }

    /// Does what a track request asks, once for each idempotency key.
    ///
    /// - Parameters:
    ///   - isBulk: whether the limits are those of bulk requests.
    ///   - check: refuses a body that this endpoint does not take.
    ///   - known: the answer to a request that was answered before.
    ///   - stored: what is answered the first time, if that is more than what was decided; nothing may have been
    ///     stored.
    private func track(
        _ request: APIRequest, isBulk: Bool = false, check: (TrackBody) throws -> Void = { _ in },
        known: (AppendReceipt, TrackAnswer) throws -> APIAnswer,
        stored: (@Sendable (AppendReceipt?, TrackObject?, TrackAnswer) throws -> APIAnswer)? = nil
    ) async throws -> APIAnswer {
        let key = try RequestKey(request)
        return try await api.store.once(under: key) { receipt, note in
            try known(receipt, TrackAnswer(remembered: note.answer))
        } first: {
            let body = try isBulk ? TrackBody(bulk: request.body, limits) : TrackBody(request.body, limits)
            try check(body)
            let sent = SentOrder(request.body)
            return try await api.store.decider.decide { [self] view in
                let reader = TrackReader(workspace: api.workspace, now: log.options.now(), sent: sent)
                var builder = log.prepare(capacity: body.count)
                var decision = TrackDecision(api, view)
                try decision.decide(body, reader, &builder)
                var answer = TrackAnswer(decision, misspelt: body.misspelt)
                if decision.refusesAll { return .answer(answer.answer) }
                if key != nil { answer = answer.nameless }
                let first = decision.first
                guard let append = try builder.finish(under: key, remembering: answer.body) else {
                    return .answer(try stored?(nil, first, answer) ?? answer.answer)
                }
                return .store(append) { receipt in
                    try receipt.checkIsFirst()
                    return try stored?(receipt, first, answer) ?? answer.answer
                }
            }
        }
    }

    // MARK: - One object, and what the profile says afterwards (spec/rest-api 1.11)

    func trackInSync(_ request: APIRequest) async throws -> APIAnswer {
        try await track(
            request, check: Self.checkIsOne,
            known: { [self] receipt, answer in
                guard !receipt.isErased, let object = try? objectSent(in: request) else { return answer.answer }
                return try syncAnswer(object, receipt, answer)
            },
            stored: { [self] receipt, object, answer in
                guard let object else { return answer.answer }
                return try syncAnswer(object, receipt, answer)
            })
    }

    /// The object of a request that was stored. Nil, or an error, if by now it would be refused: with an erased person
    /// it is forgotten what the request was, and the limits of a workspace may be others.
    private func objectSent(in request: APIRequest) throws -> TrackObject? {
        let reader = TrackReader(workspace: api.workspace, now: .distantFuture, sent: SentOrder(request.body))
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
        let view = try place(object, receipt).map { user, version in
            log.profileView(try log.profile(of: user, asOf: version))
        }
        return APIAnswer.ok(status: 201) { json in
            json.objects("users", view.map { [$0] } ?? []) { $0.touched(object, $1) }
            json.member("message", "success")
            answer.writeLeftOut(to: &json)
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
    fileprivate mutating func touched(_ object: TrackObject, _ view: ProfileView) {
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
        case .brazeID(let id): member("braze_id", id)
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
