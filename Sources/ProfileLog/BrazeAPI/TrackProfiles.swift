internal import ProfileLogRequests

/// The profiles of a request's users, as the log has them and as the request's objects leave them.
struct TrackProfiles {
    let view: DecisionView
    /// The users that this request makes or changes, without those of the last of `stored`.
    private var touched: Set<UserID> = []
    /// How many of `stored` are in `touched`.
    private var touches = 0
    /// The custom attributes of users who were asked for one. By name: an object may have tens of thousands.
    private var custom: [Person: [Name: AttributeValue]] = [:]
    /// What this request does to custom attributes, in its order, without what is in `stored` and `custom`.
    private var changes: [Person: [AttributeChange]] = [:]
    /// The standard attributes that this request sets, and those that were asked for; `.null` where there is none.
    private var standard: [Person: [StandardAttribute: AttributeValue]] = [:]
    /// Bytes of JSON of what the log was asked for and may still be kept in `standard`: tens of thousands may share an
    /// address.
    private var room: Int
    /// What was added and not yet looked at: most requests never ask who these users are.
    private var stored: [(user: UserID, events: [ProfileEvent])] = []

    /// A user by number, under whatever ID an object names them; one that this request makes by that ID.
    enum Person: Hashable {
        case known(UserNumber)
        case new(UserID)
    }

    /// - Parameter room: bytes of JSON that are kept of the standard attributes that the log is asked for; what is not
    ///   is read again. The default is as much as those who share addresses may get.
    init(_ view: DecisionView, room: Int = Limits.bytesPerAppend / 2) {
        self.view = view
        self.room = room
    }

    /// Whether the user exists, or is made by this request.
    mutating func exists(_ user: UserID) throws -> Bool {
        noteTouched()
        return try touched.contains(user) || view.find(user) != nil
    }

    private mutating func noteTouched() {
        for (user, _) in stored[touches...] { touched.insert(user) }
        touches = stored.count
    }

    /// Adds what is stored for `user`.
    mutating func add(_ events: [ProfileEvent], to user: UserID) {
        if events.isEmpty { return }
        stored.append((user, events))
    }

    /// The value of a custom attribute after what this request has done so far.
    mutating func customAttribute(_ name: Name, of user: UserID) throws -> AttributeValue? {
        let person = try foldStored(user)
        if custom[person] == nil {
            let view = try profile(of: person).map(view.log.profileView)
            custom[person] = [:]
            for attribute in view?.customAttributes ?? [] { custom[person]?[attribute.name] = attribute.value }
        }
        let policies = try view.policies()
        for change in changes.removeValue(forKey: person) ?? [] {
            let old = custom[person]?[change.name]
            let policy = policies[change.name] ?? .lastArrival
            custom[person]?[change.name] = change.operation.applied(to: old, under: policy)
        }
        return custom[person]?[name]
    }

    /// The value of a standard attribute after what this request has done so far.
    mutating func attribute(_ attribute: StandardAttribute, of user: UserID) throws -> AttributeValue? {
        let person = try foldStored(user)
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

    /// The e-mail address that the user has now, as an attribute or else as an ID; nil if there is none, or no such
    /// user.
    mutating func email(of user: UserID) throws -> UserID? {
        guard try exists(user) else { return nil }
        if let address = try attribute(.email, of: user)?.asText.flatMap(Identifiers.email) { return .email(address) }
        return try (view.find(user)?.ids ?? [user]).first { if case .email = $0 { true } else { false } }
    }

    /// Folds the events that were added so far into the attributes, and resolves `user`.
    private mutating func foldStored(_ user: UserID) throws -> Person {
        noteTouched()
        for (user, events) in stored {
            let person = try person(user)
            for event in events {
                if case .customAttributesChanged(let all) = event { changes[person, default: []] += all }
                if case .userAttributesChanged(let all) = event {
                    for change in all { standard[person, default: [:]][change.attribute] = change.value }
                }
            }
        }
        (stored, touches) = ([], 0)
        return try person(user)
    }

    func person(_ user: UserID) throws -> Person {
        try view.find(user).map { .known($0.number) } ?? .new(user)
    }

    /// An ID under which to store for `person`.
    func id(of person: Person) -> UserID {
        switch person {
        case .known(let number): .brazeID(view.user(number)?.brazeID ?? "")
        case .new(let id): id
        }
    }

    /// The IDs by which `person` is known.
    func ids(of person: Person) -> [UserID] {
        switch person {
        case .known(let number): view.user(number)?.ids ?? []
        case .new(let id): [id]
        }
    }

    /// The profile as the log has it; nil of who is made by this request.
    private func profile(of person: Person) throws -> ProfileState? {
        guard case .known(let number) = person else { return nil }
        return try view.profile(of: number)
    }
}
