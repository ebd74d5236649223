internal import ProfileLogRequests

/// A member of a body that is not known and is a few letters away from one that is: it has no effect, and the answer
/// says so. Members that are near to none are ignored: a newer client may send them.
struct Misspelling: Hashable, Sendable {
    /// The member as it was sent, with its place, as in `subscription_groups[0].email_`; nil if the answer is not to
    /// name it.
    var member: String?
    /// The value that was probably meant.
    var meant: String

    /// A clause for `dropped`.
    var reason: String { "is not known: did you mean '\(meant)'?" }

    /// Returns the names in `object`, at `place`. A value is meant for one of the `known` members that are missing; a
    /// list or an object, which may be more of the same, also for one that is there.
    static func all(in object: AttributeValue, among known: [String], at place: String = "") -> [Misspelling] {
        guard case .object(let members) = object else { return [] }
        let given = Set(members.map(\.key.text))
        return members.compactMap { member in
            let key = member.key.text
            guard !known.contains(key), member.value != .null else { return nil }
            let candidates = member.value.isContainer ? known : known.filter { !given.contains($0) }
            guard let meant = NearestNames(to: key, among: candidates, within: 5).close.first else { return nil }
            let shown = key.shown
            return Misspelling(member: place.isEmpty ? shown : "\(place).\(shown)", meant: meant)
        }
    }

    /// Returns the names in the list `key` of `object` that are near to one of the `known` ones.
    static func names(in object: AttributeValue, _ key: Name, among known: [String]) -> [Misspelling] {
        (object.present(key)?.asArray ?? []).compactMap { value -> Misspelling? in
            guard let name = value.asText, !known.contains(name),
                let meant = NearestNames(to: name, among: known, within: 5).close.first
            else { return nil }
            return Misspelling(member: "\(key).\(name.shown)", meant: meant)
        }
    }
}

extension AttributeValue {
    fileprivate var isContainer: Bool {
        switch self {
        case .array, .object: true
        default: false
        }
    }
}

extension APIRequest {
    /// The misspelt members of `body`, which is that of this request. `more` are known too.
    func misspelt(in body: AttributeValue, _ more: String...) -> [Misspelling] {
        Misspelling.all(in: body, among: (inputs?.map(\.name) ?? []) + more)
    }
}

extension JSONWriter {
    /// `dropped`, unless all is empty: entries of lists, and misspelt members.
    mutating func dropped(
        _ entries: some Collection<(reason: String, array: String, index: Int)>, _ misspelt: [Misspelling] = []
    ) {
        if entries.isEmpty, misspelt.isEmpty { return }
        array("dropped") { json in
            for entry in entries { json.place("reason", entry.reason, entry.array, entry.index) }
            for each in misspelt { json.object { $0.write(each) } }
        }
    }

    /// `dropped`, unless all is empty: fields, and misspelt members.
    mutating func dropped(fields: [(reason: String, field: String)], _ misspelt: [Misspelling]) {
        let all = fields + misspelt.map { ($0.reason, $0.member ?? "") }
        if all.isEmpty { return }
        objects("dropped", all) { json, drop in
            json.member("reason", drop.reason)
            json.member("field", drop.field)
        }
    }

    /// Writes the members of an entry of `dropped`.
    mutating func write(_ misspelling: Misspelling) {
        member("reason", misspelling.reason)
        member("field", misspelling.member)
    }
}

extension BrazeAPI {
    /// Explains a missing member by a misspelt name.
    package func explained(_ error: APIError, _ request: APIRequest) -> APIError {
        guard error.status == 400, request.method == .post, let body = try? BodyObject.read(request.body),
            case let misspelt = request.misspelt(in: body), !misspelt.isEmpty
        else { return error }
        let fits = misspelt.first { $0.meant == error.place } ?? (error.place == nil ? misspelt[0] : nil)
        guard let fits, let member = fits.member, !error.remedy.contains("'\(member)'") else { return error }
        var error = error
        error.remedy = "'\(member)' \(fits.reason)"
        return error
    }
}
