internal import ProfileLogSnippets

/// The things that a series counts (spec/messaging-api 6).
package enum SeriesMeasure: Hashable, Sendable {
    case events(Name)
    case sessions
    /// The number of products bought; nil for all products.
    case quantity(Name?)
    /// The sum paid for a product; nil for all products, then also by orders if they are asked for.
    case revenue(Name?, withOrders: Bool = false)
    /// Users with a session or a launch in the point's day or hour.
    case dailyUsers
    /// Users with a session or a launch in the 30 days up to the point's end.
    case monthlyUsers
    case newUsers
    /// The number of apps that were removed from devices.
    case uninstalls
    /// Users who belonged to the segment at the point's end.
    case size(Condition)
    /// All events of the log, by the time of their recording.
    case recorded
    /// Events that came to the log more than so many seconds after they happened, by the time of their recording.
    case late(seconds: Int64)

    /// Tells whether it counts what came to the log, and not what users did.
    package var isOfRecording: Bool {
        switch self {
        case .recorded, .late: true
        default: false
        }
    }
}

/// Numbers by day, hour or minute, counted in the log: a saved item counts from its effect on, at the time of its save,
/// and an erased one never.
package struct Series: Sendable {
    package let range: SeriesRange
    package private(set) var points: [Point]
    /// So many points at the front were not counted: they lie before the events that one request looks at.
    package private(set) var uncounted = 0

    /// The most events that a request looks at to find late ones.
    package static let mostScanned: UInt64 = 1_000_000

    /// One day, hour or minute.
    package struct Point: Hashable, Sendable {
        package var count: UInt64 = 0
        /// The sum paid, by currency.
        package var revenue: [ProfileState.Revenue] = []
    }

    /// Counts by a scan of the log; a size by reading all profiles for each point. All events are counted without a
    /// scan, and late ones by a scan of what was recorded in the range.
    ///
    /// - Parameters:
    ///   - app: counts only events that name this app.
    ///   - users: counts only users who pass now.
    ///   - mostScanned: late events are sought among so many, the newest of the range.
    package init(
        _ measure: SeriesMeasure, _ range: SeriesRange, app: String? = nil, of users: Condition? = nil,
        mostScanned: UInt64 = Series.mostScanned, in log: LogReader
    ) throws {
        self.range = range
        points = Array(repeating: Point(), count: range.length)
        switch measure {
        case .size(let condition): try countSizes(condition, log)
        case .recorded: try countRecorded(log)
        case .late(let seconds): try countLate(by: seconds, mostScanned, log)
        default: try countOccurrences(measure, SeriesFilter(app, users, log), log)
        }
    }

    /// Counts what took effect.
    private mutating func countOccurrences(
        _ measure: SeriesMeasure, _ filter: SeriesFilter, _ log: LogReader
    ) throws {
        switch measure {
        case .dailyUsers: try countUsers(within: 1, filter, log)
        case .monthlyUsers: try countUsers(within: Int(30 * Condition.day / range.unit.span), filter, log)
        default:
            let wanted = try Self.wanted(measure, log)
            var orders: OrderEvents?
            if case .revenue(nil, withOrders: true) = measure { orders = try log.occurrences.orderEvents() }
            try log.occurrences.forEach { occurrence in
                let index = range.index(of: occurrence.at)
                guard points.indices.contains(index) else { return }
                if let orders, case .event(let name) = occurrence.what, orders.has(name) {
                    guard try filter.takes(occurrence),
                        let paid = try log.withView({
                            orders.value(of: try $0.header(at: occurrence.position.rawValue))
                        })
                    else { return }
                    points[index].count += 1
                    points[index].revenue.add(paid.amount, paid.currency)
                    return
                }
                guard wanted(occurrence.what), try filter.takes(occurrence) else { return }
                points[index].count += occurrence.quantity
                if !occurrence.currency.isEmpty {
                    points[index].revenue.add(occurrence.revenue, occurrence.currency)
                }
            }
        }
    }

    private static func wanted(_ measure: SeriesMeasure, _ log: LogReader) throws -> (Occurrence.What) -> Bool {
        switch measure {
        case .events(let name):
            let number = try log.number(of: name)
            return { what in if case .event(let event) = what { event == number } else { false } }
        case .quantity(let product), .revenue(let product, _):
            let number = try product.map { try log.number(of: $0) }
            return { what in
                guard case .purchase(let bought) = what else { return false }
                return number.map { $0 == bought } ?? true
            }
        case .sessions: return { $0 == .session }
        case .uninstalls: return { $0 == .removal }
        default: return { $0 == .created }
        }
    }

    /// Counts at each point the users with a use of the app in that point or the ones before it, `span` in all.
    private mutating func countUsers(within span: Int, _ filter: SeriesFilter, _ log: LogReader) throws {
        var uses: [UserNumber: UsedPoints] = [:]
        try log.occurrences.forEach { occurrence in
            guard occurrence.what == .session || occurrence.what == .launch else { return }
            let index = range.index(of: occurrence.at)
            guard index > -span, index < range.length, try filter.takes(occurrence) else { return }
            uses[try filter.canonicalUser(of: occurrence.user), default: UsedPoints()].add(index)
        }
        for used in uses.values {
            // A user counts once at each point, also if several uses reach it.
            var counted = 0
            for index in used.indices {
                for point in max(counted, index, 0)..<max(counted, index, 0, min(index + span, range.length)) {
                    points[point].count += 1
                }
                counted = max(counted, min(index + span, range.length))
            }
        }
    }

    /// The last positions before the first point, and at the end of each point.
    private func bounds(_ log: LogReader) throws -> [UInt64] {
        try ([range.begin(0)] + points.indices.map { range.end($0) }).map { end in
            try log.past.lastPosition(recordedBy: Timestamp(rawValue: end.rawValue - 1)).rawValue
        }
    }

    /// Looks at no event between the ends: positions have no gaps, and times of recording never fall.
    private mutating func countRecorded(_ log: LogReader) throws {
        let ends = try bounds(log)
        for index in points.indices { points[index].count = ends[index + 1] - ends[index] }
    }

    private mutating func countLate(by seconds: Int64, _ mostScanned: UInt64, _ log: LogReader) throws {
        let ends = try bounds(log)
        let last = ends[points.count]
        uncounted = ends.firstIndex { last - $0 <= mostScanned } ?? points.count
        guard uncounted < points.count else {
            throw APIError.invalidHere(
                "unit", "is too long: its last \(range.unit.rawValue) has more than \(mostScanned) events",
                remedy: "Send a shorter `unit`, or another `ending_at`.")
        }
        var index = uncounted
        try log.withView { view in
            try view.scan(from: ends[index] + 1, to: last) { position, header in
                while position > ends[index + 1] { index += 1 }
                let event = EventView(header: header, position: Position(rawValue: position), names: log.names)
                if header.recordedAt - event.occurredAt.rawValue > seconds * 1_000_000 { points[index].count += 1 }
                return true
            }
        }
    }

    private mutating func countSizes(_ condition: Condition, _ log: LogReader) throws {
        var last: (position: Position, size: UInt64)?
        for index in points.indices {
            let end = range.end(index)
            let position = try log.past.lastPosition(recordedBy: Timestamp(rawValue: end.rawValue - 1))
            if last?.position != position {
                var size: UInt64 = 0
                let past = PastHistory(to: position)
                let traits = TraitReader(log, in: past, at: end)
                _ = try log.users.forEachProfile(in: past, withUsage: false) { user, createdAt, state, _ in
                    let subject = ProfileSubject(user, state, createdAt: createdAt, traits: traits, in: log)
                    if try condition.accepts(subject, at: end) { size += 1 }
                }
                last = (position, size)
            }
            points[index].count = last?.size ?? 0
        }
    }
}

