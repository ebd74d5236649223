internal import ProfileLog

/// The users of a request as they are, and as its objects leave them: for what depends on the profile it meets.
///
/// What is stored because of what a profile holds is stored only if nobody else appends to that user meanwhile, and their ID leads nowhere
/// else: these users are pinned. What is stored because an ID led to somebody is stored only if it still does: these users are held.
struct TrackProfiles {
    private let log: EventLog
    private var found: [UserID: UserInfo?] = [:]
    /// The users as they were found first, by whatever ID or address: their attributes and the version that is pinned must be of one time.
    private var known: [UserNumber: UserInfo] = [:]
    /// The users whom this request makes or changes, without those of the last of `stored`.
    private var touched: Set<UserID> = []
    /// How many of `stored` are in `touched`.
    private var touches = 0
    /// The custom attributes of users who were asked for one. By name: an object may have tens of thousands.
    private var custom: [Person: [Name: AttributeValue]] = [:]
    /// What this request does to custom attributes, in its order, without what is in `stored` and `custom`.
    private var changes: [Person: [AttributeChange]] = [:]
    /// The standard attributes that this request sets, and those that were asked for; `.null` where there is none.
    private var standard: [Person: [StandardAttribute: AttributeValue]] = [:]
    /// Bytes of JSON of what the log was asked for and may still be kept in `standard`: of who shares an address, there may be tens of thousands.
    private var room: Int
    /// What was taken down and not yet looked at: most requests never ask who these users are.
    private var stored: [(user: UserID, events: [ProfileEvent])] = []
    /// The users to whom nobody else may append, as they are; nil for those who must not be there.
    private(set) var pins: [UserID: UserInfo?] = [:]
    /// The users to whom IDs must lead.
    private var held: [UserID: UserNumber] = [:]

    /// A user by number, under whatever ID an object names them; one whom this request makes by that ID.
    enum Person: Hashable {
        case known(UserNumber)
        case new(UserID)
    }

    /// - Parameter room: bytes of JSON that are kept of the standard attributes that the log is asked for; what is not is read again. The default
    ///   is as much as those who share addresses may get.
    init(_ log: EventLog, room: Int = Limits.bytesPerAppend / 2) {
        self.log = log
        self.room = room
    }

    /// The user as the log knows them; nil if there is none, even if this request makes them.
    mutating func find(_ user: UserID) throws -> UserInfo? {
        if let info = found[user] { return info }
        let info = try log.find(user).map { know($0) }
        found[user] = .some(info)
        return info
    }

    /// Takes `user` for known as they are, unless they were found before: their `braze_id` means them from now on, whoever they are merged into
    /// meanwhile.
    @discardableResult
    mutating func know(_ user: UserInfo) -> UserInfo {
        let first = known[user.number] ?? user
        known[user.number] = first
        found[.brazeID(first.brazeID)] = .some(first)
        return first
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

    /// Has the request decided anew if `user` is merged into somebody else before it is stored. Who else appends to them does not matter.
    mutating func hold(_ user: UserID) throws {
        if let info = try find(user) { held[user] = info.number }
    }

    /// Has `builder`'s append refused unless those who are pinned or held are as they were found.
    func expectPins(in builder: inout AppendBuilder) {
        for (user, number) in held { builder.expect(user, toLeadTo: number) }
        for (user, info) in pins {
            if let info { builder.expect(user, toBe: info) } else { builder.expect(user, at: .noUser) }
        }
    }

    /// The value of a custom attribute behind what this request has done so far.
    mutating func customAttribute(_ name: Name, of user: UserID) throws -> AttributeValue? {
        let person = try takeDown(user)
        if custom[person] == nil {
            let view = try profile(of: person).map(log.profileView)
            custom[person] = [:]
            for attribute in view?.customAttributes ?? [] { custom[person]?[attribute.name] = attribute.value }
        }
        for change in changes.removeValue(forKey: person) ?? [] {
            let old = custom[person]?[change.name]
            custom[person]?[change.name] = change.operation.applied(to: old)
        }
        return custom[person]?[name]
    }

    /// The value of a standard attribute behind what this request has done so far.
    mutating func attribute(_ attribute: StandardAttribute, of user: UserID) throws -> AttributeValue? {
        let person = try takeDown(user)
        let value = try standard[person]?[attribute] ?? read(attribute, of: person)
        return value == .null ? nil : value
    }

    /// The value that the log has.
    private mutating func read(_ attribute: StandardAttribute, of person: Person) throws -> AttributeValue {
        let value = try profile(of: person)?.value(attribute) ?? .null
        let size = value.jsonByteCount
        if size <= room {
            room -= size
            standard[person, default: [:]][attribute] = value
        }
        return value
    }

    /// The e-mail address that the user has now, as an attribute or else as an ID; nil if there is none, or no such user.
    mutating func email(of user: UserID) throws -> UserID? {
        guard try exists(user) else { return nil }
        if let address = try attribute(.email, of: user)?.asText.flatMap(TrackTarget.email) { return .email(address) }
        return try (find(user)?.ids ?? [user]).first { if case .email = $0 { true } else { false } }
    }

    /// Looks at what was stored so far; gives who `user` is.
    private mutating func takeDown(_ user: UserID) throws -> Person {
        noteTouched()
        for (user, events) in stored {
            let person = try person(user)
            for event in events {
                switch event {
                case .customAttributesChanged(let all): changes[person, default: []] += all
                case .userAttributesChanged(let all):
                    for change in all { standard[person, default: [:]][change.attribute] = change.value }
                default: break
                }
            }
        }
        (stored, touches) = ([], 0)
        return try person(user)
    }

    mutating func person(_ user: UserID) throws -> Person {
        try find(user).map { .known($0.number) } ?? .new(user)
    }

    /// An ID under which to store for `person`.
    func id(of person: Person) -> UserID {
        switch person {
        case .known(let number): .brazeID(known[number]?.brazeID ?? "")
        case .new(let id): id
        }
    }

    /// The IDs by which `person` is known.
    func ids(of person: Person) -> [UserID] {
        switch person {
        case .known(let number): known[number]?.ids ?? []
        case .new(let id): [id]
        }
    }

    /// The profile as the log has it; nil of who is made by this request.
    private func profile(of person: Person) throws -> ProfileState? {
        guard case .known(let number) = person, let info = known[number] else { return nil }
        return try log.profile(of: number, asOf: info.version)
    }
}
