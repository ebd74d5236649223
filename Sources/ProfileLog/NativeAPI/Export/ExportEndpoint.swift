internal import ProfileLogRequests
internal import Synchronization

/// `GET /v1/export`: the events or the profiles of one moment, for analysis. In pages as JSON, or as one stream of
/// text.
///
/// Erased persons are in no page. A page that is read after another one is as of the same position, so pages fit
/// together whatever is stored between them.
struct ExportEndpoint: Sendable {
    let store: RequestStore
    let voids: VoidsAsOf

    static let inputs: [EndpointInput] =
        [
            .required("what"), .init("as_of"), .init("order"), .init("until"), .init("time"), .init("where"),
            .init("after", .integer),
            .init("limit", .integer), .init("began"), .init("format"),
        ] + filters.map { EndpointInput($0) }
    private static let filters = ["kind", "name", "field", "device", "since", "before"]

    private static let standardRows = 1_000
    private static let mostRows = 10_000

    func export(_ request: APIRequest) async throws -> APIAnswer {
        var query = Query(request)
        let what = try query.requiredText("what")
        let asked = try query.past(now: store.log.options.now())
        let until = try query.time("until")
        let pinned = try query.time("time")
        let filter = try query.filter(now: store.log.options.now(), asked.order)
        let condition = try query.text("where")
        let after = try query.number("after", 0 ... .max - 1, standard: 0)
        let limit = try query.limit(standard: Self.standardRows, most: Self.mostRows)
        let began = try query.text("began").map { try HistoryCursor.read($0, "began") }
        let format = try query.text("format")
        try query.end()
        let table = try ExportTable(what)
        let others = table.kind == .events ? ["where"] : Self.filters
        if let other = request.query.first(where: { others.contains($0.name) })?.name {
            throw APIError.invalid(other, "is not for \(what)", remedy: "Omit it.")
        }
        @Sendable func begin(_ log: LogReader) throws -> ExportReader {
            // All earlier pages are of events up to there.
            try began?.check(log, "began", mayBeBeyond: true)
            var past = try asked.wholeHistory(log)
            if let until {
                guard past.order == .occurred else { throw APIError.invalid("until", "belongs to `order=occurred`") }
                past = PastHistory(to: past.position, until: min(until, past.until ?? until))
            }
            let time = try pinned ?? asked.time(at: past.position, log)
            var reader = ExportReader(table: table, past: past, time: time, voids: voids)
            (reader.after, reader.filter) = (after, filter)
            reader.condition = try condition.map { try Condition(whereParameter: $0, log) }
            return reader
        }
        if let format {
            var answer = APIAnswer(status: 200, body: [])
            let reader = try store.read(begin)
            answer.stream = ExportText(reader, of: store.log, try ExportText.Format(parameter: format))
            return answer
        }
        let note = ListNote(what, request, past: asked).namingOfEvents()
        return try await store.readSlowly { log in
            try Self.page(begin(log), table, limit: limit, began: began, note, log)
        }
    }

    private static func page(
        _ begun: ExportReader, _ table: ExportTable, limit: Int, began: HistoryCursor?, _ note: ListNote,
        _ log: LogReader
    ) throws -> APIAnswer {
        var reader = begun
        reader.damage = DamageList()
        let last = try log.lastPosition()
        let isOutdated = try began.map { try $0.position < last && log.events.hasErasure(after: $0.position) } ?? false
        return try APIAnswer.ok { json in
            var count = 0
            try json.array("rows") { count = try reader.read(limit: limit, log, to: &$0) }
            json.member("what", table.name)
            try json.store(log)
            json.member("as_of", reader.past.position.rawValue)
            // The largest is no time that could be written.
            if let until = reader.past.until, until.rawValue < .max { json.member("until", until) }
            json.member("time", reader.time)
            json.member("position", last.rawValue)
            json.member("cursor", try log.cursor(at: last).description)
            json.member("next", reader.after)
            json.member("total", try reader.total(log))
            json.member("more", !reader.isAtEnd)
            json.member("outdated", isOutdated)
            try json.note(note, isEmpty: count == 0 && reader.isAtEnd, in: log)
            reader.damage?.write(to: &json)
        }
    }
}

/// The void events of the last moment that was asked for: all pages of an export have the same one.
final class VoidsAsOf: Sendable {
    private let known = Mutex<(position: Position, voided: VoidedEvents)?>(nil)

    func voided(_ position: Position, _ log: LogReader) throws -> VoidedEvents {
        if let known = known.withLock({ $0 }), known.position == position { return known.voided }
        let voided = try log.past.voided(asOf: position)
        known.withLock { $0 = (position, voided) }
        return voided
    }
}

