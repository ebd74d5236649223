internal import ProfileLogSnippets

/// The parameters of a request's query, taken out one by one; the fields that are left are refused by name at the end.
package struct Query {
    private var values: [String: [String]] = [:]
    private var known: Set<String> = []
    private let path: String
    private let declared: [EndpointInput]?

    package init(_ request: APIRequest) {
        path = request.path
        declared = request.inputs
        for parameter in request.query { values[parameter.name, default: []].append(parameter.value) }
    }

    package mutating func all(_ name: String) -> [String] {
        assert(declared?.contains { $0.name == name } ?? true, "the inputs of \(path) lack \(name)")
        known.insert(name)
        return values.removeValue(forKey: name) ?? []
    }

    /// The values of `name[0]`, `name[1]`, … in the order of their numbers.
    package mutating func numbered(_ name: String) -> [String] {
        let keys = values.keys.compactMap { key -> (number: UInt32, key: String)? in
            guard key.hasPrefix(name + "["), key.hasSuffix("]") else { return nil }
            return UInt32(key.dropFirst(name.count + 1).dropLast()).map { ($0, key) }
        }
        return keys.sorted { $0.number < $1.number }.flatMap { values.removeValue(forKey: $0.key) ?? [] }
    }

    package mutating func text(_ name: String) throws -> String? {
        let all = all(name)
        guard all.count <= 1 else { throw APIError.invalid(name, "is given twice") }
        return all.first
    }

    package mutating func requiredText(_ name: String) throws -> String {
        guard let text = try text(name) else { throw APIError.invalid(name, "is missing") }
        return text
    }

    package mutating func user() throws -> UserID? { try text("user").map { try Identifiers.user($0) } }

    package mutating func device() throws -> String? { try text("device").map { try Identifiers.device($0) } }

    package mutating func flag(_ name: String) throws -> Bool {
        switch try text(name) {
        case nil, "false", "0": return false
        case "true", "1", "": return true
        default: throw APIError.invalid(name, "must be true or false")
        }
    }

    /// A whole number within `range`; `standard` if it is missing.
    package mutating func number(_ name: String, _ range: ClosedRange<UInt64>, standard: UInt64) throws -> UInt64 {
        guard let text = try text(name) else { return standard }
        guard let number = UInt64(text), range.contains(number) else {
            let end = range.upperBound == .max ? "or more" : "to \(range.upperBound)"
            throw APIError.invalid(name, "must be a whole number, \(range.lowerBound) \(end)")
        }
        return number
    }

    /// A whole number within the limits of `input`.
    package mutating func number(_ input: EndpointInput) throws -> UInt64 {
        try number(input.name, input.limits ?? 0 ... .max, standard: input.standard ?? 0)
    }

    package mutating func limit(standard: Int, most: Int) throws -> Int {
        Int(try number("limit", 1...UInt64(most), standard: UInt64(standard)))
    }

    /// A moment of the past; nil if it is missing. `now` is what spans and days in words count from; local time is UTC.
    package mutating func moment(_ name: String, now: Timestamp) throws -> Moment? {
        try text(name).map { try Self.moment($0, name, now: now) }
    }

    /// The moment that `text`, the value of `name`, is.
    package static func moment(_ text: String, _ name: String, now: Timestamp) throws -> Moment {
        guard let moment = Moment(text, now: now) else { throw APIError.noMoment(name, text) }
        return moment
    }

    /// One of several words, as `read` knows them; others are refused for `reason`.
    package mutating func choice<Choice>(
        _ name: String, _ reason: String, _ read: (String) -> Choice?
    ) throws -> Choice? {
        guard let text = try text(name) else { return nil }
        guard let choice = read(text) else { throw APIError.invalid(name, reason) }
        return choice
    }

    /// One of a user's launches by its number, from 1; a negative one counts from the last.
    package mutating func launch(_ name: String) throws -> Int? {
        try choice(name, "must be the number of a launch: 1 is the first, -1 the last") { text in
            Int(text).flatMap { $0 == 0 ? nil : $0 }
        }
    }

    /// Reads the order of a history: `recorded`, the default, or `occurred`.
    package mutating func order() throws -> EventOrder {
        try choice("order", "must be recorded or occurred", EventOrder.init) ?? .recorded
    }

    /// `kind` (several, or one with commas), `name`, `field`, `device`, `since` and `before`; and `order`, the order in
    /// which these two count, unless it was read for more than them.
    package mutating func filter(now: Timestamp, _ known: EventOrder? = nil) throws -> EventFilter {
        var filter = EventFilter()
        filter.order = try known ?? order()
        let kinds = all("kind").flatMap { $0.split(separator: ",").map(String.init) }
        if !kinds.isEmpty {
            filter.kinds = try Set(
                kinds.map { kind in
                    guard let known = EventKind(name: kind) else {
                        let nearest = NearestNames(to: kind, among: EventKind.allCases.map(\.name))
                        throw APIError.invalid(
                            "kind", "must be a kind of event", remedy: nearest.remedy("The kinds are"))
                    }
                    return known
                })
        }
        filter.name = try text("name").map { Name($0) }
        filter.field = try text("field").map { Name($0) }
        filter.device = try device()
        filter.since = try pastTime("since", now: now)
        filter.before = try pastTime("before", now: now)
        if known == nil, filter.order == .occurred, filter.since == nil, filter.before == nil {
            throw APIError.invalid(
                "order", "says of which times `since` and `before` are", remedy: "Give one of them, or omit it.")
        }
        return filter
    }

    package mutating func time(_ name: String) throws -> Timestamp? {
        try text(name).map { try APIError.time($0, name).timestamp }
    }

    /// A time in one of the forms of a moment. Where no position can be meant, eight digits are a day.
    private mutating func pastTime(_ name: String, now: Timestamp) throws -> Timestamp? {
        guard let text = try text(name) else { return nil }
        if text.utf8.count == 8, let day = OccurredAt(iso8601: text) { return day.timestamp }
        guard let moment = Moment(text, now: now) else { throw APIError.noMoment(name, text) }
        guard case .time(let time) = moment else {
            throw APIError.invalid(
                name, "must be a time", remedy: "Write it as in `2026-01-31T14:03Z`, `yesterday 14:00` or `-3d`.")
        }
        return time
    }

    /// Refuses what is left.
    package func end() throws {
        guard let unknown = values.keys.min() else { return }
        let names = known.sorted().joined(separator: ", ")
        throw APIError.invalid(unknown, "is no parameter of this request", remedy: "The parameters are \(names).")
    }
}
