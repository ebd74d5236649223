internal import ProfileLogRequests

/// `GET /v1/history` and `/v1/events`.
struct HistoryEndpoints {
    let log: LogReader

    private static let mostEvents = 10_000
    private static let standardEvents = 100
    /// The same for events without their values.
    private static let mostTimes = 100_000
    private static let standardTimes = 10_000
    /// An answer ends early when it has so many bytes; `more` says that it did.
    private static let mostBytes = 8 << 20
    /// Events that are read at once.
    private static let chunk = 256

    // MARK: - One user

    func history(_ request: APIRequest) throws -> APIAnswer {
        var query = Query(request)
        let id = try Identifiers.user(query.requiredText("user"))
        let from = try query.number("from", 1 ... .max, standard: 1)
        let to = try query.number("to", 1 ... .max, standard: .max)
        let backward = try query.flag("reverse")
        let isTimes = try query.choice("parts", "must be times, or be omitted") { $0 == "times" ? true : nil } ?? false
        let limit = try query.limit(
            standard: isTimes ? Self.standardTimes : Self.standardEvents,
            most: isTimes ? Self.mostTimes : Self.mostEvents)
        var filter = try query.filter(now: log.options.now())
        let launch = try query.launch("launch")
        let isMerged = try query.flag("merged")
        let after = try query.number("after", 1 ... .max - 1, standard: 0)
        try query.end()
        guard isMerged || after == 0 else {
            throw APIError.invalid("after", "belongs to `merged`", remedy: "Send `from` or `to`, or `merged=true`.")
        }
        guard from <= to else { throw APIError.invalid("from", "must not be greater than `to`") }
        guard let user = try log.users.user(meantBy: id) ?? log.users.findErased(id) else {
            throw try log.users.unknownUser(id)
        }
        if let launch {
            let read = try APIError.resolving("launch") { try log.past.launch(launch, of: user.number) }
            filter.positions = Set([read.launch.position] + read.flushes.flatMap { [$0.position] + $0.takes })
        }
        if let field = filter.field { try refuseUnknown(field, of: user) }
        let note = ListNote("events of the user", request).namingOfEvents()
        if isMerged, from > 1 || to < .max {
            throw APIError.invalid(
                from > 1 ? "from" : "to", "counts one user's events, and `merged` has those of several",
                remedy: "Send `after`, a position.")
        }
        if isTimes {
            let damage = DamageList()
            let found = try log.events.times(
                of: user.number, versions: from...to, merged: isMerged,
                after: after > 0 ? Position(rawValue: after) : nil, direction: backward ? .backward : .forward,
                limit: limit, where: filter, skipping: { damage.noteEvent($0, $1) })
            return try times(found, of: user, filter, note, damage)
        }
        if isMerged { return try life(of: user, after: after, backward, limit, filter, note) }
        return try ownEvents(of: user, from...to, backward, limit, filter, note)
    }

    /// Events without their values, as columns.
    private func times(
        _ found: (events: [EventTimes], more: Bool), of user: UserInfo, _ filter: EventFilter, _ note: ListNote,
        _ damage: DamageList
    ) throws -> APIAnswer {
        var events = EventJSON(log: log)
        return try APIAnswer.ok(version: user.version) { json in
            json.member("user", user)
            json.member("version", user.version.rawValue)
            try EventColumns(found.events).write(in: log, to: &json)
            json.member("more", found.more)
            if found.events.isEmpty { try writeReasonOfNothing(filter, user, note, &events, to: &json) }
            damage.write(to: &json)
        }
    }

    /// The events of the user alone, by versions.
    private func ownEvents(
        of user: UserInfo, _ versions: ClosedRange<UInt64>, _ backward: Bool, _ limit: Int, _ filter: EventFilter,
        _ note: ListNote
    ) throws -> APIAnswer {
        var (from, to) = (versions.lowerBound, min(versions.upperBound, user.version.rawValue))
        var events = EventJSON(log: log)
        var count = 0
        var more = false
        let damage = DamageList()
        // After the last event that was written: of this answer only if no other follows.
        var held: [(position: Position, error: StorageError)] = []
        return try APIAnswer.ok(version: user.version) { json in
            json.member("user", user)
            json.member("version", user.version.rawValue)
            try json.array("events") { json in
                while from <= to, !more {
                    let wanted = min(Self.chunk, limit - count + 1)
                    let page = try log.events.history(
                        of: user.number, from: Version(rawValue: from), to: Version(rawValue: to),
                        direction: backward ? .backward : .forward, limit: wanted, where: filter,
                        skipping: { held.append(($0, $1)) })
                    for event in page {
                        if count == limit || json.bytes.count > Self.mostBytes {
                            more = true
                            break
                        }
                        while let next = held.first, backward == (next.position > event.position) {
                            damage.noteEvent(next.position, next.error)
                            held.removeFirst()
                        }
                        try events.write(event, showsVoid: true, listsItems: true, to: &json)
                        count += 1
                    }
                    guard page.count == wanted, let last = page.last else { break }
                    if backward { to = last.version.rawValue - 1 } else { from = last.version.rawValue + 1 }
                }
            }
            json.member("more", more)
            if count == 0 { try writeReasonOfNothing(filter, user, note, &events, to: &json) }
            if !more { for next in held { damage.noteEvent(next.position, next.error) } }
            damage.write(to: &json)
        }
    }

