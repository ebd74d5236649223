internal import ProfileLogRequests

/// `GET /v1/diff`.
struct DiffEndpoint {
    let log: LogReader

    private static let mostUsers = 1_000
    private static let standardUsers = 100
    /// A page ends early when it has so many bytes; `more` says that it did.
    private static let mostBytes = 8 << 20

    func diff(_ request: APIRequest) throws -> APIAnswer {
        var query = Query(request)
        let id = try query.user()
        let (a, b) = (try query.requiredText("a"), try query.text("b") ?? "now")
        let order = try query.order()
        let after = UserNumber(rawValue: try query.number("after", 0 ... .max - 1, standard: 0))
        let limit = try query.limit(standard: Self.standardUsers, most: Self.mostUsers)
        try query.end()
        let now = log.options.now()
        let earlier = AskedPast(try Query.moment(a, "a", now: now), order, at: "a")
        let later = AskedPast(try Query.moment(b, "b", now: now), order, at: "b")
        if let id {
            let user = try log.users.pastUser(meantBy: id, in: earlier) ?? log.users.knownUser(meantBy: id, in: later)
            return try diff(of: user, earlier, later, ListNote("changes", request, none: "Nothing differs."))
        }
        let note = ListNote("users who changed", request, none: "No user changed between the two moments.")
        return try diffOfAll(earlier, later, after: after, limit: limit, note)
    }

    private func diff(
        of user: UserInfo, _ earlier: AskedPast, _ later: AskedPast, _ note: ListNote
    ) throws -> APIAnswer {
        let before = try profile(of: user, earlier)
        let after = try profile(of: user, later)
        // Says why.
        if before == nil, after == nil { _ = try later.profile(of: user.number, log) }
        let changes = log.changes(from: before, to: after ?? ProfileProjection.initial)
        return try APIAnswer.ok(version: user.version) { json in
            json.member("user", user)
            for (key, state) in [("a", before), ("b", after)] {
                json.object(key) { json in
                    json.member("version", state?.version.rawValue ?? 0)
                    json.member("position", state?.lastPosition ?? .start)
                }
            }
            json.changes(changes)
            json.member("note", try earlier.note(log) ?? note.text(isEmpty: changes.isEmpty, in: log))
        }
    }

    /// The profile at `moment`, after a merge that of the canonical user; nil if the user was not there yet.
    private func profile(of user: UserInfo, _ asked: AskedPast) throws -> ProfileState? {
        try APIError.resolving(asked.place) {
            do {
                var number = user.number
                switch asked.moment {
                case .version: break
                case .now, .position, .time, nil:
                    number = try log.past.canonicalUser(of: number, in: asked.wholeHistory(log))
                }
                return try log.past.profile(of: number, asOf: asked.moment ?? .now, order: asked.order)
            } catch MomentError.beforeUser {
                return nil
            }
        }
    }

    private func diffOfAll(
        _ earlier: AskedPast, _ later: AskedPast, after: UserNumber, limit: Int, _ note: ListNote
    ) throws -> APIAnswer {
        let (from, to) = (try earlier.wholeHistory(log), try later.wholeHistory(log))
        let happensLater = if let from = from.until, let to = to.until { from > to } else { false }
        guard from.position <= to.position, !happensLater else {
            throw APIError.invalid("a", "must not be later than `b`")
        }
        var (count, created, more) = (0, 0, false)
        let damage = DamageList()
        // After the last user that was written: of this answer only if no other follows.
        var held: [(user: UserNumber, error: StorageError)] = []
        func noteHeld() {
            for next in held { damage.noteUser(next.user, next.error) }
            held = []
        }
        return try APIAnswer.ok { json in
            json.member("a", from.position)
            json.member("b", to.position)
            try json.array("users") { json in
                try log.past.forEachChangedUser(
                    after: after, from: from, to: to, skipping: { held.append(($0, $1)) }
                ) { user, before, after in
                    let changes = log.changes(from: before, to: after)
                    if changes.isEmpty { return true }
                    if count == limit || json.bytes.count > Self.mostBytes {
                        more = true
                        return false
                    }
                    noteHeld()
                    json.object { json in
                        json.member("user", user)
                        json.member("created", before == nil)
                        json.changes(changes)
                    }
                    count += 1
                    if before == nil { created += 1 }
                    return true
                }
            }
            json.member("changed", count)
            json.member("created", created)
            json.member("more", more)
            if !more { noteHeld() }
            damage.write(to: &json)
            json.member("note", try earlier.note(log) ?? note.text(isEmpty: count == 0, in: log))
        }
    }
}

extension JSONWriter {
    /// Writes the member `changes`. A change has no `before` or `after` if the field had no value.
    mutating func changes(_ changes: [FieldChange]) {
        objects("changes", changes) { json, change in
            json.member("group", change.group.rawValue)
            json.member("field", change.field)
            if change.path.count > 1 { json.array("path", change.path) { $0.value($1.text) } }
            if let before = change.before { json.member("before", JSONValues.json(before)) }
            if let after = change.after { json.member("after", JSONValues.json(after)) }
            if let position = change.position { json.member("position", position) }
        }
    }
}

extension DiffEndpoint {
    static let changes: AnswerShape = [
        .named(
            "Change",
            [
                "group": .text, "field": .text, "path?": [.text], "before?": .any, "after?": .any,
                "position?": .integer,
            ])
    ]

    private static let side: AnswerShape = ["version": .integer, "position": .position]

    private static let ofUser: AnswerShape = .named(
        "UserDifference", ["user": .user, "a": side, "b": side, "changes": changes, "note?": .text])

    private static let ofAll: AnswerShape = .named(
        "StoreDifference",
        [
            "a": .position, "b": .position,
            "users": [["user": .orNull(.user), "created": .boolean, "changes": changes]], "changed": .integer,
            "created": .integer, "more": .boolean, "note?": .text,
        ] + DamageList.shape)

    static let shape: AnswerShape = .either([ofUser, ofAll])
}