/// The points at which one user used the app. Of those before the series only the last matters: it reaches all points
/// that an earlier one reaches. So it takes the same memory however often the user came.
struct UsedPoints {
    private var last: Int?
    /// A bit for each point of the series.
    private var points: UInt128 = 0

    mutating func add(_ index: Int) {
        if index < 0 { last = max(last ?? index, index) } else { points |= 1 << UInt128(index) }
    }

    /// The points, ascending.
    var indices: [Int] {
        (last.map { [$0] } ?? []) + (0..<SeriesRange.mostPoints).filter { points & (1 << UInt128($0)) != 0 }
    }
}

/// A filter of the occurrences that a series counts.
private final class SeriesFilter {
    private let app: String?
    /// The users who pass; nil for all.
    private let users: Set<UserNumber>?
    private let log: LogReader
    private var canonical: [UserNumber: UserNumber] = [:]

    init(_ app: String?, _ condition: Condition?, _ log: LogReader) throws {
        self.app = app
        self.log = log
        guard let condition else {
            users = nil
            return
        }
        var users: Set<UserNumber> = []
        let now = log.options.now()
        let traits = TraitReader(log, at: now)
        _ = try log.users.forEachProfile(withUsage: false) { user, createdAt, state, _ in
            let subject = ProfileSubject(user, state, createdAt: createdAt, traits: traits, in: log)
            if try condition.accepts(subject, at: now) { users.insert(user.number) }
        }
        self.users = users
    }

    func takes(_ occurrence: Occurrence) throws -> Bool {
        if let app, occurrence.app.map({ !$0.hasSameBytes(as: app) }) ?? true { return false }
        return try users?.contains(canonicalUser(of: occurrence.user)) ?? true
    }

    func canonicalUser(of user: UserNumber) throws -> UserNumber {
        if let known = canonical[user] { return known }
        let found = try log.users.canonicalUser(of: user)
        canonical[user] = found
        return found
    }
}