    /// As `history`, with the events of the users who were merged into this one, in the order of the log.
    private func life(
        of user: UserInfo, after: UInt64, _ backward: Bool, _ limit: Int, _ filter: EventFilter, _ note: ListNote
    ) throws -> APIAnswer {
        let damage = DamageList()
        var held: [(position: Position, error: StorageError)] = []
        let found = try log.events.life(
            of: user.number, asOf: user.version, after: after > 0 ? Position(rawValue: after) : nil,
            direction: backward ? .backward : .forward, limit: limit + 1, where: filter,
            skipping: { held.append(($0, $1)) })
        var events = EventJSON(log: log)
        return try APIAnswer.ok(version: user.version) { json in
            json.member("user", user)
            json.member("version", user.version.rawValue)
            var count = 0
            try json.array("events") { json in
                for event in found.prefix(limit) where json.bytes.count <= Self.mostBytes {
                    try events.write(event, showsVoid: true, to: &json)
                    count += 1
                }
            }
            json.member("more", count < found.count)
            if count == 0 { try writeReasonOfNothing(filter, user, note, &events, to: &json) }
            let last = found.prefix(count).last?.position
            for next in held where last.map({ backward == (next.position > $0) }) ?? true || count == found.count {
                damage.noteEvent(next.position, next.error)
            }
            damage.write(to: &json)
        }
    }

    /// Says why no event passes: `note`, and of a filter by name `misses`.
    private func writeReasonOfNothing(
        _ filter: EventFilter, _ user: UserInfo, _ note: ListNote, _ events: inout EventJSON,
        to json: inout JSONWriter
    ) throws {
        var text = try note.text(isEmpty: true, in: log) ?? ""
        defer { json.member("note", text) }
        guard let name = filter.name else { return }
        let finder = NearMisses(log: log)
        let misses = try [NearMisses.Subject.event(name), .product(name), .field(name)].flatMap {
            try finder.of($0, user)
        }
        try events.write(Array(misses.suffix(NearMisses.most)), to: &json)
        var names: Set<Name> = []
        try log.events.forEachInLife(of: user.number, asOf: user.version, skipping: { _, _ in }) { event in
            names.formUnion(event.event.names)
            return true
        }
        let near = NearestNames(to: name.text, among: names.map(\.text).sorted()).close
        if let first = near.first, first != name.text, !text.hasSuffix("?") {
            text += " Did you mean \(first.shown)?"
        }
    }

    /// Refuses a field that no event of the user changes.
    private func refuseUnknown(_ field: Name, of user: UserInfo) throws {
        let filter = EventFilter(field: field)
        guard try log.events.history(of: user.number, limit: 1, where: filter).isEmpty else { return }
        let view = log.named(try log.profile(of: user.number))
        let fields = (view.attributes + view.customAttributes).map(\.name)
        // Of a merged user, the history is not in this one.
        if fields.contains(where: { field == $0 || field.text.hasPrefix($0.text + ".") }) { return }
        let misses = try NearMisses(log: log).of(.field(field), user)
        if let last = misses.last { throw APIError.noEffect(of: field.text, last, misses.count) }
        throw APIError.unknownField(field.text, among: fields.map(\.text))
    }

    // MARK: - The whole log

    private static let longestWait: UInt64 = 30

