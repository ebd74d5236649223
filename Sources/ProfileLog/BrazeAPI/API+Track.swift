internal import ProfileLogRequests

/// `POST /users/track` and `/users/track/bulk`: one request is one append, durable when it is answered.
extension BrazeAPI {
    func trackUsers(_ request: APIRequest) async -> APIAnswer { await track(request, isBulk: false) }

    func trackUsersInBulk(_ request: APIRequest) async -> APIAnswer { await track(request, isBulk: true) }

    private func track(_ request: APIRequest, isBulk: Bool) async -> APIAnswer {
        do {
            return try await track(request, isBulk: isBulk) { _, answer in answer.answer }
        } catch {
            return APIProblem(error).messageAnswer
        }
    }

    /// Does what a track request asks, once for each idempotency key.
    ///
    /// - Parameters:
    ///   - isBulk: whether the limits are those of bulk requests.
    ///   - check: refuses a body that this endpoint does not take.
    ///   - known: the answer to a request that was answered before.
    ///   - stored: what is answered the first time, if that is more than what was decided; nothing may have been
    ///     stored.
    func track(
        _ request: APIRequest, isBulk: Bool = false, check: (TrackBody) throws -> Void = { _ in },
        known: (AppendReceipt, TrackAnswer) throws -> APIAnswer,
        stored: (@Sendable (AppendReceipt?, TrackDecision) throws -> APIAnswer)? = nil
    ) async throws -> APIAnswer {
        let key = try RequestKey(request)
        return try await store.once(under: key) { receipt, note in
            try known(receipt, answer(to: request, note, isBulk: isBulk))
        } first: {
            let body = try trackBody(request, isBulk: isBulk)
            try check(body)
            return try await decider.decide { [self] view in
                let reader = TrackReader(workspace: workspace, now: log.options.now(), request: request.body)
                var builder = log.prepare(capacity: body.count)
                var decision = TrackDecision(self, view)
                try decision.decide(body, reader, &builder)
                let answer = TrackAnswer(decision)
                if decision.refusesAll { return .answer(answer.answer) }
                var names = SentNames(reader, body)
                guard let append = try builder.finish(under: key, remembering: answer.remembered(&names)) else {
                    return .answer(try stored?(nil, decision) ?? answer.answer)
                }
                let result = decision
                return .store(append) { receipt in
                    try receipt.checkIsFirst()
                    return try stored?(receipt, result) ?? answer.answer
                }
            }
        }
    }

    private func trackBody(_ request: APIRequest, isBulk: Bool) throws -> TrackBody {
        try isBulk ? TrackBody(bulk: request.body, limits) : TrackBody(request.body, limits)
    }

    /// The first answer to `request`, with the names that it brings along again.
    private func answer(to request: APIRequest, _ note: RequestNote, isBulk: Bool) throws -> TrackAnswer {
        // Its times were compared with the clock when it came first.
        let reader = TrackReader(workspace: workspace, now: .distantFuture, request: request.body)
        var names = SentNames(reader, try? trackBody(request, isBulk: isBulk))
        return try TrackAnswer(remembered: note.answer, &names)
    }
}
