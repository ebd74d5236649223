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
    private var changes: [TrackProfiles.Person: Changes] = [:]
    private var found: [UserID: InLog] = [:]

    /// What the request did to a person so far.
    private struct Changes {
        /// The last of its objects that is about them, counted from 1.
        var turn = 0
        /// What it made of the two attributes, `null` included.
        var values: [StandardAttribute: AttributeValue] = [:]
    }

    /// Those who have an address in the log, the one whom it means first.
    private struct InLog {
        let people: [TrackProfiles.Person]
        let set: Set<TrackProfiles.Person>

        init(_ users: [UserInfo]) {
            people = users.map { .known($0.number) }
            set = Set(people)
        }
    }

    init(_ log: EventLog, at place: DecisionBasis.Place) {
        self.log = log
        mostUsers = place == .connection ? Self.usersAtOnce : .max
    }

    /// The users who are looked at where other connections wait: some milliseconds.
    static let usersAtOnce = 200

    /// Remembers that `events` are to be stored for `user`, whom the request names.
    mutating func add(_ events: [ProfileEvent], of user: UserID) { stored.append((user, events)) }

    /// An ID of the one whom `contact` means, after all that was added; nil if nobody has it.
    ///
    /// Users with an external ID come before others, then those who were updated last.
    mutating func user(_ contact: UserID, _ profiles: inout TrackProfiles) throws -> UserID? {
        let touched = try touchedHolders(of: contact, &profiles)
        // Of those whom the request left alone the log's first is meant.
        let untouched = found[contact]?.people.first { changes[$0] == nil }
        let meant = (touched + (untouched.map { [$0] } ?? [])).max {
            rank($0, profiles) < rank($1, profiles)
        }
        return meant.map { profiles.id(of: $0) }
    }

    /// IDs of all who have `contact`, after all that was added: first those whom the request left alone.
    mutating func holders(of contact: UserID, _ profiles: inout TrackProfiles) throws -> [UserID] {
        let touched = try touchedHolders(of: contact, &profiles)
        let untouched = (found[contact]?.people ?? []).filter { changes[$0] == nil }
        return (untouched + touched).map { profiles.id(of: $0) }
    }

    /// Those who have `contact` and are changed by the request, by the object that did so last.
    private mutating func touchedHolders(
        of contact: UserID, _ profiles: inout TrackProfiles
    ) throws -> [TrackProfiles.Person] {
        try catchUp(&profiles)
        let inLog = try inLog(contact, &profiles)
        let attribute: StandardAttribute = if case .email = contact { .email } else { .phone }
        let holders = changes.filter { person, changes in
            switch changes.values[attribute] {
            case nil: inLog.set.contains(person)  // Nothing was said about it.
            case .string(let text)?: (attribute == .email ? UserID.email(text) : .phone(text)) == contact
            default: profiles.ids(of: person).contains(contact)
            }
        }
        return holders.sorted { $0.value.turn < $1.value.turn }.map(\.key)
    }

    private func rank(_ person: TrackProfiles.Person, _ profiles: TrackProfiles) -> (Int, Int) {
        let isIdentified = profiles.ids(of: person).contains { if case .externalID = $0 { true } else { false } }
        return (isIdentified ? 1 : 0, changes[person]?.turn ?? 0)
    }

    private mutating func inLog(_ contact: UserID, _ profiles: inout TrackProfiles) throws -> InLog {
        if let known = found[contact] { return known }
        guard let users = try log.users(sharing: contact, outOf: &mostUsers) else { throw TakesLong() }
        for user in users { profiles.know(user) }
        let inLog = InLog(users)
        found[contact] = inLog
        return inLog
    }

    private mutating func catchUp(_ profiles: inout TrackProfiles) throws {
        for (user, events) in stored {
            turn += 1
            let person = try profiles.person(user)
            changes[person, default: Changes()].turn = turn
            for case .userAttributesChanged(let all) in events {
                for change in all where change.attribute == .email || change.attribute == .phone {
                    changes[person]?.values[change.attribute] = change.value
                }
            }
        }
        stored = []
    }
}
