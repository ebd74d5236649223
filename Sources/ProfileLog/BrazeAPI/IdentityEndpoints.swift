internal import ProfileLogRequests

/// The requests that change IDs of users, and the erasure of users.
struct IdentityEndpoints {
    let store: RequestStore
    /// Called after a person was erased.
    let onErasure: @Sendable () -> Void

    // MARK: - `POST /users/alias/new` and `/users/alias/update` (spec/rest-api 2.3)

    func addAliases(_ request: APIRequest) async throws -> APIAnswer {
        try await changeAliases(request, "user_aliases") { object throws(TrackError) in
            // Without its external ID the alias would become another user's.
            let known = ["external_id", "alias_name", "alias_label", "user_alias"]
            if let slip = Misspelling.all(in: object, among: known).first(where: { $0.meant == "external_id" }) {
                throw .object("'\(slip.member ?? "")' \(slip.reason)")
            }
            let alias = try Self.alias(Self.unwrapped(object), WireNames.aliasName)
            // Empty text is no ID, as in a track request.
            let externalID = [Self.unwrapped(object), object].compactMap { $0.present(WireNames.externalID) }
                .first { $0 != .string("") }
            guard let value = externalID else { return .fixed(.addAlias(alias: alias, user: nil)) }
            guard let id = TrackTarget.externalID(value) else { throw .notValid("external_id") }
            return .fixed(.addAlias(alias: alias, user: .externalID(id)))
        }
    }

    func renameAliases(_ request: APIRequest) async throws -> APIAnswer {
        try await changeAliases(request, "alias_updates") { object throws(TrackError) in
            let names = Self.unwrapped(object)
            return .fixed(
                .renameAlias(
                    alias: try Self.alias(names, "old_alias_name"), newAlias: try Self.alias(names, "new_alias_name")))
        }
    }

    private func changeAliases(
        _ request: APIRequest, _ list: Name,
        _ read: (AttributeValue) throws(TrackError) -> IdentityItem.Change
    ) async throws -> APIAnswer {
        let list = try IdentityRequest(request, [list]) { (object, _) throws(TrackError) in try read(object) }
        return list.answer(try await carryOut(list.items, of: request))
    }

    /// The entry itself: a client was recorded that wraps each once more.
    private static func unwrapped(_ object: AttributeValue) -> AttributeValue {
        object.present(WireNames.userAlias) ?? object
    }

    /// The alias that `object` tells by its label and the name under `nameKey`.
    private static func alias(_ object: AttributeValue, _ nameKey: Name) throws(TrackError) -> UserID {
        .alias(label: try part(object, WireNames.aliasLabel), name: try part(object, nameKey))
    }

    private static func part(_ object: AttributeValue, _ key: Name) throws(TrackError) -> String {
        try object.required(key) { $0.asText.flatMap { Identifiers.fits($0) ? $0 : nil } }
    }

    // MARK: - `POST /users/identify` (spec/rest-api 2.4)

    func identifyUsers(_ request: APIRequest) async throws -> APIAnswer {
        let merges = try Self.merges(request)
        let lists = try IdentityRequest(
            request, [Self.aliasesToIdentify, Self.emailsToIdentify, Self.phonesToIdentify]
        ) { (object, list) throws(TrackError) in
            let id = try object.required(WireNames.externalID, TrackTarget.externalID)
            return .identify(try Self.person(object, list), externalID: .externalID(id), merges: merges)
        }
        return lists.answer(try await carryOut(lists.items, of: request))
    }

    /// `merge_behavior`: whether a person is merged into a user who has the external ID already.
    private static func merges(_ request: APIRequest) throws -> Bool {
        let body = try BodyObject.read(request.body)
        // A merge cannot be undone.
        if let slip = request.misspelt(in: body).first(where: { $0.meant == "merge_behavior" }) {
            throw APIError.invalid(
                slip.member ?? "", "is not known", remedy: "Did you mean 'merge_behavior'? Nothing was merged.")
        }
        return try body.member("merge_behavior", "must be merge or none") {
            $0.asText.flatMap { ["merge": true, "none": false][$0] }
        } ?? true
    }

    private static let aliasesToIdentify: Name = "aliases_to_identify"
    private static let emailsToIdentify: Name = "emails_to_identify"
    private static let phonesToIdentify: Name = "phone_numbers_to_identify"

