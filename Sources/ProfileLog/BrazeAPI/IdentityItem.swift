internal import ProfileLogRequests

/// One item of a request that changes IDs of users.
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

/// Which of the profiles that share an address to take: filters, one after the other (spec/rest-api 2.5).
struct Prioritization: Hashable, Sendable {
    enum Filter: String {
        case identified
        case unidentified
        case mostRecentlyUpdated = "most_recently_updated"
        case leastRecentlyUpdated = "least_recently_updated"
    }

    let filters: [Filter]

    /// Leaves everybody.
    static let none = Prioritization()

    private init() { filters = [] }

    /// - Parameter excluded: a filter that the endpoint does not know.
    init(_ value: AttributeValue?, without excluded: Filter? = nil) throws(TrackFault) {
        guard let value, value != .array([]) else { throw .required("prioritization") }
        guard let values = value.asArray else { throw .notValid("prioritization") }
        let filters = values.compactMap { $0.asText.flatMap(Filter.init) }
        guard filters.count == values.count, !filters.contains(where: { $0 == excluded }),
            !(filters.contains(.identified) && filters.contains(.unidentified))
        else {
            throw .notValid("prioritization")
        }
        self.filters = filters
    }

    /// The users that the filters leave.
    ///
    /// - Parameter updated: the position of the latest event that updates a user; asked only if that decides.
    func left(of users: [UserInfo], updated: (UserInfo) throws -> Position) rethrows -> [UserInfo] {
        try filters.reduce(users) { left, filter in
            switch filter {
            case .identified: return left.filter(\.isIdentified)
            case .unidentified: return left.filter { !$0.isIdentified }
            case .mostRecentlyUpdated, .leastRecentlyUpdated:
                if left.count < 2 { return left }
                let sorted = try left.map { (user: $0, updated: try updated($0)) }.sorted { $0.updated < $1.updated }
                return [filter == .mostRecentlyUpdated ? sorted[sorted.count - 1].user : sorted[0].user]
            }
        }
    }
}

extension UserInfo {
    fileprivate var isIdentified: Bool { ids.contains { if case .externalID = $0 { true } else { false } } }
}
