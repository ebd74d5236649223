internal import ProfileLogRequests

/// Which of the profiles that share an address is meant: filters, one after the other (spec/rest-api 2.5).
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