    private static func person(_ object: AttributeValue, _ list: Name) throws(TrackError) -> Person {
        let key = [aliasesToIdentify: WireNames.userAlias, emailsToIdentify: WireNames.email][list] ?? WireNames.phone
        return try object.required(key) { (value) throws(TrackError) in try Person(object, key, value) }
    }

    // MARK: - `POST /users/merge` (spec/rest-api 2.6)

    func mergeUsers(_ request: APIRequest) async throws -> APIAnswer {
        try request.refuseIfMatch()
        let items = try MergeRequest(request.body).items
        let reasons = try await carryOut(items, of: request)
        return APIAnswer.ok(status: 202) { json in
            json.member("message", "success")
            json.dropped(items, reasons)
        }
    }

    // MARK: - `POST /users/external_ids/rename` and `/users/external_ids/remove` (spec/rest-api 2.7)

    func renameExternalIDs(_ request: APIRequest) async throws -> APIAnswer {
        let (list, values) = ("external_id_renames", try Self.entries(request, "external_id_renames"))
        let (done, errors) = try await carryOut(values, list, of: request) { value throws(TrackError) in
            guard let current = value.present(Self.current).flatMap(TrackTarget.externalID),
                let new = value.present(Self.new).flatMap(TrackTarget.externalID)
            else { throw .object("'current_external_id' and 'new_external_id' must be texts") }
            return .renameExternalID(current: .externalID(current), newID: .externalID(new))
        }
        return APIAnswer.ok(status: 201) { json in
            json.errors("rename_errors", errors)
            json.objects("external_ids", done) { json, value in
                for key in [Self.current, Self.new] {
                    json.member(key.text, value.present(key).flatMap(TrackTarget.externalID))
                }
            }
            json.member("message", "success")
            json.notes(
                done.compactMap { value in
                    value.present(Self.new).flatMap(TrackTarget.externalID).flatMap { UserID.externalID($0).doubt }
                        .map { ($0, list, values.firstIndex(of: value) ?? 0) }
                })
        }
    }

    func removeExternalIDs(_ request: APIRequest) async throws -> APIAnswer {
        let (list, values) = ("external_ids", try Self.entries(request, "external_ids"))
        let (done, errors) = try await carryOut(values, list, of: request) { value throws(TrackError) in
            guard let id = TrackTarget.externalID(value) else { throw .object("the external ID must be text") }
            return .removeExternalID(.externalID(id))
        }
        return APIAnswer.ok(status: 201) { json in
            json.array("removed_ids", done.compactMap(TrackTarget.externalID)) { $0.value($1) }
            json.errors("removal_errors", errors)
            json.member("message", "success")
        }
    }

    private static let current: Name = "current_external_id"
    private static let new: Name = "new_external_id"

    /// The 1 to 50 entries of `list`.
    private static func entries(_ request: APIRequest, _ list: Name) throws -> [AttributeValue] {
        try request.refuseIfMatch()
        let body = try BodyObject.read(request.body)
        guard let values = body.present(list)?.asArray, (1...IdentityRequest.mostItems).contains(values.count) else {
            throw APIError.invalid(list.text, "must be an array of 1 to \(IdentityRequest.mostItems) elements")
        }
        return values
    }

