internal import ProfileLogRequests
internal import Synchronization

/// Endpoints for stores that are made for tests.
struct TestStoreEndpoints {
    let store: RequestStore
    let ephemeral: (any EphemeralStore)?
    let onTimeSet: @Sendable () async -> Void

    private static let longestSpanSeconds: Double = 10_000 * 366 * 86_400

    func reset(_ request: APIRequest) async throws -> APIAnswer {
        let ephemeral = try requireEphemeral()
        let fields = try Fields(withoutConditions: request, mayBeEmpty: true)
        let (events, clock) = try await ephemeral.reset(withFixtures: fields.flag("fixtures"))
        store.failingChannels.clear()
        return APIAnswer.ok { json in
            json.member("reset", true)
            json.member("last_position", events)
            json.clock(clock.reading())
        }
    }

    func setClock(_ request: APIRequest) async throws -> APIAnswer {
        let clock = try requireEphemeral().clock
        let fields = try Fields(withoutConditions: request)
        let given = try [
            ![nil, .null].contains(fields.value("set")), ![nil, .null].contains(fields.value("advance")),
            fields.flag("release"),
        ].count { $0 }
        guard given == 1 else {
            throw APIError.invalid(
                "set",
                given == 0
                    ? "is missing, and so are advance and release: the body has one of them"
                    : "must be the only one: the body has one of set, advance and release",
                remedy: #"Send {"set": TIME}, {"advance": "2 days"} or {"release": true}."#)
        }
        // Between two commits, so that no event is given a time from before the change and stored after one from after
        // it.
        try await store.perform { log in
            if let moment = try fields.time("set")?.timestamp {
                guard StoreClock.range.contains(moment) else {
                    throw APIError.invalid("set", "must be a time from 1970 to 9999")
                }
                try Self.refuseBeforeLast(moment, log)
                clock.set(to: moment)
            } else if let advance = fields.value("advance"), advance != .null {
                guard clock.advance(byMicroseconds: try Self.microseconds(advance)) else {
                    throw APIError.invalid("advance", "leads beyond the year 9999")
                }
            } else {
                try Self.refuseBeforeLast(.now(), log)
                clock.release()
            }
        }
        await onTimeSet()
        return APIAnswer.ok { $0.clock(clock.reading()) }
    }

    private func requireEphemeral() throws -> any EphemeralStore {
        guard let ephemeral else {
            throw APIError(
                status: 403, code: "not_ephemeral",
                error: "This store is kept, so it is neither emptied nor given another time.",
                remedy: "Start a service for tests with `profiled --ephemeral`.")
        }
        return ephemeral
    }

    /// The log does not go back in time: what is stored next would be given the last event's time, or be refused.
    private static func refuseBeforeLast(_ moment: Timestamp, _ log: EventLog) throws {
        guard let last = try log.event(at: log.lastPosition()), moment < last.recordedAt else { return }
        throw APIError(
            status: 409, code: "clock_behind",
            error: "The last event was recorded at \(last.recordedAt.rfc3339()), and the log does not go back in time.",
            remedy: "Name a later time, or begin again with POST /v1/reset.")
    }

    /// A number of seconds, or text like `90s` and `2 days`.
    private static func microseconds(_ value: AttributeValue) throws -> Int64 {
        let remedy = #"Send a number of seconds, or text like "90s", "15 minutes" or "2 days"."#
        let span = value.asText.flatMap(SpanText.parse)
        guard let seconds = value.asNumber ?? span.map({ Double($0.components.seconds) }) else {
            throw APIError.invalid("advance", "is no span of time", remedy: remedy)
        }
        guard (0...longestSpanSeconds).contains(seconds) else {
            throw APIError.invalid("advance", "must not be negative, nor longer than 10,000 years", remedy: remedy)
        }
        return Int64((seconds * 1_000_000).rounded())
    }
}

extension JSONWriter {
    /// `now`, `standing` and `ahead_s`.
    mutating func clock(_ reading: StoreClock.Reading) {
        member("now", reading.now)
        member("standing", reading.isStanding)
        member("ahead_s", Double(reading.aheadMicroseconds) / 1_000_000)
    }
}

/// Spans of time as a request may write them: `90s`, and also `15 minutes` or `2 days`.
enum SpanText {
    private static let units: [String: String] = [
        "s": "s", "second": "s", "seconds": "s", "m": "m", "minute": "m", "minutes": "m", "h": "h", "hour": "h",
        "hours": "h", "d": "d", "day": "d", "days": "d",
    ]

