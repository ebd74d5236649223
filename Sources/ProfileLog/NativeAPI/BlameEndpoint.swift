internal import ProfileLogRequests

/// `GET /v1/blame`.
struct BlameEndpoint {
    let log: LogReader

    static let inputs: [EndpointInput] = [
        .required("user"), .init("field"), .init("as_of"), .init("log", .boolean), .init("after", .integer),
        .init("limit", .integer), .init("reverse", .boolean),
    ]

    private static let mostWrites: UInt64 = 100_000

    func blame(_ request: APIRequest) throws -> APIAnswer {
        var query = Query(request)
        let id = try Identifiers.user(query.requiredText("user"))
        let field = try query.text("field")
        let asked = try query.recordedPast(now: log.options.now())
        let page = try Self.page(&query)
        try query.end()
        var user = try log.users.knownUser(meantBy: id, in: asked)
        if !asked.isPresent { user.version = try asked.version(of: user.number, log) }
        let past = try asked.history(of: user.number, log)
        // Later events are in neither answer.
        let (entries, counts) = try log.blameWithCounts(
            of: user.number, asOf: user.version, field: field, withLog: page != nil, page: page ?? BlamePage())
        let misses =
            try field.map { try NearMisses(log: log, past: past).of(NearMisses.Subject(blamed: $0), user) } ?? []
        if let field, entries.isEmpty, counts.isEmpty {
            throw try unknownField(field, user, misses, isPast: past != nil)
        }
        let note = ListNote("attributes, events or products of the user", request, past: asked)
        var events = EventJSON(log: log, past: past)
        return try APIAnswer.ok(version: user.version) { json in
            json.member("user", user)
            json.member("version", user.version.rawValue)
            try events.write(misses, to: &json)
            try json.note(note, isEmpty: entries.isEmpty && counts.isEmpty, in: log)
            try json.objects("fields", entries) { json, entry in
                json.member("field", entry.field)
                json.member("group", entry.isCustom ? "custom_attributes" : "attributes")
                json.member("value", entry.value.map(JSONValues.json) ?? .null)
                if entry.value == nil { json.member("removed", true) }
                try json.object("set") { try write(entry.write, user, &events, to: &$0) }
                if let previous = entry.previous {
                    json.object("previous") { json in
                        json.member("value", JSONValues.json(previous.value))
                        json.member("position", previous.position)
                    }
                }
                try writeLog(entry.log, entry.logPlace, page, to: &json) { json, one in
                    json.member("value", one.value.map(JSONValues.json) ?? .null)
                    try write(one, user, &events, to: &json)
                }
            }
            if let field, OccurrenceBlame.Subject(field) == nil { return }
            for (key, name, isProduct) in [("custom_events", "name", false), ("purchases", "product", true)] {
                try json.objects(key, counts.filter { $0.subject.isProduct == isProduct }) { json, count in
                    json.member(name, count.subject.name.text)
                    try write(count, page, user, &events, to: &json)
                }
            }
        }
    }

    /// The part of each log that is asked for; nil if none is.
    private static func page(_ query: inout Query) throws -> BlamePage? {
        let withLog = try query.flag("log")
        let after = try query.number("after", 0 ... .max - 1, standard: .max)
        let limit = try query.number("limit", 1...mostWrites, standard: .max)
        let isBackward = try query.flag("reverse")
        guard withLog else {
            let parts: [(name: String, isGiven: Bool)] = [
                ("after", after < .max), ("limit", limit < .max), ("reverse", isBackward),
            ]
            guard let wrong = parts.first(where: \.isGiven)?.name else { return nil }
            throw APIError.invalid(wrong, "belongs to `log`", remedy: "Send `log=true` too, or omit it.")
        }
        return BlamePage(
            after: after < .max ? Int(clamping: after) : nil, limit: Int(clamping: limit), isBackward: isBackward)
    }

    /// Writes the part of a log that is asked for, each entry by `write`, with its number.
    private func writeLog(
        _ log: [FieldWrite], _ place: BlamePage.Place?, _ page: BlamePage?, to json: inout JSONWriter,
        _ write: (inout JSONWriter, FieldWrite) throws -> Void
    ) throws {
        guard let page, let place else { return }
        try json.objects("log", log.enumerated()) { json, one in
            json.member("number", page.isBackward ? place.first - one.offset : place.first + one.offset)
            try write(&json, one.element)
        }
        json.member("log_total", place.total)
        json.member("log_more", place.hasMore)
    }

    /// Writes a count and who raised it, as members.
    private func write(
        _ blame: OccurrenceBlame, _ page: BlamePage?, _ user: UserInfo, _ events: inout EventJSON,
        to json: inout JSONWriter
    ) throws {
        json.member("count", blame.count)
        json.member("first", blame.first)
        json.member("last", blame.last)
        try json.object("set") { try write(blame.write, user, &events, to: &$0) }
        try writeLog(blame.log, blame.logPlace, page, to: &json) { json, one in
            json.member("count", one.value ?? .null)
            try write(one, user, &events, to: &json)
        }
    }

