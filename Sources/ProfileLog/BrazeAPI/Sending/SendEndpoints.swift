internal import Foundation
internal import ProfileLogMessaging
internal import ProfileLogRequests

/// The requests that send messages (spec/messaging-api 1). Sent messages, and the reasons of others, are stored as
/// steps of messages (`MessageStep`); nothing leaves the service.
struct SendEndpoints {
    let api: BrazeAPI

    private var log: EventLog { api.log }
    private var workspace: Workspace { api.workspace }

    /// `POST /messages/send`, `/campaigns/trigger/send` and `/canvas/trigger/send`
    func send(_ request: APIRequest, _ form: SendForm) async throws -> APIAnswer {
        let key = try RequestKey(request)
        if let answer = try api.store.answer(under: key) { return answer }
        let asked = try SendRequest(form, BodyObject.read(request.body), knownTo: request, workspace)
        if asked.isTargeted { try await checkRate(asked) }
        if asked.recipients.isEmpty { return try await Broadcast(asked, api).send(under: key) }
        return try await decide(asked, under: key) { $0.answer }
    }

    /// Refuses what is too many in a minute. It is recorded once for the request: no user was looked up for it.
    private func checkRate(_ request: SendRequest) async throws {
        let limit = workspace.limits.targetedSendsPerMinute
        guard let seconds = api.rates.targeted.count(at: log.options.now(), limit: limit) else { return }
        let refusal = SendRates.refusal(
            "sends a minute with a segment or an audience", limit: limit, seconds: seconds)
        var builder = log.prepare(capacity: 0)
        try builder.addOfSystem(
            MessageStep(
                .notSent, of: Name(request.plan.id), by: request.plan.messages[0].channel,
                reason: "rate limit: \(limit) sends a minute with a segment or an audience",
                dispatch: request.plan.dispatch))
        _ = try await api.store.commit(builder.finish())
        throw refusal
    }

    /// `POST /transactional/v1/campaigns/{campaign_id}/send`: a repetition under the same `external_send_id` sends
    /// nothing.
    func sendTransactional(_ request: APIRequest) async throws -> APIAnswer {
        let body = try BodyObject.read(request.body)
        let sendID = try SendRequest.sendID(body, "external_send_id")
        let campaign = request.parameters["campaign_id"] ?? ""
        let now = TrackTime.text(log.options.now())
        var key = try RequestKey(request)
        if let sendID {
            guard key == nil else {
                throw APIError.invalid(
                    "external_send_id", "cannot go with an Idempotency-Key", remedy: "Send one of the two.")
            }
            key = RequestKey(reserved: "transactional", for: [campaign, sendID])
        }
        if let answer = try api.store.answer(under: key) { return answer }
        let asked = try SendRequest(transactional: body, campaign: campaign, workspace)
        return try await decide(asked, under: key) { decision in
            APIAnswer.ok(status: 201) { json in
                json.member("dispatch_id", decision.request.plan.dispatch)
                json.member("status", decision.sendsAnything ? "sent" : "aborted")
                json.object("metadata") { json in
                    for step in ["received_at", "enqueued_at", "executed_at"] { json.member(step, now) }
                    json.member("sent_at", decision.sendsAnything ? now : nil)
                    json.member("campaign_api_id", campaign)
                    json.member("external_send_id", sendID)
                }
                json.notDone(errors: decision.errors, dropped: decision.dropped, of: decision.request)
            }
        }
    }

    /// `POST /sends/id/create`: an ID for the sends of a campaign. Sends take any other ID as well.
    func createSendID(_ request: APIRequest) throws -> APIAnswer {
        try request.refuseIfMatch()
        if request.idempotencyKey != nil {
            throw APIError.invalid(
                "Idempotency-Key", "has no effect here, as nothing is stored",
                remedy: "Send the `send_id` that you want.")
        }
        let body = try BodyObject.read(request.body)
        _ = try SendRequest.campaign(.campaign, body, workspace)
        let sendID = try SendRequest.sendID(body) ?? UUID().uuidString.lowercased()
        let limit = workspace.limits.sendIDsPerDay
        if let seconds = api.rates.sendIDs.count(at: log.options.now(), limit: limit) {
            throw SendRates.refusal("send IDs a day", limit: limit, seconds: seconds)
        }
        return APIAnswer.ok(status: 201) { json in
            json.member("message", "success")
            json.member("send_id", sendID)
        }
    }

    /// Sends to named users: one append.
    private func decide(
        _ request: SendRequest, under key: RequestKey?, _ answer: @escaping @Sendable (SendDecision) -> APIAnswer
    ) async throws -> APIAnswer {
        try await api.store.decide(under: key, capacity: request.recipients.count) { [api] view, builder in
            var decision = SendDecision(request, api, view)
            try decision.decideOrRefuse(&builder)
            return answer(decision)
        }
    }
}

extension SendRequest {
    /// 201 with `dispatch_id`, then what was not done.
    func answer(
        errors: [String] = [], dropped: [SendDecision.SendRefusal] = [], schedule: String? = nil
    ) -> APIAnswer {
        APIAnswer.ok(status: 201) { json in
            json.member("dispatch_id", plan.dispatch)
            json.member("schedule_id", schedule)
            json.member("message", "success")
            json.member("send_id", plan.sendID)
            json.notDone(errors: errors, dropped: dropped, of: self)
        }
    }
}

extension JSONWriter {
    /// `errors` and `dropped`, each only if there are some.
    fileprivate mutating func notDone(errors: [String], dropped: [SendDecision.SendRefusal], of request: SendRequest) {
        if !errors.isEmpty { array("errors", errors) { $0.value($1) } }
        self.dropped(
            dropped.map { drop in
                let place = request.place(of: drop.index)
                return (drop.reason, place.array, place.index)
            })
    }
}

extension SendDecision {
    var answer: APIAnswer { request.answer(errors: errors, dropped: dropped) }

    /// As ``decide(_:)``; an error in the audience is the client's mistake.
    mutating func decideOrRefuse(_ builder: inout AppendBuilder) throws {
        do { try decide(&builder) } catch let error as SendError { throw APIError(error) }
    }
}

// MARK: - The form of the answers

extension SendEndpoints {
    private static let notDone: AnswerShape = ["errors?": [.text], "dropped?": .dropped]

    static let sent: AnswerShape = ["dispatch_id": .text, "send_id?": .text] + .success + notDone
    static let scheduled: AnswerShape = ["schedule_id": .text] + sent
    static let sendID: AnswerShape = ["send_id": .text] + .success

    static let transactional: AnswerShape =
        [
            "dispatch_id": .text, "status": .text,
            "metadata": [
                "received_at": .time, "enqueued_at": .time, "executed_at": .time, "sent_at?": .time,
                "campaign_api_id": .text, "external_send_id?": .text,
            ],
        ] + notDone
}