/// Reads the rows of an export, from where it is.
struct ExportReader: Sendable {
    let table: ExportTable
    let past: PastHistory
    /// The time that windows and spans count from.
    let time: Timestamp
    private let voids: VoidsAsOf
    var filter = EventFilter()
    var condition: Condition?
    /// The position of the last event, or the number of the last user, that was looked at.
    var after: UInt64 = 0
    private(set) var isAtEnd = false
    private var merges = PastMerges()
    /// The damage that was skipped; nil to throw at the first damage, where an answer has no place to say so.
    var damage: DamageList?

    /// Events that are read at once.
    private static let chunk = 256
    /// Records that are looked at for them.
    private static let mostScanned: UInt64 = 100_000
    /// A page ends early when it has so many bytes.
    private static let mostBytes = 4 << 20
    /// Users that one page looks at: it may be short although more follow.
    private static let mostUsers: UInt64 = 100_000

    init(table: ExportTable, past: PastHistory, time: Timestamp, voids: VoidsAsOf) {
        (self.table, self.past, self.time, self.voids) = (table, past, time, voids)
    }

    private var asOf: Position { past.position }

    /// The value that `after` has at the end.
    func total(_ log: LogReader) throws -> UInt64 {
        switch table.kind {
        case .events: asOf.rawValue
        case .profiles: try log.users.count()
        }
    }

    /// Writes up to `limit` rows as elements of an array, and moves on. Returns how many it wrote.
    @discardableResult
    mutating func read(limit: Int, _ log: LogReader, to json: inout JSONWriter) throws -> Int {
        switch table.kind {
        case .events: try readEvents(limit, log, &json)
        case .profiles: try readProfiles(limit, log, &json)
        }
    }

    // MARK: - Events

    private mutating func readEvents(_ limit: Int, _ log: LogReader, _ json: inout JSONWriter) throws -> Int {
        var events = EventJSON(log: log, voided: try voids.voided(asOf, log))
        var profiles: [UserNumber: UserNumber?] = [:]
        var count = 0
        while count < limit, after < asOf.rawValue, json.bytes.count < Self.mostBytes {
            let from = Position(rawValue: after).next
            let page = try log.events.page(
                from: from, limit: min(Self.chunk, limit - count), where: filter,
                scanLimit: Int(min(Self.mostScanned, asOf.rawValue - after)), skipping: damage?.noteEvent)
            for event in page.events
            where !event.isErased && past.has(event.position, event.occurredAt.timestamp) {
                let profile: UserNumber?
                do {
                    profile = try profiles[event.user] ?? self.profile(of: event.user, log)
                } catch let error as StorageError {
                    guard case .damaged = error, let damage else { throw error }
                    damage.noteEvent(event.position, error)
                    continue
                }
                profiles[event.user] = profile
                try events.write(event, showsVoid: true, ofProfile: profile, to: &json)
                count += 1
            }
            after = page.scanned.rawValue
        }
        isAtEnd = after >= asOf.rawValue
        return count
    }

    /// The canonical user at that moment; nil for the events of no user.
    private mutating func profile(of user: UserNumber, _ log: LogReader) throws -> UserNumber? {
        user == .system ? nil : try log.past.canonicalUser(of: user, in: past, &merges)
    }

    // MARK: - Profiles

    private struct IsFull: Error {}

    private mutating func readProfiles(_ limit: Int, _ log: LogReader, _ json: inout JSONWriter) throws -> Int {
        let total = try log.users.count()
        let end = min(total, after + min(Self.mostUsers, .max - after))
        let profiles = ProfileJSON(log: log)
        let traits = TraitReader(log, in: past, at: time)
        var (count, last) = (0, end)
        do {
            _ = try log.users.forEachProfile(
                after: UserNumber(rawValue: after), through: UserNumber(rawValue: end), in: past, withUsage: false,
                skipping: damage?.noteUser
            ) { user, createdAt, state, _ in
                if let condition {
                    let subject = ProfileSubject(user, state, createdAt: createdAt, traits: traits, in: log)
                    guard try condition.accepts(subject, at: time) else { return }
                }
                // Damage that the traits meet leaves no half of a row.
                var row = JSONWriter()
                try row.object { json in
                    profiles.write(user, to: &json)
                    try profiles.write(state, createdAt: createdAt, to: &json)
                    try profiles.write(traits: traits, of: user.number, state, to: &json)
                }
                json.value(written: row)
                count += 1
                if count == limit || json.bytes.count > Self.mostBytes {
                    last = user.number.rawValue
                    throw IsFull()
                }
            }
        } catch is IsFull {}
        after = last
        isAtEnd = after >= total
        return count
    }
}

// MARK: - The form of a page

extension ExportEndpoint {
    static let shape: AnswerShape =
        [
            "rows": [.either([EventJSON.shape, ProfileJSON.row])], "what": .text, "store": .text, "history": .text,
            "as_of": .integer, "until?": .time, "note?": .text, "time": .time, "position": .integer, "cursor": .text,
            "next": .integer, "total": .integer, "more": .boolean, "outdated": .boolean,
        ] + DamageList.shape
}
