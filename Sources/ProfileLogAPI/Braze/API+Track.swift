internal import ProfileLog

/// `POST /users/track` and `/users/track/bulk`: one request is one append, durable when it is answered.
extension API {
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
    ///   - stored: what is answered the first time, if that is more than what was decided; nothing may have been stored.
    func track(
        _ request: APIRequest, isBulk: Bool = false, check: (TrackBody) throws -> Void = { _ in },
        known: @escaping @Sendable (AppendReceipt, TrackAnswer) throws -> APIAnswer,
        stored: (@Sendable (AppendReceipt?, TrackDecision) throws -> APIAnswer)? = nil
    ) async throws -> APIAnswer {
        let key = try Self.key(of: request)
        let digest = key == nil ? [] : RequestNote.digest(request)
        if let key, let earlier = try log.append(underKey: key) {
            return try known(earlier, try remembered(earlier, request, digest, isBulk: isBulk))
        }
        let body = try trackBody(request, isBulk: isBulk)
        try check(body)
        do {
            return try await settle { [self] basis in
                let claims = TypeClaims.Held(typeClaims)
                let reader = TrackReader(workspace: workspace, now: log.options.now(), request: request.body)
                var builder = log.prepare(capacity: body.count)
                let decision = try TrackDecision(body, reader, self, basis, claims, &builder)
                if !decision.outdated.isEmpty { return .outdated(decision.outdated) }
                let answer = TrackAnswer(decision)
                if decision.refusesAll { return .answer(answer.answer) }
                if builder.isEmpty {
                    guard key != nil else { return .answer(try stored?(nil, decision) ?? answer.answer) }
                    // A key needs an event to stand with: one that leaves out nothing.
                    try builder.leaveOut([], of: nil)
                }
                var names = SentNames(reader, body)
                let note = key == nil ? [] : RequestNote(digest: digest, answer: answer.remembered(&names)).bytes
                let tokens = decision.imported
                let isFree: @Sendable () throws -> Bool = { try basis.isFree(tokens) }
                let append = try builder.finish(idempotencyKey: key, note: note)
                return .store(append, holds: tokens.isEmpty ? nil : isFree) { receipt in
                    claims.release()
                    if receipt.isRepetition {
                        return try known(
                            receipt, try self.remembered(receipt, request, digest, isBulk: isBulk))
                    }
                    return try stored?(receipt, decision) ?? answer.answer
                }
            }
        } catch AppendError.keyReused(let position) {
            // The same request came twice at once, and between the two its objects got another meaning.
            guard let key, let earlier = try log.append(underKey: key) else {
                throw AppendError.keyReused(position: position)
            }
            return try known(earlier, try remembered(earlier, request, digest, isBulk: isBulk))
        }
    }

    private func trackBody(_ request: APIRequest, isBulk: Bool) throws -> TrackBody {
        try isBulk ? TrackBody(bulk: request.body, trackLimits) : TrackBody(request.body, trackLimits)
    }

    /// The first answer to `request`, with the names that it brings along again.
    private func remembered(
        _ receipt: AppendReceipt, _ request: APIRequest, _ digest: [UInt8], isBulk: Bool
    ) throws -> TrackAnswer {
        let note = try note(of: receipt, digest)
        // Its times were compared with the clock when it came first.
        let reader = TrackReader(workspace: workspace, now: .distantFuture, request: request.body)
        var names = SentNames(reader, try? trackBody(request, isBulk: isBulk))
        return try TrackAnswer(remembered: note.answer, &names)
    }

    /// The request's idempotency key, if it has one.
    static func key(of request: APIRequest) throws -> String? {
        if request.ifMatch != nil {
            throw APIProblem.invalid("If-Match", "has no meaning here", remedy: "Send the request without it.")
        }
        guard let key = request.idempotencyKey else { return nil }
        if key.isEmpty { throw APIProblem.invalid("Idempotency-Key", "must not be empty") }
        return key
    }

    /// The note of an append, which must be that of the request with this digest. If it was erased with a person, the key alone says that the
    /// request is the same, and that it succeeded is all that is known of the answer.
    func note(of receipt: AppendReceipt, _ digest: [UInt8]) throws -> RequestNote {
        if receipt.isErased { return RequestNote(digest: digest, answer: RequestNote.success) }
        guard let note = RequestNote(receipt.note), note.digest == digest else {
            throw AppendError.keyReused(position: receipt.first)
        }
        return note
    }
}
