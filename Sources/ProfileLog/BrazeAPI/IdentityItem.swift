internal import ProfileLogRequests

/// One item of a request that changes who is known by which ID.
struct IdentityItem: Sendable {
    var change: Change
    /// The list of the request that it is in, and where.
    var array: String
    var index: Int

    enum Change: Sendable {
        case fixed(IdentityChange)
        case identify(Person, externalID: UserID)
        case merge(source: Person, target: Person)
    }

    /// A user, as a request names them.
    enum Person: Sendable {
        case id(UserID)
        /// One of those who have this address.
        case contact(UserID, Prioritization)
    }

    /// The item names no single user, for this reason.
    struct NoSingleUser: Error {
        var reason: String
    }
}

extension IdentityItem.Change {
    /// Whether it depends on who has an address, and so on the items before it.
    var resolvesAddress: Bool {
        switch self {
        case .fixed: false
        case .identify(let person, _): person.isAddress
        case .merge(let source, let target): source.isAddress || target.isAddress
        }
    }

    /// What is to be done, with addresses resolved to the users who have them. They must stay unchanged until it is
    /// stored.
    func resolved(_ view: DecisionView) throws -> IdentityChange {
        func id(_ person: IdentityItem.Person, _ label: String = "") throws -> UserID {
            if case .id(let id) = person { return id }
            let id = UserID.brazeID(try person.user(view, label).brazeID)
            try view.requireUnchanged(id)
            return id
        }
        return switch self {
        case .fixed(let change): change
        case .identify(let person, let externalID): .identify(user: try id(person), externalID: externalID)
        case .merge(let source, let target):
            .merge(
                source: try id(source, "'identifier_to_merge': "), target: try id(target, "'identifier_to_keep': "))
        }
    }
}

extension IdentityItem.Person {
    fileprivate var isAddress: Bool { if case .contact = self { true } else { false } }

    /// The user; `label` begins the reason if there is none.
    func user(_ view: DecisionView, _ label: String = "") throws -> UserInfo {
        switch self {
        case .id(let id):
            guard let user = try view.find(id) else { throw IdentityItem.NoSingleUser(reason: "no such user exists") }
            return user
        case .contact(let contact, let prioritization):
            let candidates = try view.users(sharing: contact)
            if candidates.isEmpty { throw IdentityItem.NoSingleUser(reason: "\(label)no user has this address") }
            let left = try prioritization.left(of: candidates, updated: view.log.lastUpdate)
            guard let first = left.first else {
                throw IdentityItem.NoSingleUser(reason: "\(label)'prioritization' leaves no user of those who share it")
            }
            guard left.count == 1 else {
                throw IdentityItem.NoSingleUser(
                    reason: "\(label)'prioritization' leaves \(left.count) users who share it")
            }
            return first
        }
    }
}
