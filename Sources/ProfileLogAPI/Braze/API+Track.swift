internal import ProfileLog

/// `POST /users/track` and `/users/track/bulk`: one request is one append, durable when it is answered.
extension API {
    func trackUsers(_ request: APIRequest) async -> APIAnswer { await track(request, isBulk: false) }

    func trackUsersInBulk(_ request: APIRequest) async -> APIAnswer { await track(request, isBulk: true) }

    private func track(_ request: APIRequest, isBulk: Bool) async -> APIAnswer {
        do {
            return try await track(request, isBulk: isBulk) {
                TrackAnswer.answer($0)
            } known: { receipt, note in
                APIAnswer(status: 201, body: note.answer)
            }
        } catch {
            return APIProblem(error).messageAnswer
        }
    }

    /// Does what a track request asks, once for each idempotency key.
    ///
    /// - Parameters:
    ///   - isBulk: whether the limits are those of bulk requests.
    ///   - check: refuses a body that this endpoint does not take.
    ///   - first: the answer, before anything is stored: it is remembered under the key.
    ///   - known: the answer to a request that was answered before.
    ///   - stored: replaces `first` by what is known after the commit; the remembered answer stays `first`.
    func track(
        _ request: APIRequest, isBulk: Bool = false, check: (TrackBody) throws -> Void = { _ in },
        first: (TrackDecision) -> APIAnswer, known: (AppendReceipt, RequestNote) throws -> APIAnswer,
        stored: ((AppendReceipt?, TrackDecision) throws -> APIAnswer)? = nil
    ) async throws -> APIAnswer {
        let key = try Self.key(of: request)
        let digest = key == nil ? [] : RequestNote.digest(request)
        if let key, let earlier = try log.append(underKey: key) {
            return try known(earlier, try note(of: earlier, digest))
        }
        let body = try isBulk ? TrackBody(bulk: request.body, trackLimits) : TrackBody(request.body, trackLimits)
        try check(body)
        for attempt in 1... {
            let claims = TypeClaims.Held(typeClaims)
            defer { claims.release() }
            let reader = TrackReader(workspace: workspace, now: log.options.now(), requestBytes: request.body.count)
            var builder = log.prepare(capacity: body.count)
            let decision = try TrackDecision(body, reader, self, claims, &builder)
            if !decision.outdated.isEmpty, attempt < Self.mostAttempts {
                for address in decision.outdated { _ = try await commit(.release(address)) }
                continue
            }
            let answer = first(decision)
            if decision.refusesAll { return answer }
            let note = key == nil ? [] : RequestNote(digest: digest, answer: answer.body).bytes
            do {
                if builder.count == 0 {
                    // Nothing is stored but what is left out; without the key, so that a retry is decided again.
                    if !builder.isEmpty { _ = try await commit(builder.finish()) }
                    return try stored?(nil, decision) ?? answer
                }
                let receipt = try await commit(builder.finish(idempotencyKey: key, note: note))
                if receipt.isRepetition { return try known(receipt, try self.note(of: receipt, digest)) }
                return try stored?(receipt, decision) ?? answer
            } catch AppendError.versionConflict where attempt < Self.mostAttempts {
                continue  // somebody else made a user, or changed one on whom the decision depends: decide again
            } catch AppendError.keyReused(let position) {
                // The same request came twice at once, and between the two its objects got another meaning.
                guard let key, let earlier = try log.append(underKey: key) else {
                    throw AppendError.keyReused(position: position)
                }
                return try known(earlier, try self.note(of: earlier, digest))
            }
        }
        preconditionFailure("the last attempt ends the loop")
    }

    /// How often a request is decided that others come before.
    static let mostAttempts = 16

    /// The request's idempotency key, if it has one.
    static func key(of request: APIRequest) throws -> String? {
        if request.ifMatch != nil {
            throw APIProblem.invalid("If-Match", "has no meaning here", remedy: "Send the request without it.")
        }
        guard let key = request.idempotencyKey else { return nil }
        if key.isEmpty { throw APIProblem.invalid("Idempotency-Key", "must not be empty") }
        return key
    }

    /// The note of an append, which must be that of the request with this digest.
    func note(of receipt: AppendReceipt, _ digest: [UInt8]) throws -> RequestNote {
        guard let note = RequestNote(receipt.note), note.digest == digest else {
            throw AppendError.keyReused(position: receipt.first)
        }
        return note
    }
}
