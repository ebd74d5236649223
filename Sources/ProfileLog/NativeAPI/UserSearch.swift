internal import ProfileLogRequests
internal import Synchronization

/// `GET /v1/users?where=…`: the users who pass a condition (docs/where.md), now or as of an earlier moment.
struct UserSearch: Sendable {
    private let condition: Condition
    private let past: PastHistory?
    private let note: ListNote?
    /// The time for the condition: the present, or the time of the moment.
    private let now: Timestamp
    private let after: UserNumber
    private let limit: Int
    private let isCount: Bool

    /// Users that one answer looks at: it may be short although more follow.
    private static let mostScanned: UInt64 = 100_000

    /// Returns nil for a request that asks for no condition and no count.
    init?(
        _ query: inout Query, after: UserNumber, limit: Int, _ asked: AskedPast, _ note: ListNote, _ log: EventLog
    ) throws {
        (self.after, self.limit) = (after, limit)
        let text = try query.text("where")
        isCount = try query.flag("count")
        guard text != nil || isCount else { return nil }
        past = try asked.history(log)
        self.note = note
        condition = try text.map { try Condition(whereParameter: $0, log) } ?? .everybody
        now = try asked.time(at: past?.position ?? .start, log)
    }

    /// All who pass now.
    init(_ condition: Condition, _ log: EventLog) {
        (self.condition, past, note, now) = (condition, nil, nil, log.options.now())
        (after, limit, isCount) = (UserNumber(rawValue: 0), .max, false)
    }

    private struct IsFull: Error {}

    func answer(_ log: EventLog) throws -> APIAnswer {
        let total = try past.map { try log.userCount(in: $0) } ?? log.userCount()
        let damage = DamageList()
        if isCount {
            var count: UInt64 = 0
            try forEach(log, skipping: damage.noteUser) { _ in count += 1 }
            return try APIAnswer.ok { json in
                json.member("count", count)
                json.member("total", total)
                json.member("note", try note?.text(isEmpty: count == 0))
                damage.write(to: &json)
            }
        }
        var scanned = min(total, after.rawValue + min(Self.mostScanned, .max - after.rawValue))
        return try APIAnswer.ok { json in
            json.key("users")
            json.beginArray()
            var found = 0
            do {
                try forEach(through: UserNumber(rawValue: scanned), log, skipping: damage.noteUser) { user in
                    json.object { $0.members(ofUser: user) }
                    found += 1
                    if found == limit {
                        scanned = user.number.rawValue
                        throw IsFull()
                    }
                }
            } catch is IsFull {}
            json.endArray()
            json.member("scanned", scanned)
            json.member("total", total)
            json.member("more", scanned < total)
            json.member("note", try note?.text(isEmpty: found == 0 && scanned >= total))
            damage.write(to: &json)
        }
    }

    /// Users that one thread looks at between two answers, at first: a page is often full after a few.
    private static let fewestTogether: UInt64 = 256
    private static let mostTogether: UInt64 = 16_384
    /// Threads at most: a search must leave some of a large machine to others.
    private static let mostThreads = 4

    /// Calls `body` with the users who pass, in order, all as of one position, whatever is appended during it. Several
    /// threads look at parts of the users at once. `skipping` gets each user with damage; nil to throw at the first.
    func forEach(
        through end: UserNumber = UserNumber(rawValue: .max), _ log: EventLog,
        skipping: ((UserNumber, StorageError) -> Void)? = nil, _ body: (UserInfo) throws -> Void
    ) throws {
        let past = try past ?? PastHistory(to: log.lastPosition())
        let end = min(end.rawValue, try log.userCount())
        guard after.rawValue < end else { return }
        if condition.readsTraits {
            // One reader, as it finds out that many users are asked for, and then reads the log once for all.
            return try forEach(in: after.rawValue..<end, past, log, skipping: skipping, body)
        }
        let threads = UInt64(min(processorCount, Self.mostThreads))
        var (next, length) = (after.rawValue, Self.fewestTogether)
        while next < end {
            let parts = (0..<threads).map { min(next + $0 * length, end)..<min(next + ($0 + 1) * length, end) }
            for part in found(in: parts.filter { !$0.isEmpty }, past, skips: skipping != nil, log) {
                var damaged = part.damaged[...]
                for user in part.users {
                    while let next = damaged.first, next.user < user.number {
                        skipping?(next.user, next.error)
                        damaged.removeFirst()
                    }
                    try body(user)
                }
                for next in damaged { skipping?(next.user, next.error) }
                if let error = part.error { throw error }
            }
            next = min(next + threads * length, end)
            length = min(length * 4, Self.mostTogether)
        }
    }

    /// The users who pass in a part of all users, as far as the store could be read.
    private struct Found {
        var users: [UserInfo] = []
        var damaged: [(user: UserNumber, error: StorageError)] = []
        var error: (any Error)?
    }

    private func found(
        in parts: [Range<UInt64>], _ past: PastHistory, skips: Bool, _ log: EventLog
    ) -> [Found] {
        let results = Mutex([Found](repeating: Found(), count: parts.count))
        @Sendable func look(_ index: Int) {
            var found = Found()
            let skipping = { found.damaged.append((user: $0, error: $1)) }
            do {
                try forEach(in: parts[index], past, log, skipping: skips ? skipping : nil) {
                    found.users.append($0)
                }
            } catch {
                found.error = error
            }
            results.withLock { $0[index] = found }
        }
        if parts.count == 1 { look(0) } else { onThreads(parts.count) { look($0) } }
        return results.withLock { $0 }
    }

    /// Calls `body` with the users with numbers after the lower bound, up to the upper one, who pass.
    private func forEach(
        in part: Range<UInt64>, _ past: PastHistory, _ log: EventLog,
        skipping: ((UserNumber, StorageError) -> Void)?, _ body: (UserInfo) throws -> Void
    ) throws {
        let traits = TraitReader(log, in: past, at: now)
        _ = try log.forEachProfile(
            after: UserNumber(rawValue: part.lowerBound), through: UserNumber(rawValue: part.upperBound),
            in: past, withUsage: false, skipping: skipping
        ) { user, createdAt, state, _ in
            let subject = ProfileSubject(user, state, createdAt: createdAt, traits: traits, in: log)
            if try condition.accepts(subject, at: now) { try body(user) }
        }
    }
}

extension Condition {
    /// Reads the parameter `where` of a request.
    init(whereParameter text: String, _ log: EventLog) throws {
        do {
            try self.init(where: text, WhereNames(log))
        } catch let error as WhereError {
            throw APIProblem.invalid("where", "\(error.reason) (column \(error.column))", remedy: error.remedy)
        }
    }
}

extension JSONWriter {
    /// Members of each user in a list.
    mutating func members(ofUser user: UserInfo) {
        member("number", user.number.rawValue)
        member("id", user.id.description)
        member("braze_id", user.brazeID)
        array("ids", user.ids) { $0.value($1.description) }
        member("version", user.version.rawValue)
        member("created", user.created)
    }
}

// MARK: - The form of the answers

extension UserSearch {
    static let user: AnswerShape = .named(
        "ListedUser",
        [
            "number": .integer, "id": .text, "braze_id": .text, "ids": [.text], "version": .integer,
            "created": .position, "erased?": .boolean, "merged_into?": .integer,
        ])

    static let shape: AnswerShape =
        [
            "users?": [user], "count?": .integer, "scanned?": .integer, "total": .integer, "more?": .boolean,
            "note?": .text,
        ]
        + DamageList.shape
}