    /// The entries that were done, and what was wrong with the others.
    private func carryOut(
        _ values: [AttributeValue], _ list: String, of request: APIRequest,
        _ read: (AttributeValue) throws(TrackError) -> IdentityChange
    ) async throws -> (done: [AttributeValue], errors: [(reason: String, index: Int)]) {
        var items: [IdentityItem] = []
        var errors: [(reason: String, index: Int)] = []
        for (index, value) in values.enumerated() {
            do throws(TrackError) {
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

    /// Does all `items` of `request`, and gives for each why nothing was done about it; nil if it was done, now or
    /// before.
    private func carryOut(_ items: [IdentityItem], of request: APIRequest) async throws -> [String?] {
        var run = try IdentityRun(items, of: request, store)
        return try await run.carryOut()
    }

    // MARK: - `POST /users/delete`: with everything of theirs (spec/rest-api 2.2)

    func deleteUsers(_ request: APIRequest) async throws -> APIAnswer {
        let request = try DeleteRequest(request)
        let reasons = try await store.performSlowly { log in try request.carryOut(log) }
        if reasons.contains(nil) { onErasure() }
        return APIAnswer.ok(status: 201) { json in
            json.member("deleted", request.entries.count)
            json.member("message", "success")
            json.dropped(
                zip(request.entries, reasons).compactMap { entry, reason in
                    reason.map { ($0, entry.array, entry.index) }
                }, request.misspelt)
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

    /// Reads the user: the first of external ID, alias, e-mail address, phone number counts.
    private static func person(_ update: AttributeValue, _ key: Name, _ place: String) throws -> Person {
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
        do throws(TrackError) {
            guard let person = try Person(identifier, used, value) else { throw .notValid(used.text) }
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

    private static func refusal(_ message: String, _ place: String) -> APIError {
        APIError(
            status: 400, code: "invalid", error: message, remedy: "Correct it and try again; nothing was merged.",
            place: place)
    }
}

extension JSONWriter {
    /// `[[reason, index], …]`.
    fileprivate mutating func errors(_ key: String, _ errors: [(reason: String, index: Int)]) {
        array(key, errors) { json, error in
            json.value(.array([.string(error.reason), .int(Int64(error.index))]))
        }
    }
}

/// The body of a deletion: the users, in lists of several kinds of IDs.
private struct DeleteRequest: Sendable {
    private(set) var entries: [Entry] = []
    let misspelt: [Misspelling]

    struct Entry: Sendable {
        var person: Person
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
        misspelt = request.misspelt(in: body)
        for list in Self.lists {
            for (index, value) in try (body.array(list) ?? []).enumerated() {
                guard let person = try Self.person(value, list, index) else {
                    throw APIError.invalid("\(list.text)[\(index)]", "names no user")
                }
                entries.append(Entry(person: person, array: list.text, index: index))
            }
        }
        guard !entries.isEmpty else {
            throw APIError(
                status: 400, code: "nothing_valid", error: "The request names no user.",
                remedy: "Send external_ids, user_aliases, braze_ids, email_addresses or phone_numbers.")
        }
        guard entries.count <= Self.mostEntries else {
            throw APIError.tooMany("the request names \(entries.count) users", most: Self.mostEntries)
        }
    }

    private static func person(_ value: AttributeValue, _ list: Name, _ index: Int) throws -> Person? {
        switch list {
        case "external_ids": return TrackTarget.externalID(value).map { .id(.externalID($0)) }
        case "user_aliases": return TrackTarget.alias(value).map { .id($0) }
        case "braze_ids": return value.asText.map { .id(.assignedID($0)) }
        default:
            let isEmail = list == "email_addresses"
            let text = value.asText ?? value[isEmail ? WireNames.email : WireNames.phone]?.asText
            guard let contact = text.flatMap({ TrackTarget.contact($0, isEmail: isEmail) }) else { return nil }
            do throws(TrackError) {
                return .contact(
                    contact,
                    value.asText == nil
                        ? try Prioritization(value.present("prioritization"), without: .leastRecentlyUpdated) : .none)
            } catch {
                throw APIError.invalid("\(list.text)[\(index)]", "needs a valid 'prioritization'")
            }
        }
    }

    /// Erases those who are found, in one commit; looks again if one of them was merged into another user in between.
    /// For each entry why nothing was done about it; nil if it was.
    func carryOut(_ log: EventLog) throws -> [String?] {
        for _ in 0...RequestStore.optimisticAttempts {
            let view = DecisionView(log, .slow)
            var reasons: [String?] = []
            var found: [UserInfo] = []
            for entry in entries {
                do {
                    found.append(try entry.person.user(view))
                    reasons.append(nil)
                } catch let none as Person.NoSingleUser {
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
        throw APIError.busy
    }
}

// MARK: - The form of the answers

extension IdentityEndpoints {
    static let processed: AnswerShape = ["aliases_processed?": .integer] + .success + .leftOut
    static let merged: AnswerShape = .success + ["dropped?": .dropped]
    static let deleted: AnswerShape = ["deleted": .integer] + .success + ["dropped?": .dropped]

    static let renamed: AnswerShape =
        [
            "external_ids": [["current_external_id": .text, "new_external_id": .text]],
            "rename_errors": [[.text, .integer]],
        ] + .success + .notes

    static let removed: AnswerShape = ["removed_ids": [.text], "removal_errors": [[.text, .integer]]] + .success
}
