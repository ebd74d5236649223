internal import ProfileLogRequests

/// The erasure of a person, and who that would be. An address means all who have it: who is erased is never left to a
/// rule.
struct EraseEndpoints {
    let store: RequestStore
    let onErasure: @Sendable () -> Void

    static let inputs: [EndpointInput] = [
        .required("user"), .required("reason"), .init("actor"), .init("number", .integer), .init("all", .boolean),
    ]

    /// `GET /v1/erase`: who an erasure of `user` would be about, and since when they are known.
    func candidates(_ request: APIRequest, _ log: LogReader) throws -> APIAnswer {
        var query = Query(request)
        let id = try Identifiers.user(query.requiredText("user"))
        try query.end()
        let users = try candidates(id, log)
        return try APIAnswer.ok { json in
            try json.objects("users", users) { try Self.write($1, log, to: &$0) }
        }
    }

    /// `POST /v1/erase`: takes a person out of the log, for ever.
    func erase(_ request: APIRequest) async throws -> APIAnswer {
        let fields = try Fields(withoutConditions: request)
        let id = try Identifiers.user(fields.requiredText("user"))
        let (reason, actor) = try fields.reasonAndActor()
        let number = try fields.integer("number")
        let erasesAll = try fields.flag("all")
        let erasure = try await store.performSlowly { log in
            for _ in 0...RequestStore.optimisticAttempts {
                var users = try log.withReader { try candidates(id, $0) }
                if let number {
                    users.removeAll { Int64(clamping: $0.number.rawValue) != number }
                    if users.isEmpty { throw Self.anotherUser(number) }
                }
                guard users.count == 1 || erasesAll else { throw Self.several(id, users) }
                // A user who is merged or erased in between takes no other one along.
                do {
                    return try log.erase(found: users, actor: actor, reason: reason, source: .rest)
                } catch AppendError.versionConflict {}
            }
            throw APIError.busy
        }
        guard let position = erasure.position, let first = erasure.users.first else { throw APIError.unknownUser(id) }
        onErasure()
        return try APIAnswer.ok { json in
            try json.stored(position, in: store.reader)
            json.member("user_number", first.rawValue)
            if erasesAll { json.array("user_numbers", erasure.users) { $0.value($1.rawValue) } }
            json.member("events", erasure.events)
        }
    }

    /// The user that `id` resolves to, or all who have the address; at least one.
    private func candidates(_ id: UserID, _ log: LogReader) throws -> [UserInfo] {
        let users = try log.addresses.users(sharing: id)
        if users.isEmpty { throw try log.users.unknownUser(id) }
        return users
    }

    private static func write(_ user: UserInfo, _ log: LogReader, to json: inout JSONWriter) throws {
        json.members(ofUser: user)
        json.member("kind", user.kind)
        json.member("since", try log.event(at: user.created)?.recordedAt)
    }

    private static func several(_ id: UserID, _ users: [UserInfo]) -> APIError {
        APIError(
            status: 409, code: "several_users",
            error: "\(users.count) users have this \(id.isAddress ? "address" : "ID").",
            remedy: "`GET /v1/erase` lists them. Name one by `braze:ID`, or send \"all\": true to erase all of them.",
            place: "user", facts: [("users", UInt64(users.count))])
    }

    private static func anotherUser(_ number: Int64) -> APIError {
        APIError(
            status: 409, code: "another_user", error: "The ID does not lead to user \(number) now; no user was erased.",
            remedy: "The user was merged or erased since. `GET /v1/erase` says whose ID it is now.", place: "number")
    }
}

// MARK: - The form of the answers

extension EraseEndpoints {
    static let listed: AnswerShape = ["users": [UserSearch.user + ["kind": .text, "since": .orNull(.time)]]]
    static let erased: AnswerShape =
        .storedAlways + ["user_number": .integer, "user_numbers?": [.integer], "events": .integer]
}

extension UserInfo {
    /// The kind of name by which a user is known, in a few words.
    fileprivate var kind: String {
        switch id {
        case .externalID: "identified"
        case .alias: "alias only"
        case .email: "e-mail address only"
        case .phone: "phone number only"
        case .device, .assignedID: "anonymous"
        }
    }
}