    /// Writes who wrote a value, as members.
    func write(
        _ write: FieldWrite, _ user: UserInfo, _ events: inout EventJSON, to json: inout JSONWriter
    ) throws {
        let event = write.event
        json.member("position", event.position)
        json.member("version", event.version.rawValue)
        json.member("kind", event.event.kind.name)
        json.member("how", event.event.kind.timing)
        json.member("at", event.occurredAt)
        json.member("recorded_at", event.recordedAt)
        json.member("late_s", event.seconds(until: event.recordedAt))
        if let effect = write.effect, effect != event.position { json.member("effect", effect) }
        if let launch = write.launch { json.member("launch", launch) }
        ContentJSON.writeOrigin(event.context, to: &json)
        json.member("key", write.request)
        if event.user != user.number {
            json.member("of_user", try events.id(of: event.user))
            json.member("of_user_number", event.user.rawValue)
        }
        if let merge = write.merge { json.member("merge", merge) }
        if let void = write.void { json.member("voided_by", void) }
    }

    /// Status 404: the user never had `field`, or every update of it was refused or still waits.
    private func unknownField(
        _ field: String, _ user: UserInfo, _ misses: [NearMiss], isPast: Bool
    ) throws -> APIError {
        if let last = misses.last { return .noEffect(of: field, last, misses.count) }
        let profile = log.named(try log.profile(of: user.number, asOf: user.version))
        let events = profile.customEvents.map { OccurrenceBlame.Subject.event($0.name) }
        let products = profile.purchases.map { OccurrenceBlame.Subject.product($0.name) }
        let attributes = Set((profile.attributes + profile.customAttributes).map(\.name.text)).sorted()
        let (what, things, names) =
            switch OccurrenceBlame.Subject(field) {
            case .event(let name): ("a custom event \(name.text.shown)", "events", events.map(\.text))
            case .product(let name): ("a product \(name.text.shown)", "products", products.map(\.text))
            case nil: ("an attribute \(field.shown)", "attributes", attributes)
            }
        let nearest = NearestNames(to: field, among: names)
        let called = (events + products).first { $0.name == Name(field) }?.text
        let guess = (called ?? nearest.close.first).map { "Did you mean \($0)? " } ?? ""
        let known =
            names.isEmpty
            ? "The profile \(isPast ? "had" : "has") no \(things)."
            : "It \(isPast ? "had" : "has") \(nearest.all.prefix(20).joined(separator: ", "))."
        return APIError(
            status: 404, code: "unknown_field",
            error: isPast ? "By then the user had never had \(what)." : "The user never had \(what).",
            remedy: guess + known, place: "field")
    }
}

extension NearMisses.Subject {
    /// Reads the subject of a blame: an attribute, an event or a product.
    fileprivate init(blamed field: String) {
        switch OccurrenceBlame.Subject(field) {
        case .event(let name): self = .event(name)
        case .product(let name): self = .product(name)
        case nil: self = .field(Name(field))
        }
    }
}

extension OccurrenceBlame.Subject {
    fileprivate var isProduct: Bool { if case .product = self { true } else { false } }
}

extension EventKind {
    /// The way in which a fact of a profile came: `saved` on a device, `queued` in an SDK, or `logged`; nil for other
    /// events.
    fileprivate var timing: String? {
        guard case .content(_, let timing) = role else { return nil }
        return "\(timing)"
    }
}

// MARK: - The form of the answer

extension BlameEndpoint {
    static let write: AnswerShape =
        [
            "position": .integer, "version": .integer, "kind": .text, "how?": .text, "at": .time, "recorded_at": .time,
            "late_s": .number, "effect?": .integer, "launch?": .integer,
        ] + EventJSON.origin
        + ["key?": .text, "of_user?": .text, "of_user_number?": .integer, "merge?": .integer, "voided_by?": .integer]

    /// The log of one value or count.
    private static func logShape(_ value: String) -> AnswerShape {
        [
            "log?": [["number": .integer, value: .any] + write], "log_total?": .integer, "log_more?": .boolean,
        ]
    }

    private static let field: AnswerShape =
        [
            "field": .text, "group": .text, "value": .any, "removed?": .boolean, "set": write,
            "previous?": ["value": .any, "position": .integer],
        ] + logShape("value")

    private static let count: AnswerShape =
        ["count": .integer, "first": .orNull(.time), "last": .orNull(.time), "set": write] + logShape("count")

    static let shape: AnswerShape =
        EventJSON.misses + [
            "user": .user, "version": .integer, "note?": .text,
            "fields": [field],
            "custom_events?": [["name": .text] + count], "purchases?": [["product": .text] + count],
        ]
}
