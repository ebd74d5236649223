internal import ProfileLog

/// `POST /users/export/ids`: profiles as they are now, everything acknowledged included.
extension API {
    func exportUsers(_ request: APIRequest) -> APIAnswer {
        do {
            return try export(ExportRequest(request.body, trackLimits))
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
        for (id, shown) in request.identifiers {
            // An address may have several users, anything else at most one.
            let users = try id.map { try log.users(sharing: $0) } ?? []
            if users.isEmpty { unknown.append(shown) }
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
}
