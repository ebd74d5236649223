internal import ProfileLogRequests
internal import Synchronization

/// `GET /v1/users?where=…`: the users who pass a condition (docs/where.md), now or as of an earlier moment.
struct UserSearch: Sendable {
    private let condition: Condition
    /// The present too is a fixed one, whatever is appended during the search.
    private let past: PastHistory
    /// The number of users at that time.
    private let total: UInt64
    /// The note of an answer, if no user passes and if some do.
    private let notes: (ofNone: String?, ofSome: String?)
    /// The time for the condition: the present, or the time of the moment.
    private let now: Timestamp
    private let after: UserNumber
    private let limit: Int
    private let isCount: Bool

    /// Users that one answer looks at: it may be short although more follow.
    private static let mostScanned: UInt64 = 100_000

    init(
        _ condition: String?, isCount: Bool, after: UserNumber, limit: Int, _ asked: AskedPast, _ note: ListNote,
        _ log: LogReader
    ) throws {
        (self.isCount, self.after, self.limit) = (isCount, after, limit)
        (past, total) = try Self.extent(asked.history(log), log)
        notes = (try note.text(isEmpty: true, in: log), try note.text(isEmpty: false, in: log))
        self.condition = try condition.map { try Condition(whereParameter: $0, log) } ?? .everybody
        now = try asked.time(at: past.position, log)
    }

    private static func extent(_ past: PastHistory?, _ log: LogReader) throws -> (PastHistory, total: UInt64) {
        if let past { return (past, try log.past.userCount(in: past)) }
        return (PastHistory(to: try log.lastPosition()), try log.users.count())
    }

    /// All who pass now.
    init(_ condition: Condition, _ log: LogReader) throws {
        (self.condition, notes, now) = (condition, (nil, nil), log.options.now())
        (past, total) = try Self.extent(nil, log)
        (after, limit, isCount) = (UserNumber(rawValue: 0), .max, false)
    }

    private struct IsFull: Error {}

    func answer(_ store: RequestStore) throws -> APIAnswer {
        let damage = DamageList()
        if isCount {
            var count: UInt64 = 0
            try forEach(in: store, skipping: damage.noteUser) { _ in count += 1 }
            return APIAnswer.ok { json in
                json.member("count", count)
                json.member("total", total)
                json.member("note", count == 0 ? notes.ofNone : notes.ofSome)
                damage.write(to: &json)
            }
        }
        var scanned = min(total, after.rawValue + min(Self.mostScanned, .max - after.rawValue))
        return try APIAnswer.ok { json in
            var found = 0
            try json.array("users") { json in
                do {
                    try forEach(through: UserNumber(rawValue: scanned), in: store, skipping: damage.noteUser) { user in
                        json.object { $0.members(ofUser: user) }
                        found += 1
                        if found == limit {
                            scanned = user.number.rawValue
                            throw IsFull()
                        }
                    }
                } catch is IsFull {}
            }
            json.member("scanned", scanned)
            json.member("total", total)
            json.member("more", scanned < total)
            json.member("note", found == 0 && scanned >= total ? notes.ofNone : notes.ofSome)
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
        through end: UserNumber = UserNumber(rawValue: .max), in store: RequestStore,
        skipping: ((UserNumber, StorageError) -> Void)? = nil, _ body: (UserInfo) throws -> Void
    ) throws {
        let end = min(end.rawValue, total)
        guard after.rawValue < end else { return }
        if condition.readsTraits {
            // One reader, as it finds out that many users are asked for, and then reads the log once for all.
            return try store.read { try forEach(in: after.rawValue..<end, $0, skipping: skipping, body) }
        }
        let threads = UInt64(min(processorCount, Self.mostThreads))
        var (next, length) = (after.rawValue, Self.fewestTogether)
        while next < end {
            let parts = (0..<threads).map { min(next + $0 * length, end)..<min(next + ($0 + 1) * length, end) }
            for part in found(in: parts.filter { !$0.isEmpty }, skips: skipping != nil, store) {
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
        in parts: [Range<UInt64>], skips: Bool, _ store: RequestStore
    ) -> [Found] {
        let results = Mutex([Found](repeating: Found(), count: parts.count))
        @Sendable func look(_ index: Int) {
            var found = Found()
            let skipping = { found.damaged.append((user: $0, error: $1)) }
            do {
                try store.read { log in
                    try forEach(in: parts[index], log, skipping: skips ? skipping : nil) { found.users.append($0) }
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
        in part: Range<UInt64>, _ log: LogReader,
        skipping: ((UserNumber, StorageError) -> Void)?, _ body: (UserInfo) throws -> Void
    ) throws {
        try log.forEachSubject(in: part, of: past, at: now, skipping: skipping) { user, subject in
            if try condition.accepts(subject, at: now) { try body(user) }
        }
    }
}

extension LogReader {
    /// Calls `body` with the users in `past` as conditions see them at `now`: with numbers after the lower bound, up
    /// to the upper one, and without those who were merged or erased.
    func forEachSubject(
        in part: Range<UInt64>, of past: PastHistory, at now: Timestamp,
        skipping: ((UserNumber, StorageError) -> Void)? = nil, _ body: (UserInfo, ProfileSubject) throws -> Void
    ) throws {
        let traits = TraitReader(self, in: past, at: now)
        _ = try users.forEachProfile(
            after: UserNumber(rawValue: part.lowerBound), through: UserNumber(rawValue: part.upperBound),
            in: past, withUsage: false, skipping: skipping
        ) { user, createdAt, state, _ in
            try body(user, ProfileSubject(user, state, createdAt: createdAt, traits: traits, in: self))
        }
    }
}

extension Condition {
    /// Reads the parameter `where` of a request.
    init(whereParameter text: String, _ log: LogReader) throws {
        self = try WrittenCondition(whereParameter: text, log).condition
    }
}

extension WrittenCondition {
    /// Reads the parameter `where` of a request.
    init(whereParameter text: String, _ log: LogReader) throws {
        do {
            try self.init(where: text, WhereNames(log))
        } catch let error as WhereError {
            var apiError = APIError.invalid("where", "\(error.reason) (column \(error.column))", remedy: error.remedy)
            apiError.isOfStore = error.isOfStore
            apiError.facts = [("column", UInt64(error.column))]
            throw apiError
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
            "users?": [user, PrefixSearch.user], "count?": .integer, "scanned?": .integer, "total": .integer,
            "more?": .boolean, "cursor?": .text, "note?": .text,
        ]
        + DamageList.shape
}
