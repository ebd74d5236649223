internal import ProfileLogRequests

/// The profiles of a request's users and who has which address (spec/rest-api 1.3), as the log has them and as the
/// request's objects leave them.
struct TrackProfiles {
    let view: DecisionView
    /// The users that this request makes or changes, without those of the last of `stored`.
    private var touched: Set<UserID> = []
    /// The number of `stored` that are in `touched`.
    private var touches = 0
    /// The custom attributes of users who were asked for one. By name: an object may have tens of thousands.
    private var custom: [Person: [Name: AttributeValue]] = [:]
    /// Changes of custom attributes by this request, in its order, without those in `stored` and `custom`.
    private var changes: [Person: [AttributeChange]] = [:]
    /// The standard attributes that this request sets, and those that were asked for; `.null` where there is none.
    private var standard: [Person: [StandardAttribute: AttributeValue]] = [:]
    /// Bytes of JSON of what the log was asked for and may still be kept in `standard`: tens of thousands may share an
    /// address.
    private var room: Int
    /// Additions that were not looked at yet: most requests never ask who these users are.
    private var stored: [(user: UserID, events: [ProfileEvent], isUpdate: Bool)] = []
    /// The request's changes of a person so far, for addresses.
    private var contacts: [Person: Contacts] = [:]
    /// The users who have an address in the log.
    private var inLog: [UserID: (people: [Person], set: Set<Person>)] = [:]
    private var turn = 0

    private struct Contacts {
        /// The last of its objects that is about them, counted from 1.
        var turn = 0
        /// The values of e-mail address and phone number after that object, `null` included.
        var values: [StandardAttribute: AttributeValue] = [:]
    }

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

    /// Tells whether the user exists, or is made by this request.
    mutating func exists(_ user: UserID) throws -> Bool {
        noteTouched()
        return try touched.contains(user) || view.find(user) != nil
    }

    private mutating func noteTouched() {
        for (user, _, _) in stored[touches...] { touched.insert(user) }
        touches = stored.count
    }

    /// Adds what is stored for `user`.
    ///
    /// - Parameter isUpdate: whether they become the user who was updated last.
    mutating func add(_ events: [ProfileEvent], to user: UserID, isUpdate: Bool = true) {
        if !events.isEmpty { stored.append((user, events, isUpdate)) }
    }

    /// The value of a custom attribute after what this request has done so far.
    mutating func customAttribute(_ name: Name, of user: UserID) throws -> AttributeValue? {
        let person = try foldStored(user)
        if custom[person] == nil {
            let view = try profile(of: person).map(view.log.reader.named)
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

    /// Returns the reason why an update of a custom attribute that happens at `time` loses to what the log has; nil if
    /// it does not.
    func reasonToLose(
        _ name: Name, at time: Timestamp, of user: UserID, under policy: AttributePolicy
    ) throws -> String? {
        guard policy == .lastOccurred, let number = view.log.names.number(name) else { return nil }
        return try profile(of: person(user))?.reasonToLose(FieldKey(custom: number), at: time, under: policy)
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
        if let address = try attribute(.email, of: user)?.asText.flatMap(NormalContact.email) { return .email(address) }
        return try (view.find(user)?.ids ?? [user]).first { if case .email = $0 { true } else { false } }
    }

    /// Folds the events that were added so far, and resolves `user`.
    private mutating func foldStored(_ user: UserID) throws -> Person {
        try foldStored()
        return try person(user)
    }

    private mutating func foldStored() throws {
        noteTouched()
        for (user, events, isUpdate) in stored {
            let person = try person(user)
            if isUpdate {
                turn += 1
                contacts[person, default: Contacts()].turn = turn
            }
            for event in events {
                if case .customAttributesChanged(let all) = event { changes[person, default: []] += all }
                guard case .userAttributesChanged(let all) = event else { continue }
                for change in all {
                    standard[person, default: [:]][change.attribute] = change.value
                    let isContact = change.attribute == .email || change.attribute == .phone
                    if isContact { contacts[person]?.values[change.attribute] = change.value }
                }
            }
        }
        (stored, touches) = ([], 0)
    }

    func person(_ user: UserID) throws -> Person {
        try view.find(user).map { .known($0.number) } ?? .new(user)
    }

    /// An ID under which to store for `person`.
    private func id(of person: Person) -> UserID {
        switch person {
        case .known(let number): .assignedID(view.user(number)?.brazeID ?? "")
        case .new(let id): id
        }
    }

    /// The IDs by which `person` is known.
    private func ids(of person: Person) -> [UserID] {
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

    // MARK: - Addresses

    /// An ID of the user that `contact` resolves to, after all that was added; nil if no user has it.
    ///
    /// Users with an external ID come before others, then those who were updated last.
    mutating func user(having contact: UserID) throws -> UserID? {
        let (untouched, touched) = try split(contact)
        // Of users that the request does not change, the log's first counts.
        let first = (touched + untouched.prefix(1)).max { rank($0) < rank($1) }
        return first.map(id)
    }

    /// IDs of all who have `contact`, after all that was added: first those that the request does not change.
    mutating func holders(of contact: UserID) throws -> [UserID] {
        let (untouched, touched) = try split(contact)
        return (untouched + touched).map(id)
    }

    /// Returns the users who have `contact` and are not changed by the request, the log's first one first; and those
    /// who are, by the object that did so last.
    private mutating func split(_ contact: UserID) throws -> (untouched: [Person], touched: [Person]) {
        try foldStored()
        if inLog[contact] == nil {
            let people = try view.users(sharing: contact).map { Person.known($0.number) }
            inLog[contact] = (people, Set(people))
        }
        let (people, set) = inLog[contact] ?? ([], [])
        let attribute: StandardAttribute = if case .email = contact { .email } else { .phone }
        let touched = contacts.filter { person, contacts in
            switch contacts.values[attribute] {
            case nil: set.contains(person)  // Nothing was said about it.
            case .string(let text)?: (attribute == .email ? UserID.email(text) : .phone(text)) == contact
            default: ids(of: person).contains(contact)
            }
        }
        return (people.filter { contacts[$0] == nil }, touched.sorted { $0.value.turn < $1.value.turn }.map(\.key))
    }

    private func rank(_ person: Person) -> (Int, Int) {
        let isIdentified = ids(of: person).contains { if case .externalID = $0 { true } else { false } }
        return (isIdentified ? 1 : 0, contacts[person]?.turn ?? 0)
    }
}
