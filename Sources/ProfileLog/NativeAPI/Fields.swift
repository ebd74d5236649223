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

    /// The member, or nil if it is missing or `null`.
    private func present(_ name: Name) -> AttributeValue? {
        guard let value = value(name), value != .null else { return nil }
        return value
    }

    func text(_ name: Name) throws -> String? {
        guard let value = present(name) else { return nil }
        guard case .string(let text) = value else { throw APIError.invalid(name.text, "must be text") }
        return text
    }

    func requiredText(_ name: Name) throws -> String {
        guard let text = try text(name) else { throw APIError.invalid(name.text, "is missing") }
        return text
    }

    func flag(_ name: Name) throws -> Bool {
        guard let value = present(name) else { return false }
        guard case .bool(let flag) = value else { throw APIError.invalid(name.text, "must be true or false") }
        return flag
    }

    func integer(_ name: Name) throws -> Int64? {
        guard let value = present(name) else { return nil }
        guard case .int(let integer) = value else { throw APIError.invalid(name.text, "must be an integer") }
        return integer
    }

    /// Returns nil if it is missing or `null`, unlike ``flag(_:)``.
    func optionalFlag(_ name: Name) throws -> Bool? { try present(name) == nil ? nil : flag(name) }

    /// One of several words, as `read` knows them.
    func choice<Choice>(_ name: Name, _ reason: String, _ read: (String) -> Choice?) throws -> Choice? {
        guard let text = try text(name) else { return nil }
        guard let choice = read(text) else { throw APIError.invalid(name.text, reason) }
        return choice
    }

    /// The member `position`, which must be there.
    func position() throws -> Position {
        guard let number = try integer("position") else { throw APIError.invalid("position", "is missing") }
        guard number > 0 else { throw APIError.invalid("position", "must be a position of the log") }
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

    func number(_ name: Name) throws -> Double? {
        switch present(name) {
        case nil: return nil
        case .int(let integer): return Double(integer)
        case .double(let double): return double
        default: throw APIError.invalid(name.text, "must be a number")
        }
    }

    func time(_ name: Name) throws -> OccurredAt? {
        try text(name).map { try APIError.time($0, name.text) }
    }

    func user(_ name: Name = "user") throws -> UserID? { try text(name).map { try Identifiers.user($0) } }

    func device() throws -> String? { try text("device").map { try Identifiers.device($0) } }

    func object(_ name: Name) throws -> [AttributeValue.Member]? {
        guard let value = present(name) else { return nil }
        guard case .object(let members) = value else { throw APIError.invalid(name.text, "must be an object") }
        return members
    }

    func array(_ name: Name) throws -> [AttributeValue]? {
        guard let value = present(name) else { return nil }
        guard case .array(let values) = value else { throw APIError.invalid(name.text, "must be an array") }
        return values
    }
}
