internal import ProfileLogRequests

/// A person is taken out of the log, for ever.
extension NativeAPI {
    func erase(_ request: APIRequest) async throws -> APIAnswer {
        try Self.refuseConditions(request)
        let fields = try Fields(request.body, ["user", "reason", "actor"])
        let user = try Identifiers.user(fields.requiredText("user"))
        let reason = try fields.requiredText("reason")
        let actor = try fields.text("actor") ?? "api"
        for (place, text) in [("reason", reason), ("actor", actor)] where text.isEmpty || text.utf8.count > 1024 {
            throw APIProblem.invalid(place, "must have 1 to 1024 bytes")
        }
        let erasure = try await store.performSlowly { log in
            try log.erase([user], actor: actor, reason: reason, source: .rest)
        }
        guard let position = erasure.position, let number = erasure.users.first else {
            throw APIProblem.unknownUser(user)
        }
        onErasure()
        return APIAnswer.ok { json in
            json.key("position")
            json.value(position.rawValue)
            json.key("user_number")
            json.value(number.rawValue)
            json.key("events")
            json.value(erasure.events)
        }
    }
}
