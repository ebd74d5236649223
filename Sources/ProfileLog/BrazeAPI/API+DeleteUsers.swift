internal import ProfileLogRequests

/// `POST /users/delete`: persons are erased, with everything of theirs (spec/rest-api 2.2).
extension BrazeAPI {
    func deleteUsers(_ request: APIRequest) async -> APIAnswer {
        do {
            let request = try DeleteRequest(request)
            let reasons = try await store.performSlowly { log in try request.carryOut(log) }
            if reasons.contains(nil) { exports.removeOutdated(log) }
            var json = JSONWriter()
            json.beginObject()
            json.key("deleted")
            json.value(request.entries.count)
            json.member("message", "success")
            let dropped = zip(request.entries, reasons).filter { $1 != nil }
            if !dropped.isEmpty {
                json.key("dropped")
                json.array(dropped) { $0.place("reason", $1.1 ?? "", $1.0.array, $1.0.index) }
            }
            json.endObject()
            return APIAnswer(status: 201, body: json.bytes)
        } catch {
            return APIProblem(error).messageAnswer
        }
    }
}

/// The body of a deletion: the users, in lists of several kinds of IDs.
private struct DeleteRequest: Sendable {
    private(set) var entries: [Entry] = []

    struct Entry: Sendable {
        var person: IdentityItem.Person
        var array: String
        var index: Int
    }

    private static let mostEntries = 50
    private static let lists: [Name] = [
        "external_ids", "user_aliases", "braze_ids", "email_addresses", "phone_numbers",
    ]

    init(_ request: APIRequest) throws {
        // A deletion is the same done twice, so a key needs no remembering.
        _ = try RequestKey.text(of: request)
        let body = try BodyObject.read(request.body)
        for list in Self.lists {
            guard let value = body.present(list) else { continue }
            guard let values = value.asArray else { throw APIProblem.invalid(list.text, "must be an array") }
            for (index, value) in values.enumerated() {
                guard let person = try Self.person(value, list, index) else {
                    throw APIProblem.invalid("\(list.text)[\(index)]", "names nobody")
                }
                entries.append(Entry(person: person, array: list.text, index: index))
            }
        }
        guard !entries.isEmpty else {
            throw APIProblem(
                status: 400, code: "nothing_valid", error: "The request names no user.",
                remedy: "Send external_ids, user_aliases, braze_ids, email_addresses or phone_numbers.")
        }
        guard entries.count <= Self.mostEntries else {
            throw APIProblem(
                status: 400, code: "too_many_objects",
                error:
                    "Max Input Length Exceeded: the request names \(entries.count) users, of at most \(Self.mostEntries).",
                remedy: "Send them in several requests.")
        }
    }

    private static func person(_ value: AttributeValue, _ list: Name, _ index: Int) throws -> IdentityItem.Person? {
        switch list {
        case "external_ids": return TrackTarget.externalID(value).map { .id(.externalID($0)) }
        case "user_aliases": return TrackTarget.alias(value).map { .id($0) }
        case "braze_ids": return value.asText.map { .id(.brazeID($0)) }
        default:
            let isEmail = list == "email_addresses"
            let text = value.asText ?? value[isEmail ? WireNames.email : WireNames.phone]?.asText
            let contact = text.flatMap {
                isEmail ? Identifiers.email($0).map(UserID.email) : Identifiers.phone($0).map(UserID.phone)
            }
            guard let contact else { return nil }
            do throws(TrackFault) {
                return .contact(
                    contact,
                    value.asText == nil
                        ? try Prioritization(value.present("prioritization"), without: .leastRecentlyUpdated) : .none)
            } catch {
                throw APIProblem.invalid("\(list.text)[\(index)]", "needs a valid 'prioritization'")
            }
        }
    }

    /// Erases those who are found, in one commit; looks again if one of them was merged into another user in between.
    /// For each entry why nothing was done about it; nil if it was.
    func carryOut(_ log: EventLog) throws -> [String?] {
        for _ in 0...RequestDecider.optimisticAttempts {
            let view = DecisionView(log, .slow)
            var reasons: [String?] = []
            var found: [UserInfo] = []
            for entry in entries {
                do {
                    found.append(try entry.person.user(view))
                    reasons.append(nil)
                } catch let none as IdentityItem.NoSingleUser {
                    reasons.append(none.reason)
                }
            }
            do {
                if !found.isEmpty {
                    _ = try log.erase(found: found, actor: "/users/delete", reason: "requested", source: .rest)
                }
                return reasons
            } catch AppendError.versionConflict {}
        }
        throw APIProblem.busy
    }
}
