internal import ProfileLogRequests

/// `POST /subscription/status/set` and `/v2/subscription/status/set`: one request is one append, and changes no group
/// that it does not name.
extension BrazeAPI {
    func setSubscription(_ request: APIRequest) async -> APIAnswer {
        await set(request) { try SubscriptionRequest(request.body, workspace) }
    }

    func setSubscriptions(_ request: APIRequest) async -> APIAnswer {
        await set(request) { try SubscriptionRequest(version2: request.body, workspace) }
    }

    private func set(_ request: APIRequest, _ read: () throws -> SubscriptionRequest) async -> APIAnswer {
        do {
            let key = try RequestKey(request)
            return try await store.once(under: key) { _, note in
                APIAnswer(status: 201, body: note.answer)
            } first: {
                let request = try read()
                return try await decider.decide { view in
                    var builder = view.log.prepare()
                    var decision = SubscriptionDecision(view)
                    try decision.decide(request, &builder)
                    let answer = decision.answer
                    guard let append = try builder.finish(under: key, remembering: answer.body) else {
                        return .answer(answer)
                    }
                    return .store(append) { receipt in
                        try receipt.checkIsFirst()
                        return answer
                    }
                }
            }
        } catch {
            return APIProblem(error).messageAnswer
        }
    }
}
