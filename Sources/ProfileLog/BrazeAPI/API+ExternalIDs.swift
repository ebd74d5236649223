internal import ProfileLogRequests

/// `POST /users/external_ids/rename` and `/users/external_ids/remove` (spec/rest-api 2.7).
extension BrazeAPI {
    func renameExternalIDs(_ request: APIRequest) async -> APIAnswer {
        do {
            let (list, values) = ("external_id_renames", try Self.entries(request, "external_id_renames"))
            let (done, errors) = try await carryOut(values, list, of: request) { value throws(TrackFault) in
                guard let current = value.present(Self.current).flatMap(TrackTarget.externalID),
                    let new = value.present(Self.new).flatMap(TrackTarget.externalID)
                else { throw .object("'current_external_id' and 'new_external_id' must be texts") }
                return .renameExternalID(current: .externalID(current), newID: .externalID(new))
            }
            var json = JSONWriter()
            json.beginObject()
            json.errors("rename_errors", errors)
            json.key("external_ids")
            json.array(done) { json, value in
                json.beginObject()
                for key in [Self.current, Self.new] {
                    json.member(key.text, value.present(key).flatMap(TrackTarget.externalID))
                }
                json.endObject()
            }
            json.member("message", "success")
            json.endObject()
            return APIAnswer(status: 201, body: json.bytes)
        } catch {
            return APIProblem(error).messageAnswer
        }
    }

    func removeExternalIDs(_ request: APIRequest) async -> APIAnswer {
        do {
            let (list, values) = ("external_ids", try Self.entries(request, "external_ids"))
            let (done, errors) = try await carryOut(values, list, of: request) { value throws(TrackFault) in
                guard let id = TrackTarget.externalID(value) else { throw .object("the external ID must be text") }
                return .removeExternalID(.externalID(id))
            }
            var json = JSONWriter()
            json.beginObject()
            json.key("removed_ids")
            json.array(done.compactMap(TrackTarget.externalID)) { $0.value($1) }
            json.errors("removal_errors", errors)
            json.member("message", "success")
            json.endObject()
            return APIAnswer(status: 201, body: json.bytes)
        } catch {
            return APIProblem(error).messageAnswer
        }
    }

    private static let current: Name = "current_external_id"
    private static let new: Name = "new_external_id"

    /// The 1 to 50 entries of `list`.
    private static func entries(_ request: APIRequest, _ list: Name) throws -> [AttributeValue] {
        try IdentityRequest.refuseIfMatch(request)
        let body = try BodyObject.read(request.body)
        guard let values = body.present(list)?.asArray, (1...IdentityRequest.mostItems).contains(values.count) else {
            throw APIProblem.invalid(list.text, "must be an array of 1 to \(IdentityRequest.mostItems) elements")
        }
        return values
    }

    /// The entries that were done, and what was wrong with the others.
    private func carryOut(
        _ values: [AttributeValue], _ list: String, of request: APIRequest,
        _ read: (AttributeValue) throws(TrackFault) -> IdentityChange
    ) async throws -> (done: [AttributeValue], errors: [(reason: String, index: Int)]) {
        var items: [IdentityItem] = []
        var errors: [(reason: String, index: Int)] = []
        for (index, value) in values.enumerated() {
            do throws(TrackFault) {
                items.append(IdentityItem(change: .fixed(try read(value)), array: list, index: index))
            } catch .object(let reason, _), .field(let reason) {
                errors.append((reason, index))
            }
        }
        var done: [AttributeValue] = []
        for (item, reason) in zip(items, items.isEmpty ? [] : try await carryOut(items, of: request)) {
            if let reason { errors.append((reason, item.index)) } else { done.append(values[item.index]) }
        }
        return (done, errors.sorted { $0.index < $1.index })
    }
}

extension JSONWriter {
    /// `[[reason, index], …]`.
    fileprivate mutating func errors(_ key: String, _ errors: [(reason: String, index: Int)]) {
        self.key(key)
        array(errors) { json, error in
            json.beginArray()
            json.value(error.reason)
            json.value(error.index)
            json.endArray()
        }
    }
}
