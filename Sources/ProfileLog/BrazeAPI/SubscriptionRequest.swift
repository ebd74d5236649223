internal import ProfileLogRequests

/// What the body of `/subscription/status/set`, in either version, asks for (spec/rest-api 2.8).
struct SubscriptionRequest: Sendable {
    private(set) var changes: [Change] = []

    /// One group, its new state, and the users.
    struct Change: Sendable {
        var group: String
        var isSubscribed: Bool
        var people: [Person]
    }

    /// A user that the request names.
    struct Person: Sendable {
        /// The field that names them, as in `subscription_groups[0].emails[1]`.
        var place: String
        /// Nil if the text is no ID, address or number.
        var user: UserID?
        /// Whether `user` is an address that several profiles may have.
        var isContact: Bool
    }

    /// The old form: one group, and lists or single values.
    init(_ bytes: [UInt8], _ workspace: Workspace) throws {
        let body = try BodyObject.read(bytes)
        changes = [try Self.change(body, in: "", workspace)]
    }

    /// The new form: several groups.
    init(version2 bytes: [UInt8], _ workspace: Workspace) throws {
        let body = try BodyObject.read(bytes)
        guard let groups = body.present("subscription_groups")?.asArray, !groups.isEmpty else {
            throw APIProblem.invalid("subscription_groups", "must be an array of objects, and not empty")
        }
        guard groups.count <= workspace.limits.usersPerSubscriptionRequest else {
            throw Self.tooMany("subscription_groups", groups.count, workspace.limits)
        }
        for (index, group) in groups.enumerated() {
            let place = "subscription_groups[\(index)]"
            guard case .object = group else { throw APIProblem.invalid(place, "must be an object") }
            changes.append(try Self.change(group, in: place + ".", workspace))
        }
    }

    private static func change(
        _ object: AttributeValue, in place: String, _ workspace: Workspace
    ) throws -> Change {
        let group = try workspace.knownGroup(object.present(SubscriptionStates.groupID)?.asText, in: place)
        let states = ["subscribed": true, "unsubscribed": false]
        guard let isSubscribed = object.present(SubscriptionStates.state)?.asText.flatMap({ states[$0] }) else {
            throw APIProblem.invalid(place + "subscription_state", "must be subscribed or unsubscribed")
        }
        var people: [Person] = []
        for key in ["external_id", "external_ids"] as [Name] {
            people += try Self.people(object, key, place) { TrackTarget.externalID($0).map(UserID.externalID) }
        }
        let identified = people.count
        for key in ["email", "emails"] as [Name] {
            people += try Self.people(object, key, place) { $0.asText.flatMap(Identifiers.email).map(UserID.email) }
        }
        let withEmail = people.count
        /// What the members are called in this version.
        let (ids, emails, phones) =
            place.isEmpty ? ("external_id", "email", "phone") : ("external_ids", "emails", "phones")
        for key in ["phone", "phones"] as [Name] {
            people += try Self.people(object, key, place) { $0.asText.flatMap(Identifiers.phone).map(UserID.phone) }
        }
        for index in people.indices where index >= identified { people[index].isContact = true }
        guard withEmail == identified || withEmail == people.count else {
            throw APIProblem.invalid(
                place + emails, "cannot stand beside `\(phones)`", remedy: "Send them in requests of their own.")
        }
        guard !people.isEmpty else {
            throw APIProblem.invalid(
                place + ids, "names nobody, nor do `\(emails)` and `\(phones)`", remedy: "Name at least one user.")
        }
        guard people.count <= workspace.limits.usersPerSubscriptionRequest else {
            throw tooMany(place + ids, people.count, workspace.limits)
        }
        return Change(group: group, isSubscribed: isSubscribed, people: people)
    }

    /// The users that a member names: one, or an array. Empty text names no user.
    private static func people(
        _ object: AttributeValue, _ key: Name, _ place: String, _ user: (AttributeValue) -> UserID?
    ) throws -> [Person] {
        guard let value = object.present(key) else { return [] }
        switch value {
        case .array(let values):
            return values.enumerated().filter { $1 != .string("") }
                .map { .init(place: "\(place)\(key)[\($0)]", user: user($1), isContact: false) }
        case .string(""): return []
        case .string, .int: return [.init(place: "\(place)\(key)", user: user(value), isContact: false)]
        default: throw APIProblem.invalid("\(place)\(key)", "must be text or an array of texts")
        }
    }

    private static func tooMany(_ place: String, _ count: Int, _ limits: TrackLimits) -> APIProblem {
        APIProblem.invalid(
            place, "has \(count) entries, of at most \(limits.usersPerSubscriptionRequest)",
            remedy: "Send them in several requests.")
    }
}

extension Workspace {
    /// The group with this ID, which must be one of the workspace's.
    ///
    /// - Parameter place: where the ID is, as in `subscription_groups[0].`.
    func knownGroup(_ id: String?, in place: String = "") throws -> String {
        guard let id, subscriptionGroup(id) != nil else {
            throw APIProblem(
                status: 400, code: "invalid", error: "Invalid subscription group ID",
                remedy: "Send the `id` of a group in the workspace file (docs/workspace.md).",
                place: place + "subscription_group_id")
        }
        return id
    }
}
