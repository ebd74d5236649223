internal import ProfileLogRequests

/// Resolves the addresses of a request to users: who has them in the log, as changed by the request's objects before
/// (spec/rest-api 1.3).
///
/// A request without addresses pays for none of it.
struct TrackAddresses {
    private let view: DecisionView
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

    /// The users who have an address in the log, the first of them first.
    private struct InLog {
        let people: [TrackProfiles.Person]
        let set: Set<TrackProfiles.Person>

        init(_ users: [UserInfo]) {
            people = users.map { .known($0.number) }
            set = Set(people)
        }
    }

    init(_ view: DecisionView) { self.view = view }

    /// Remembers that `events` are to be stored for `user`, whose ID is in the request.
    mutating func add(_ events: [ProfileEvent], of user: UserID) { stored.append((user, events)) }

    /// An ID of the user to whom `contact` resolves, after all that was added; nil if no user has it.
    ///
    /// Users with an external ID come before others, then those who were updated last.
    mutating func user(_ contact: UserID, _ profiles: inout TrackProfiles) throws -> UserID? {
        let touched = try touchedHolders(of: contact, &profiles)
        // Of users that the request does not change, the log's first counts.
        let untouched = found[contact]?.people.first { changes[$0] == nil }
        let first = (touched + (untouched.map { [$0] } ?? [])).max {
            rank($0, profiles) < rank($1, profiles)
        }
        return first.map { profiles.id(of: $0) }
    }

    /// IDs of all who have `contact`, after all that was added: first those that the request does not change.
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
        let inLog = try inLog(contact)
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

    private mutating func inLog(_ contact: UserID) throws -> InLog {
        if let known = found[contact] { return known }
        let inLog = InLog(try view.users(sharing: contact))
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
