internal import ProfileLogRequests

/// A user, as a request names them: to identify, merge or erase them, or to send to them.
enum Person: Hashable, Sendable {
    case id(UserID)
    /// A user with this address.
    case contact(UserID, Prioritization)

    /// The request names no single user, for this reason.
    struct NoSingleUser: Error {
        var reason: String
        var `case`: Case

        enum Case {
            /// No user has the ID or the address.
            case unknown
            /// Users share the address, and the prioritization leaves none.
            case none
            /// Users share the address, and the prioritization leaves several.
            case several
        }
    }
}

extension Person {
    var isAddress: Bool { if case .contact = self { true } else { false } }

    /// The ID or the address.
    var id: UserID {
        switch self {
        case .id(let id), .contact(let id, _): id
        }
    }

    /// The user that `value` names, the member `key` of `object`; nil if it names none.
    ///
    /// An address needs the member `prioritization` with it.
    init?(_ object: AttributeValue, _ key: Name, _ value: AttributeValue) throws(TrackError) {
        guard let id = TrackTarget.id(key, value) else { return nil }
        switch id {
        case .email, .phone: self = .contact(id, try Prioritization(object.present("prioritization")))
        default: self = .id(id)
        }
    }

    /// The user; `label` begins the reason if there is none.
    func user(_ view: DecisionView, _ label: String = "") throws -> UserInfo {
        switch self {
        case .id(let id):
            guard let user = try view.find(id) else {
                throw NoSingleUser(reason: "no such user exists", case: .unknown)
            }
            return user
        case .contact(let contact, let prioritization):
            let candidates = try view.users(sharing: contact)
            if candidates.isEmpty { throw NoSingleUser(reason: "\(label)no user has this address", case: .unknown) }
            let left = try prioritization.left(of: candidates, updated: view.log.reader.addresses.lastUpdate)
            guard let first = left.first else {
                throw NoSingleUser(
                    reason: "\(label)'prioritization' leaves no user of those who share it", case: .none)
            }
            guard left.count == 1 else {
                throw NoSingleUser(
                    reason: "\(label)'prioritization' leaves \(left.count) users who share it", case: .several)
            }
            return first
        }
    }
}

/// The choice among the profiles that share an address: filters, one after the other (spec/rest-api 2.5).
struct Prioritization: Hashable, Sendable {
    enum Filter: String {
        case identified
        case unidentified
        case mostRecentlyUpdated = "most_recently_updated"
        case leastRecentlyUpdated = "least_recently_updated"
    }

    let filters: [Filter]

    /// The words of a list, for remedies.
    static let words = "identified or unidentified, most_recently_updated, least_recently_updated"

    /// Leaves everybody.
    static let none = Prioritization()

    private init() { filters = [] }

    /// - Parameter excluded: a filter that the endpoint does not know.
    init(_ value: AttributeValue?, without excluded: Filter? = nil) throws(TrackError) {
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
