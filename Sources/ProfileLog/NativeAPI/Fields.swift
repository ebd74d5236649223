internal import ProfileLogRequests

/// The members of a request's body. One that the request does not know is refused by name, before anything else is
/// looked at.
struct Fields {
    private var members: [Name: AttributeValue] = [:]
    private let known: Set<Name>

    /// Arrays and objects within each other: those of a value, and the ones around it.
    private static let maxDepth = Limits.valueDepth + 4

    /// The members of the body of `request`, as its endpoint declares them.
    ///
    /// - Parameter mayBeEmpty: whether no body is an object without members.
    init(_ request: APIRequest, mayBeEmpty: Bool = false) throws {
        let known = Set((request.inputs ?? []).map { Name($0.name) })
        let isNone = request.body.isEmpty && mayBeEmpty
        let members =
            try isNone
            ? [] : APIRequest.members(of: request.body, maxDepth: Self.maxDepth, remedy: "Send a JSON object.")
        try self.init(members, known)
    }

    /// As ``init(_:mayBeEmpty:)``, for a request that has no use for the headers of writes.
    init(withoutConditions request: APIRequest, mayBeEmpty: Bool = false) throws {
        try request.refuseConditions()
        try self.init(request, mayBeEmpty: mayBeEmpty)
    }

    init(_ members: [AttributeValue.Member], _ known: Set<Name>) throws {
        self.known = known
        for member in members { self.members[member.key] = member.value }
        guard let unknown = members.map(\.key).filter({ !known.contains($0) }).min() else { return }
        let names = known.sorted().map(\.text)
        let guess = NearestNames(to: unknown.text, among: names).close.first.map { "Did you mean `\($0)`? " } ?? ""
        throw APIError.invalid(
            unknown.text, "is no field of this request",
            remedy: "\(guess)The fields are \(names.joined(separator: ", ")).")
    }

    /// The member as it is, `null` included; nil if it is missing.
    func value(_ name: Name) -> AttributeValue? {
        precondition(known.contains(name), "\(name) is asked for and not declared")
        return members[name]
    }

    /// The member as `read` takes it, or nil if it is missing or `null`. If `read` gives nil, the request is refused
    /// for `reason`.
    private func member<Value>(
        _ name: Name, _ reason: String, _ read: (AttributeValue) -> Value?
    ) throws -> Value? {
        guard let value = value(name), value != .null else { return nil }
        guard let read = read(value) else { throw APIError.invalid(name.text, reason) }
        return read
    }

    /// The member as `read` takes it, which must be there.
    func required<Value>(_ name: Name, _ read: (Name) throws -> Value?) throws -> Value {
        guard let value = try read(name) else { throw APIError.invalid(name.text, "is missing") }
        return value
    }

    func text(_ name: Name) throws -> String? { try member(name, "must be text", \.asText) }

    func requiredText(_ name: Name) throws -> String { try required(name, text) }

    func flag(_ name: Name) throws -> Bool { try optionalFlag(name) ?? false }

    /// Returns nil if it is missing or `null`, unlike ``flag(_:)``.
    func optionalFlag(_ name: Name) throws -> Bool? { try member(name, "must be true or false", \.asFlag) }

    func integer(_ name: Name) throws -> Int64? {
        try member(name, "must be an integer") { if case .int(let integer) = $0 { integer } else { nil } }
    }

    /// An integer within `range`; others are refused for `reason`.
    func integer(_ name: Name, in range: ClosedRange<Int64>, _ reason: String) throws -> Int64? {
        guard let integer = try integer(name) else { return nil }
        guard range.contains(integer) else { throw APIError.invalid(name.text, reason) }
        return integer
    }

    /// One of several words, as `read` knows them.
    func choice<Choice>(_ name: Name, _ reason: String, _ read: (String) -> Choice?) throws -> Choice? {
        guard let text = try text(name) else { return nil }
        guard let choice = read(text) else { throw APIError.invalid(name.text, reason) }
        return choice
    }

    /// The member `position`, which must be there.
    func position() throws -> Position {
        let number = try required("position") { try integer($0, in: 1 ... .max, "must be a position of the log") }
        return Position(rawValue: UInt64(number))
    }

    /// The members `reason` and `actor`, which stay in the log.
    func reasonAndActor() throws -> (reason: String, actor: String) {
        let (reason, actor) = (try requiredText("reason"), try text("actor") ?? "api")
        for (place, text) in [("reason", reason), ("actor", actor)] where !(1...1024).contains(text.utf8.count) {
            throw APIError.invalid(place, "must have 1 to 1024 bytes")
        }
        return (reason, actor)
    }

    func number(_ name: Name) throws -> Double? { try member(name, "must be a number", \.asNumber) }

    func time(_ name: Name) throws -> OccurredAt? {
        try text(name).map { try APIError.time($0, name.text) }
    }

    func user(_ name: Name = "user") throws -> UserID? { try text(name).map { try Identifiers.user($0) } }

    func device() throws -> String? { try text("device").map { try Identifiers.device($0) } }

    func object(_ name: Name) throws -> [AttributeValue.Member]? {
        try member(name, "must be an object") { if case .object(let members) = $0 { members } else { nil } }
    }

    func array(_ name: Name) throws -> [AttributeValue]? { try member(name, "must be an array", \.asArray) }
}