    /// Reads a whole number and a unit, with spaces between them or none; nil for all else.
    static func parse(_ text: String) -> Duration? {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        let word = text.utf8.dropFirst(digits.count).drop { $0 == UInt8(ascii: " ") }
        guard let unit = units[String(decoding: word, as: UTF8.self)] else { return nil }
        return DurationText.parse(String(decoding: digits, as: UTF8.self) + unit)
    }
}

/// A store that is made for tests and gone when its service ends: the one kind that can be emptied, and whose time can
/// be set.
package protocol EphemeralStore: Sendable {
    /// The clock of its log. The store in its place will have another one.
    var clock: StoreClock { get }

    /// Puts an empty store in its place, with the fixtures of the start if `withFixtures` and with a clock that goes
    /// like the system's, and tells how many events the new store holds. If that fails, this store stays unchanged.
    func reset(withFixtures: Bool) async throws -> (events: UInt64, clock: StoreClock)
}

/// The clock of a store that is made for tests: the system's time, a shifted time, or a stopped moment.
package final class StoreClock: Sendable {
    private struct State {
        var isStanding = false
        /// The time at which it is stopped; else how far it is ahead of the system's clock.
        var microseconds: Int64 = 0
    }

    package struct Reading: Sendable {
        package var now: Timestamp
        /// Tells whether it is stopped there until it is set, advanced or released.
        package var isStanding: Bool
        /// Microseconds by which it is ahead of the system's clock; negative if it is slow.
        package var aheadMicroseconds: Int64
    }

    /// The times from 1970 to the last one that RFC 3339 can write.
    package static let range = Timestamp(rawValue: 0)...Timestamp(rawValue: 253_402_300_799_999_999)

    private let state = Mutex(State())

    /// Makes a clock that goes like the system's.
    package init() {}

    package func now() -> Timestamp { reading().now }

    package func reading() -> Reading {
        let system = Timestamp.now().rawValue
        let state = state.withLock { $0 }
        let now = state.isStanding ? state.microseconds : system + state.microseconds
        return Reading(
            now: Timestamp(rawValue: now), isStanding: state.isStanding,
            aheadMicroseconds: state.isStanding ? now - system : state.microseconds)
    }

    /// Stops it at `moment`.
    package func set(to moment: Timestamp) {
        state.withLock { $0 = State(isStanding: true, microseconds: moment.rawValue) }
    }

    /// Moves it on: a stopped clock is stopped later; a running one runs further ahead. False, and nothing is
    /// changed, if it would leave `range`.
    package func advance(byMicroseconds span: Int64) -> Bool {
        let system = Timestamp.now().rawValue
        return state.withLock { state in
            let (sum, overflow) = state.microseconds.addingReportingOverflow(span)
            let (now, overflowNow) = (state.isStanding ? 0 : system).addingReportingOverflow(sum)
            guard !overflow, !overflowNow, Self.range.contains(Timestamp(rawValue: now)) else { return false }
            state.microseconds = sum
            return true
        }
    }

    /// Lets it go like the system's again.
    func release() { state.withLock { $0 = State() } }
}

// MARK: - The form of the answers

extension TestStoreEndpoints {
    static let clock: AnswerShape = ["now": .time, "standing": .boolean, "ahead_s": .number]
    static let reset: AnswerShape = ["reset": .boolean, "last_position": .integer] + clock
}
