internal import ProfileLogRequests

/// `POST /users/export/ids`: profiles as they are now, everything acknowledged included.
extension BrazeAPI {
    func exportUsers(_ request: APIRequest) -> APIAnswer {
        do {
            return try export(ExportRequest(request.body, limits))
        } catch {
            return APIProblem(error).messageAnswer
        }
    }

    private func export(_ request: ExportRequest) throws -> APIAnswer {
        var seen: Set<UserNumber> = []
        var unknown: [String] = []
        var json = JSONWriter()
        json.beginObject()
        json.key("users")
        json.beginArray()
        for identifier in request.identifiers {
            let users = try users(identifier)
            if users.isEmpty { unknown.append(identifier.shown) }
            for user in users where seen.insert(user.number).inserted {
                try ExportedProfile(user, self).write(request.fields, to: &json)
            }
        }
        json.endArray()
        json.member("message", "success")
        if !unknown.isEmpty {
            json.key("invalid_user_ids")
            json.array(unknown) { $0.value($1) }
        }
        json.endObject()
        return APIAnswer(status: 201, body: json.bytes)
    }

    /// An address and a device may have several users, anything else at most one.
    private func users(_ identifier: ExportRequest.Identifier) throws -> [UserInfo] {
        let users = try identifier.id.map { try log.users(sharing: $0) } ?? []
        guard let device = identifier.device else { return users }
        return try users + usersWithPushToken(on: device)
    }

    private func usersWithPushToken(on device: Name) throws -> [UserInfo] {
        try pushTokens.catchUp()
        let users = try pushTokens.withState { $0.users(on: device) }
        return try users.compactMap { try log.find(log.survivor(of: $0)) }.filter { !$0.isErased }
    }
}
