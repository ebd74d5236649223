internal import ProfileLogRequests

/// `POST /users/merge`: users go into others with all that is known of them (spec/rest-api 2.6).
extension BrazeAPI {
    func mergeUsers(_ request: APIRequest) async -> APIAnswer {
        do {
            try IdentityRequest.refuseIfMatch(request)
            let items = try MergeRequest(request.body).items
            let reasons = try await carryOut(items, of: request)
            var json = JSONWriter()
            json.beginObject()
            json.member("message", "success")
            json.dropped(items, reasons)
            json.endObject()
            return APIAnswer(status: 202, body: json.bytes)
        } catch {
            return APIProblem(error).messageAnswer
        }
    }
}

/// The body of a request to merge, which is refused as a whole if anything in it is wrong. The messages are Braze's.
private struct MergeRequest {
    private(set) var items: [IdentityItem] = []

    private static let list: Name = "merge_updates"
    private static let source: Name = "identifier_to_merge"
    private static let target: Name = "identifier_to_keep"

    init(_ bytes: [UInt8]) throws {
        let body = try BodyObject.read(bytes)
        guard let updates = body.present(Self.list)?.asArray, !updates.isEmpty else {
            throw Self.refusal("'merge_updates' must be an array of objects", Self.list.text)
        }
        guard updates.count <= IdentityRequest.mostItems else {
            throw Self.refusal("a single request may not contain more than 50 merge updates", Self.list.text)
        }
        for (index, update) in updates.enumerated() {
            let place = "\(Self.list.text).\(index)"
            guard case .object(let members) = update else {
                throw Self.refusal("'merge_updates' must be an array of objects", place)
            }
            guard Set(members.map(\.key)) == [Self.source, Self.target] else {
                throw Self.refusal(
                    "'merge_updates' must only have 'identifier_to_merge' and 'identifier_to_keep'", place)
            }
            let change = IdentityItem.Change.merge(
                source: try Self.person(update, Self.source, place), target: try Self.person(update, Self.target, place)
            )
            items.append(IdentityItem(change: change, array: Self.list.text, index: index))
        }
    }

    /// Of several identifiers the first of external ID, alias, e-mail address, phone number counts.
    private static func person(_ update: AttributeValue, _ key: Name, _ place: String) throws -> IdentityItem.Person {
        let place = "\(place).\(key.text)"
        guard let identifier = update.present(key),
            let used = [WireNames.externalID, WireNames.userAlias, WireNames.email, WireNames.phone]
                .first(where: { identifier.present($0) != nil }),
            let value = identifier.present(used), hasRightType(value, used)
        else {
            throw refusal(
                "identifiers must be objects with an 'external_id' property that is a string, 'user_alias' property "
                    + "that is an object, 'email' property that is a string, or 'phone' property that is a string",
                place)
        }
        do throws(TrackFault) {
            guard let person = try IdentityItem.Person(identifier, used, value) else { throw .notValid(used.text) }
            return person
        } catch .object(let message, _), .field(let message) {
            throw refusal(message, place)
        }
    }

    private static func hasRightType(_ value: AttributeValue, _ key: Name) -> Bool {
        switch value {
        case .object: key == WireNames.userAlias
        case .string: key != WireNames.userAlias
        default: false
        }
    }

    private static func refusal(_ message: String, _ place: String) -> APIProblem {
        APIProblem(
            status: 400, code: "invalid", error: message, remedy: "Correct it and try again; nothing was merged.",
            place: place)
    }
}
