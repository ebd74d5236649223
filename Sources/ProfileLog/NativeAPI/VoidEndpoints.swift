internal import ProfileLogRequests

/// `POST /v1/void` and `/v1/unvoid`.
struct VoidEndpoints {
    let store: RequestStore

    static let inputs: [EndpointInput] = [
        .required("position", .integer), .required("reason"), .init("actor"), .init("source"), .init("key"),
    ]

    func answer(_ request: APIRequest, isVoid: Bool) async throws -> APIAnswer {
        try request.refuseIfMatch()
        let fields = try Fields(request)
        let position = try fields.position()
        let (reason, actor) = try fields.reasonAndActor()
        let source = try WriteEndpoints.source(fields) ?? .rest
        let key = try WriteEndpoints.key(fields, request)
        let change = VoidRequest(position, isVoid: isVoid, actor: actor, reason: reason)
        let receipt: AppendReceipt
        do {
            receipt = try await store.commit(
                .void(change, context: EventContext(source: source), idempotencyKey: key))
        } catch AppendError.invalid(let place, let reason, let remedy) {
            guard let refusal = try store.reader.events.refusal(of: change) else {
                throw AppendError.invalid(place: place, reason: reason, remedy: remedy)
            }
            throw apiError(refusal, change)
        }
        return try store.read { try answer(to: receipt, change, $0) }
    }

    private func apiError(_ refusal: VoidRefusal, _ change: VoidRequest) -> APIError {
        let position = change.position.rawValue
        var apiError = APIError(
            status: 400, code: "invalid", error: "The event at position \(position) \(refusal.reason).",
            remedy: refusal.commandRemedy(at: change.position), place: "position")
        switch refusal {
        case .isVoid(let void):
            (apiError.status, apiError.code, apiError.facts) = (409, "void", [("void", void.rawValue)])
        case .counts: (apiError.status, apiError.code) = (409, "not_void")
        case .beyondEnd: (apiError.status, apiError.code) = (404, "no_such_event")
        case .erased, .kind, .voiding: (apiError.status, apiError.code) = (409, "cannot_be_void")
        }
        return apiError
    }

    private func answer(to receipt: AppendReceipt, _ change: VoidRequest, _ log: LogReader) throws -> APIAnswer {
        guard let place = receipt.places.last, let target = try log.event(at: change.position) else {
            throw APIError.invalid("position", "is beyond the log's end")
        }
        let user = try log.users.find(place.user)
        let before = try log.profile(of: place.user, asOf: Version(rawValue: place.version.rawValue - 1))
        let after = try log.profile(of: place.user, asOf: place.version)
        return try APIAnswer.ok(version: place.version) { json in
            try json.stored(receipt.last, in: log)
            json.member("version", place.version.rawValue)
            json.member("user", user)
            json.member(change.isVoid ? "voided" : "unvoided", change.position.rawValue)
            json.member("kind", target.event.kind.name)
            json.member("repeated", receipt.isRepetition)
            json.array("changed", changes(log.named(before), log.named(after))) { $0.value($1.text) }
        }
    }

    /// The attributes, events and products that are not the same in both.
    private func changes(_ before: Profile, _ after: Profile) -> [Name] {
        func differing<Item: Hashable>(_ items: KeyPath<Profile, [Item]>, _ name: (Item) -> Name) -> [Name] {
            Set(before[keyPath: items]).symmetricDifference(after[keyPath: items]).map(name)
        }
        let names =
            differing(\.attributes, \.name) + differing(\.customAttributes, \.name)
            + differing(\.customEvents, \.name) + differing(\.purchases, \.name)
        return Set(names).sorted()
    }
}

extension VoidEndpoints {
    static let shape: AnswerShape =
        .storedAlways + [
            "version": .integer, "user": .orNull(.user), "voided?": .integer, "unvoided?": .integer, "kind": .text,
            "repeated": .boolean, "changed": [.text],
        ]
}
