internal import ProfileLog

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

    /// One who may be meant.
    struct Candidate {
        var user: UserInfo
        /// The position of their latest event.
        var updated: Position

        var isIdentified: Bool {
            user.ids.contains { if case .externalID = $0 { true } else { false } }
        }
    }

    /// Those whom the filters leave.
    func left(of candidates: [Candidate]) -> [Candidate] {
        filters.reduce(candidates) { left, filter in
            switch filter {
            case .identified: left.filter(\.isIdentified)
            case .unidentified: left.filter { !$0.isIdentified }
            case .mostRecentlyUpdated: left.max { $0.updated < $1.updated }.map { [$0] } ?? []
            case .leastRecentlyUpdated: left.min { $0.updated < $1.updated }.map { [$0] } ?? []
            }
        }
    }
}
