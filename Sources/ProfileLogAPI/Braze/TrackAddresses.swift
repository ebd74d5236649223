internal import ProfileLog

/// Whom the addresses in a request mean: who has them in the log, each looked up once, as changed by the objects
/// before (spec/rest-api 1.3).
///
/// A request without addresses pays for none of it.
struct TrackAddresses {
    private let log: EventLog
    /// How many more users may be looked at.
    private var mostUsers: Int
    /// What is stored of the request and not yet looked at here.
    private var stored: [(user: UserID, events: [ProfileEvent])] = []
    private var turn = 0
    private var people: [UserID: Person] = [:]
    private var users: [UserNumber: UserInfo] = [:]
    private var changes: [Person: Changes] = [:]
    private var found: [UserID: [UserInfo]] = [:]

    private enum Person: Hashable {
        case known(UserNumber)
        /// Made by this request.
        case new(UserID)
    }

    /// What the request did to a person so far.
    private struct Changes {
        /// The last of its objects that is about them, counted from 1.
        var turn = 0
        /// What it made of the two attributes, `null` included.
        var values: [StandardAttribute: AttributeValue] = [:]
    }

    init(_ log: EventLog, at place: DecisionBasis.Place) {
        self.log = log
        mostUsers = place == .connection ? Self.usersAtOnce : .max
    }

    /// The users who are looked at where others wait: some milliseconds.
    static let usersAtOnce = 200

    /// Remembers that `events` are to be stored for `user`.
    mutating func add(_ events: [ProfileEvent], of user: UserID) { stored.append((user, events)) }

    /// An ID of the one whom `contact` means, after all that was added; nil if nobody has it.
    ///
    /// Users with an external ID come before others, then those with the latest events.
    mutating func user(_ contact: UserID) throws -> UserID? {
        try catchUp()
        let attribute: StandardAttribute = if case .email = contact { .email } else { .phone }
        var candidates = try inLog(contact).map { Person.known($0.number) }
        candidates.removeAll { changes[$0] != nil && !has($0, contact, attribute) }
        for person in changes.keys where !candidates.contains(person) && has(person, contact, attribute) {
            candidates.append(person)
        }
        // What the log found comes first, in its order: that is left where the request touched nobody.
        let ranked = candidates.enumerated().max { left, right in
            let (leftRank, rightRank) = (rank(left.element), rank(right.element))
            return leftRank == rightRank ? left.offset > right.offset : leftRank < rightRank
        }
        return ranked.map { id($0.element) }
    }

    private func rank(_ person: Person) -> (Int, Int) {
        let isIdentified = ids(person).contains { if case .externalID = $0 { true } else { false } }
        return (isIdentified ? 1 : 0, changes[person]?.turn ?? 0)
    }

    private func ids(_ person: Person) -> [UserID] {
        switch person {
        case .known(let number): users[number]?.ids ?? []
        case .new(let id): [id]
        }
    }

    /// An ID under which to store for `person`.
    private func id(_ person: Person) -> UserID {
        switch person {
        case .known(let number): .brazeID(users[number]?.brazeID ?? "")
        case .new(let id): id
        }
    }

    /// Whether `person`, whom the log found by `contact` or the request changed, has it now.
    private func has(_ person: Person, _ contact: UserID, _ attribute: StandardAttribute) -> Bool {
        switch changes[person]?.values[attribute] {
        case nil:
            // Nothing was said about it: then it is as the log has it.
            return found[contact]?.contains { .known($0.number) == person } ?? false
        case .string(let text)?: return (attribute == .email ? UserID.email(text) : .phone(text)) == contact
        default: return ids(person).contains(contact)
        }
    }

    /// The users who have `contact` in the log, the one whom it means first.
    mutating func inLog(_ contact: UserID) throws -> [UserInfo] {
        if let users = found[contact] { return users }
        guard let users = try log.users(sharing: contact, outOf: &mostUsers) else { throw TakesLong() }
        for user in users { _ = remember(user) }
        found[contact] = users
        return users
    }

    private mutating func remember(_ user: UserInfo) -> UserNumber {
        users[user.number] = user
        return user.number
    }

    private mutating func catchUp() throws {
        for (user, events) in stored {
            turn += 1
            let person = try person(user)
            changes[person, default: Changes()].turn = turn
            for case .userAttributesChanged(let all) in events {
                for change in all where change.attribute == .email || change.attribute == .phone {
                    changes[person]?.values[change.attribute] = change.value
                }
            }
        }
        stored = []
    }

    private mutating func person(_ id: UserID) throws -> Person {
        if let person = people[id] { return person }
        let person = try log.find(id).map { Person.known(remember($0)) } ?? .new(id)
        people[id] = person
        return person
    }
}
