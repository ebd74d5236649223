internal import ProfileLog

/// One item of a request that changes who is known by which ID.
struct IdentityItem: Sendable {
    var change: Change
    /// The list of the request in which it stands, and where.
    var array: String
    var index: Int

    enum Change: Sendable {
        case fixed(IdentityChange)
        case identify(Person, externalID: UserID)
        case merge(source: Person, target: Person)
    }

    /// Somebody, as a request names them.
    enum Person: Sendable {
        case id(UserID)
        /// One of those who have this address.
        case contact(UserID, Prioritization)
    }

    /// The item names nobody in particular, for this reason.
    struct NobodyMeant: Error {
        var reason: String
    }
}

extension IdentityItem.Change {
    /// Whether it depends on who has an address, and so on the items before it.
    var asksForAddress: Bool {
        switch self {
        case .fixed: false
        case .identify(let person, _): person.isContact
        case .merge(let source, let target): source.isContact || target.isContact
        }
    }

    /// What is to be done, by what `log` holds now, and the users who have its addresses.
    func resolved(_ log: EventLog) throws -> (change: IdentityChange, found: [UserInfo]) {
        var found: [UserInfo] = []
        func id(_ person: IdentityItem.Person, _ label: String = "") throws -> UserID {
            if case .id(let id) = person { return id }
            let user = try person.user(in: log, label)
            found.append(user)
            return .brazeID(user.brazeID)
        }
        let change: IdentityChange =
            switch self {
            case .fixed(let change): change
            case .identify(let person, let externalID): .identify(user: try id(person), externalID: externalID)
            case .merge(let source, let target):
                .merge(
                    source: try id(source, "'identifier_to_merge': "), target: try id(target, "'identifier_to_keep': "))
            }
        return (change, found)
    }
}

extension IdentityItem.Person {
    fileprivate var isContact: Bool { if case .contact = self { true } else { false } }

    /// The one who is meant; `label` begins the reason if nobody is.
    func user(in log: EventLog, _ label: String = "") throws -> UserInfo {
        switch self {
        case .id(let id):
            guard let user = try log.find(id) else { throw IdentityItem.NobodyMeant(reason: "no such user exists") }
            return user
        case .contact(let contact, let prioritization):
            let candidates = try log.users(sharing: contact)
            if candidates.isEmpty { throw IdentityItem.NobodyMeant(reason: "\(label)no user has this address") }
            let left = try prioritization.left(of: candidates, updated: log.lastUpdate)
            guard let first = left.first else {
                throw IdentityItem.NobodyMeant(reason: "\(label)'prioritization' leaves no user of those who share it")
            }
            guard left.count == 1 else {
                throw IdentityItem.NobodyMeant(
                    reason: "\(label)'prioritization' leaves \(left.count) users who share it")
            }
            return first
        }
    }
}