    /// Looks again until there is news, or for as long as the request says. Each look is of one view.
    static func events(_ request: APIRequest, _ log: EventLog) async throws -> APIAnswer {
        var query = Query(request)
        let after = try query.text("after").map { text in try HistoryCursor.read(text, "after") }
        let limit = try query.limit(standard: standardEvents, most: mostEvents)
        let wait = try query.number("wait_s", 0...longestWait, standard: 0)
        let isBackward = try query.flag("reverse")
        var user = try EventUser(&query)
        let filter = try query.filter(now: log.options.now())
        try query.end()
        guard wait == 0 || !isBackward else {
            throw APIError.invalid(
                "wait_s", "waits for new events, and `reverse` begins with the newest", remedy: "Omit one of them.")
        }
        let deadline = ContinuousClock.now + .seconds(Int64(wait))
        var (scanned, isAtEnd) = (after?.position, false)
        while true {
            let answer = try log.withReader { log -> APIAnswer? in
                try after?.check(log, "after")
                let walk = Walk(
                    direction: isBackward ? .backward : .forward, life: try user?.find(in: log), filter: filter,
                    limit: limit)
                var keys: AppendKeys? = AppendKeys()
                let page = try walk.page(beyond: scanned, in: log, upTo: chunk, &keys)
                // Cancelled when the service stops: then this answers at once with what there is.
                if page.events.isEmpty, ContinuousClock.now < deadline, !Task.isCancelled {
                    (scanned, isAtEnd) = (max(scanned ?? .start, page.scanned), walk.isOver(page))
                    return nil
                }
                let note = ListNote("events", request).namingOfEvents()
                return try HistoryEndpoints(log: log).answer(page, walk, keys, note)
            }
            if let answer { return answer }
            // Cancelled, it looks once more and answers.
            if isAtEnd {
                let end = scanned ?? .start
                _ = try? await RequestPhases.awaiting(.news, { try await log.wait(after: end, until: deadline) })
            }
        }
    }

    private typealias Page = (events: [RecordedEvent], scanned: Position, last: Position)

    /// The way in which a request goes through the log.
    private struct Walk {
        let direction: EventLog.Direction
        let life: MergedLife?
        let filter: EventFilter
        let limit: Int

        /// The next events beyond `position`, at most `most` of them.
        func page(
            beyond position: Position?, in log: LogReader, upTo most: Int, _ keys: inout AppendKeys?
        ) throws -> Page {
            try log.events.page(
                beyond: position, direction, of: life, limit: min(limit, most), where: filter, keys: &keys)
        }

        /// Tells whether nothing follows the page.
        func isOver(_ page: Page) -> Bool {
            direction == .forward ? page.scanned >= page.last : page.scanned.rawValue <= 1
        }
    }

    private func answer(_ first: Page, _ walk: Walk, _ keys: AppendKeys?, _ note: ListNote) throws -> APIAnswer {
        var (page, keys) = (first, keys)
        var events = EventJSON(log: log)
        var count = 0
        return try APIAnswer.ok { json in
            try json.array("events") { json in
                while true {
                    for event in page.events { try events.write(event, to: &json) }
                    count += page.events.count
                    let isFull = count >= walk.limit || json.bytes.count > Self.mostBytes
                    if isFull || page.events.isEmpty || walk.isOver(page) { break }
                    page = try walk.page(
                        beyond: page.scanned, in: log, upTo: min(walk.limit - count, Self.chunk), &keys)
                }
            }
            try json.store(log)
            json.member("scanned", page.scanned.rawValue)
            json.member("cursor", try log.cursor(at: page.scanned).description)
            json.member("last", page.last.rawValue)
            try json.note(note, isEmpty: count == 0 && walk.isOver(page), in: log)
        }
    }
}

/// The user whose events a request about the log asks for, with those of all who were merged into them.
struct EventUser: Sendable {
    private let id: UserID
    private var life: MergedLife?

    /// The one of the parameter `user`; nil without it.
    init?(_ query: inout Query) throws {
        guard let id = try query.user() else { return nil }
        self.id = id
    }

    /// Finds the user in `log`, and again with those who were merged since. One who was erased in
    /// between is still the same.
    mutating func find(in log: LogReader) throws -> MergedLife {
        guard let user = try log.users.user(meantBy: id) ?? log.users.findErased(id) else {
            if let life { return life }
            throw try log.users.unknownUser(id)
        }
        let found = try log.events.mergedLife(of: user.number, known: life)
        life = found
        return found
    }
}

// MARK: - The form of the answers

extension HistoryEndpoints {
    static let history: AnswerShape =
        [
            "user": .user, "version": .integer, "events?": [EventJSON.shape], "times?": EventColumns.shape,
            "more": .boolean, "note?": .text,
        ]
        + EventJSON.misses + DamageList.shape

    static let events: AnswerShape = [
        "events": [EventJSON.shape], "store": .text, "history": .text, "scanned": .integer, "cursor": .text,
        "last": .integer, "note?": .text,
    ]
}
