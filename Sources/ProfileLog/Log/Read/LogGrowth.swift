/// The content of a store by size: bytes of records by kind and by user, and what the last days added.
package struct LogGrowth: Sendable {
    /// A number of events, and the bytes of their records.
    package struct Amount: Hashable, Sendable {
        package var events: UInt64 = 0
        package var bytes: UInt64 = 0

        mutating func add(_ record: Int) {
            events += 1
            bytes += UInt64(record)
        }
    }

    /// One user's part.
    package struct UserPart: Hashable, Sendable {
        package let user: UserNumber
        /// Bytes of the user's records: at least so many, and at most ``LogGrowth/unsure`` more.
        package let bytes: UInt64
    }

    /// All records.
    package internal(set) var total = Amount()
    /// Records by kind of event.
    package internal(set) var kinds: [EventKind: Amount] = [:]
    /// The users with the most bytes, the largest first; the system is none of them.
    package internal(set) var users: [UserPart] = []
    /// The bytes by which each user may have more. 0 up to ``HeavyUsers/most`` users.
    package internal(set) var unsure: UInt64 = 0
    /// The records of the days before `now`, the last one first: `days[0]` are the last 24 hours.
    package internal(set) var days: [Amount]
    /// Records that no header could be read from.
    package internal(set) var damaged: UInt64 = 0
    /// The time at which the first event was recorded; nil in an empty log.
    package internal(set) var first: Timestamp?
    /// The position to which it was counted.
    package internal(set) var position = Position.start
}

extension LogReader {
    /// Counts what fills the store, for its `count` largest users and the last `days` days before `now`.
    ///
    /// Reads the whole log once, in slices with a view each: writers can use pages again in between. The memory does
    /// not depend on the log's length or the number of users. Ends early, with what it has counted so far, when
    /// `goesOn` answers false. A missing record ends it with an error.
    package func growth(
        users count: Int = 20, days: Int = 14, now: Timestamp, goesOn: (LogProgress) -> Bool = { _ in true }
    ) throws -> LogGrowth {
        let slice: UInt64 = 65_536
        var growth = LogGrowth(days: Array(repeating: LogGrowth.Amount(), count: days))
        var heavy = HeavyUsers()
        var next: UInt64 = 1
        let last = try lastPosition().rawValue
        while next <= last, goesOn(LogProgress(stage: "growth", done: next - 1, total: last)) {
            let end = min(last, next + slice - 1)
            try withView { view in
                try OpenStore.scanRecords(view.tables, from: next, to: end, view) { _, record in
                    growth.add(record, now: now, to: &heavy)
                    return true
                }
            }
            growth.position = Position(rawValue: end)
            next = end + 1
        }
        (growth.users, growth.unsure) = (heavy.largest(count), heavy.unsure)
        return growth
    }
}

extension LogGrowth {
    private static let microsecondsPerDay: Int64 = 86_400_000_000

    fileprivate mutating func add(_ record: UnsafeRawBufferPointer, now: Timestamp, to heavy: inout HeavyUsers) {
        total.add(record.count)
        guard let header = RecordHeader(record) else {
            damaged += 1
            return
        }
        kinds[header.kind ?? .unknown, default: Amount()].add(record.count)
        heavy.add(header.user, UInt64(record.count))
        let recordedAt = Timestamp(rawValue: header.recordedAt)
        if first == nil { first = recordedAt }
        let age = now.rawValue.subtractingReportingOverflow(header.recordedAt)
        if age.overflow { return }
        // What was recorded while the clock was ahead is new too.
        let day = max(0, age.partialValue) / Self.microsecondsPerDay
        if day < days.count { days[Int(day)].add(record.count) }
    }
}

/// The users with the most bytes, of any number of users, in bounded memory.
///
/// The algorithm of Misra and Gries with weights: when there are too many counts, all are lowered by their median and
/// those that reach zero are dropped. A count is then too low, by at most what was taken in all rounds.
package struct HeavyUsers: Sendable {
    /// Users that are counted exactly.
    package static let most = 131_072

    private let most: Int
    private var bytes: [UInt64: UInt64] = [:]
    /// The bytes that were taken from each count, at most.
    package private(set) var unsure: UInt64 = 0

    package init(most: Int = Self.most) { self.most = most }

    package mutating func add(_ user: UInt64, _ count: UInt64) {
        // The system.
        if user == 0 { return }
        bytes[user, default: 0] += count
        if bytes.count > most { lower() }
    }

    private mutating func lower() {
        let median = bytes.values.sorted()[bytes.count / 2]
        unsure += median
        bytes = bytes.compactMapValues { $0 > median ? $0 - median : nil }
    }

    /// The first `count` users, those with the most bytes first.
    package func largest(_ count: Int) -> [LogGrowth.UserPart] {
        bytes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(count).map {
            LogGrowth.UserPart(user: UserNumber(rawValue: $0.key), bytes: $0.value)
        }
    }
}
