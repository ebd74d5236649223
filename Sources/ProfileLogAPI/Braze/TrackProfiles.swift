internal import ProfileLog

/// The users of a request as they are, and as its objects leave them: for what depends on the profile it meets.
///
/// What is stored because of what a profile holds is stored only if nobody else appends to that user meanwhile, and their ID leads nowhere
/// else: these users are pinned.
struct TrackProfiles {
    private let log: EventLog
    private var found: [UserID: UserInfo?] = [:]
    /// The users as they were found first, by whatever ID: their attributes and the version that is pinned must be of one time.
    private var known: [UserNumber: UserInfo] = [:]
    /// The users whom this request makes or changes, without those of the last of `stored`.
    private var touched: Set<UserID> = []
    /// How many of `stored` are in `touched`.
    private var touches = 0
    /// The attributes of users who were asked for.
    private var attributes: [Person: Attributes] = [:]
    /// What this request does to each user, in its order, without what is in `attributes` and in `stored`.
    private var changes: [Person: [ProfileEvent]] = [:]
    /// What was taken down and not yet looked at: most requests never ask who these users are.
    private var stored: [(user: UserID, events: [ProfileEvent])] = []
    /// The users to whom nobody else may append, as they are; nil for those who must not be there.
    private(set) var pins: [UserID: UserInfo?] = [:]

    /// A user by number, under whatever ID an object names them; a new one by that ID.
    private enum Person: Hashable {
        case known(UserNumber)
        case new(UserID)
    }

    /// A user's attributes behind what the request has done so far. By name: an object may have tens of thousands.
    private struct Attributes {
        var custom: [Name: AttributeValue] = [:]
        var standard: [Name: AttributeValue] = [:]

        init(_ view: ProfileView?) {
            for attribute in view?.customAttributes ?? [] { custom[attribute.name] = attribute.value }
            for attribute in view?.attributes ?? [] { standard[attribute.name] = attribute.value }
        }

        mutating func apply(_ event: ProfileEvent) {
            switch event {
            case .customAttributesChanged(let changes):
                for change in changes { custom[change.name] = change.operation.applied(to: custom[change.name]) }
            case .userAttributesChanged(let changes):
                for change in changes {
                    standard[Name(change.attribute.name)] = change.value == .null ? nil : change.value
                }
            default: break
            }
        }
    }

    init(_ log: EventLog) { self.log = log }

    /// The user as the log knows them; nil if there is none, even if this request makes them.
    mutating func find(_ user: UserID) throws -> UserInfo? {
        if let info = found[user] { return info }
        var info = try log.find(user)
        if let new = info {
            info = known[new.number] ?? new
            known[new.number] = info
        }
        found[user] = .some(info)
        return info
    }

    /// Whether the user exists, or is made by this request.
    mutating func exists(_ user: UserID) throws -> Bool {
        noteTouched()
        return try touched.contains(user) || find(user) != nil
    }

    private mutating func noteTouched() {
        for (user, _) in stored[touches...] { touched.insert(user) }
        touches = stored.count
    }

    /// Takes down what is stored for `user`.
    mutating func add(_ events: [ProfileEvent], to user: UserID) {
        if events.isEmpty { return }
        stored.append((user, events))
    }

    /// Has the request decided anew if somebody else appends to `user` before it is stored.
    mutating func pin(_ user: UserID) throws {
        pins[user] = .some(try find(user))
    }

    /// Has `builder`'s append refused unless those who are pinned are as they were found.
    func expectPins(in builder: inout AppendBuilder) {
        for (user, info) in pins {
            if let info { builder.expect(user, toBe: info) } else { builder.expect(user, at: .noUser) }
        }
    }

    /// The value of a custom attribute behind what this request has done so far.
    mutating func customAttribute(_ name: Name, of user: UserID) throws -> AttributeValue? {
        try attributes[bringUpToDate(user)]?.custom[name]
    }

    /// The value of a standard attribute behind what this request has done so far.
    mutating func attribute(_ attribute: StandardAttribute, of user: UserID) throws -> AttributeValue? {
        try attributes[bringUpToDate(user)]?.standard[Name(attribute.name)]
    }

    /// The e-mail address that the user has now, as an attribute or else as an ID; nil if there is none, or no such user.
    mutating func email(of user: UserID) throws -> UserID? {
        guard try exists(user) else { return nil }
        if let address = try attribute(.email, of: user)?.asText.flatMap(TrackTarget.email) { return .email(address) }
        return try (find(user)?.ids ?? [user]).first { if case .email = $0 { true } else { false } }
    }

    /// Takes into `attributes` what the request has done to `user`.
    private mutating func bringUpToDate(_ user: UserID) throws -> Person {
        noteTouched()
        for (user, events) in stored { changes[try person(user), default: []] += events }
        (stored, touches) = ([], 0)
        let person = try person(user)
        if attributes[person] == nil { attributes[person] = Attributes(try view(user)) }
        for event in changes.removeValue(forKey: person) ?? [] { attributes[person]?.apply(event) }
        return person
    }

    private mutating func person(_ user: UserID) throws -> Person {
        try find(user).map { .known($0.number) } ?? .new(user)
    }

    private mutating func view(_ user: UserID) throws -> ProfileView? {
        guard let info = try find(user) else { return nil }
        return log.profileView(try log.profile(of: info.number, asOf: info.version))
    }
}
