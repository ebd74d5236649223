internal import ProfileLogRequests

/// `GET /v1/users?prefix=…`: who is known by an identifier or address that begins with a text.
struct PrefixSearch {
    private let search: IdentifierSearch
    private let after: IdentifierPlace?
    private let limit: Int
    private let note: ListNote

    private static let mostUsers = 1_000
    /// As `Identifiers.user`.
    private static let mostBytes = 3 * Limits.bytesPerIdentifier + 16

    /// Reads the other parameters of a request with this `prefix`.
    init(_ prefix: String, _ query: inout Query, _ request: APIRequest) throws {
        guard prefix.utf8.count <= Self.mostBytes else {
            throw APIError.invalid("prefix", "must have at most \(Limits.bytesPerIdentifier) bytes")
        }
        for name in ["after", "as_of", "count", "order", "where"] where try query.text(name) != nil {
            throw APIError.invalid(
                name, "does not go with `prefix`, which lists who is known by an identifier now",
                remedy: "Send `cursor`, `limit` and `reverse` with it, or omit `prefix`.")
        }
        let search = IdentifierSearch(prefix, isReversed: try query.flag("reverse"))
        after = try query.text("cursor").map { cursor in
            guard let place = IdentifierPlace(cursor: cursor), search.includes(place) else {
                throw APIError.invalid(
                    "cursor", "must be the `cursor` of an answer to the same `prefix`",
                    remedy: "Send it unchanged, or omit it for the first page.")
            }
            return place
        }
        limit = try query.limit(standard: 100, most: Self.mostUsers)
        try query.end()
        self.search = search
        note = ListNote("users", request)
    }

    func answer(_ log: LogReader) throws -> APIAnswer {
        let damage = DamageList()
        let page = try log.identifiers.page(search, after: after, limit: limit, skipping: damage.noteUser)
        return try APIAnswer.ok { json in
            json.objects("users", page.found) { json, found in
                json.member("matched", found.id.description)
                json.member("kind", found.id.kind.name)
                json.member("number", found.user.number.rawValue)
                json.member("id", found.user.id.description)
                json.member("braze_id", found.user.brazeID)
                json.member("version", found.user.version.rawValue)
            }
            json.member("total", try log.users.count())
            json.member("more", page.next != nil)
            json.member("cursor", page.next?.cursor)
            if page.isCut {
                json.member("note", Self.cut)
            } else {
                try json.note(note, isEmpty: page.found.isEmpty && page.next == nil, in: log)
            }
            damage.write(to: &json)
        }
    }

    private static let cut =
        "Of an address \(IdentifierReader.mostHolders) users are looked at, and \(IdentifierReader.mostLabels) labels "
        + "of aliases; there are more. `where` finds all users with an address, `prefix=alias:LABEL:` the aliases of a "
        + "label."
}

// MARK: - The form of the answers

extension PrefixSearch {
    static let user: AnswerShape = .named(
        "FoundUser",
        [
            "matched": .text, "kind": .text, "number": .integer, "id": .text, "braze_id": .text, "version": .integer,
        ])
}
