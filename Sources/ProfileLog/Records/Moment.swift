/// A moment of which the past is asked.
public enum Moment: Hashable, Sendable {
    /// The end of the log.
    case now
    /// The moment after the event at this position.
    case position(Position)
    /// The moment after this many events of the user.
    case version(Version)
    /// The moment after all that was recorded at this time or earlier.
    case time(Timestamp)
}

extension Moment {
    /// Reads what people write for WHEN; nil for anything else.
    ///
    /// | form | for example |
    /// |---|---|
    /// | the end of the log | `now` |
    /// | a position | `1200` |
    /// | a version | `version:7` |
    /// | a time with a zone, in the forms of ``OccurredAt/init(iso8601:)`` | `2026-01-31T14:03:00+01:00` |
    /// | a local day or time, in these forms too | `2026-01-31`, `2026-01-31 14:03` |
    /// | a local day in words, with or without a time | `today`, `yesterday 14:00`, `monday 9:30` |
    /// | a local time of today | `14:00` |
    /// | a span before now: seconds, minutes, hours, days | `-90s`, `-5m`, `-2h`, `-3d` |
    ///
    /// A day is its beginning. The name of a day is the last such day before today.
    ///
    /// - Parameters:
    ///   - now: what `today` and spans count from.
    ///   - utcOffset: the seconds that local time is ahead of UTC at a moment. By default, local time is UTC.
    ///   - told: gets what there is to know of a local time; it is not called for a text with a zone.
    package init?(
        _ text: String, now: Timestamp, utcOffset: (Timestamp) -> Int = { _ in 0 }, told: (LocalTime) -> Void = { _ in }
    ) {
        if text == "now" {
            self = .now
        } else if text.hasPrefix("version:") {
            guard let version = UInt64(text.dropFirst("version:".count)) else { return nil }
            self = .version(Version(rawValue: version))
        } else if let position = UInt64(text) {
            self = .position(Position(rawValue: position))
        } else if let time = Self.time(text, now: now, utcOffset: utcOffset, told: told) {
            self = .time(time)
        } else {
            return nil
        }
    }

    /// As ``init(_:now:utcOffset:told:)``, where only a time can be meant: a day may have eight digits.
    package static func time(
        _ text: String, now: Timestamp, utcOffset: (Timestamp) -> Int = { _ in 0 }, told: (LocalTime) -> Void = { _ in }
    ) -> Timestamp? {
        if text.hasPrefix("-") {
            guard let span = DurationText.parse(String(text.dropFirst())) else { return nil }
            let (micros, overflowed) = span.components.seconds.multipliedReportingOverflow(by: 1_000_000)
            let (time, underflowed) = now.rawValue.subtractingReportingOverflow(micros)
            return overflowed || underflowed ? nil : Timestamp(rawValue: time)
        }
        guard let wall = wallTime(text, now, utcOffset) else { return OccurredAt(iso8601: text)?.timestamp }
        let local = LocalTime(wall, utcOffset)
        told(local)
        return local.time
    }

    /// The moment as text that `init(_:now:utcOffset:)` reads anywhere and at any time.
    package var text: String {
        switch self {
        case .now: "now"
        case .position(let position): "\(position.rawValue)"
        case .version(let version): "version:\(version.rawValue)"
        case .time(let time): time.rfc3339()
        }
    }

    /// The local day or time as if local time were UTC.
    private static func wallTime(
        _ text: String, _ now: Timestamp, _ utcOffset: (Timestamp) -> Int
    ) -> Timestamp? {
        let words = text.split(separator: " ", maxSplits: 1)
        guard let first = words.first else { return nil }
        let localNow = now.rawValue + Int64(utcOffset(now)) * 1_000_000
        let today = Int((Double(localNow) / 86_400_000_000).rounded(.down))
        if let daysAgo = daysAgo(first.lowercased(), today: CivilDate(daysSince1970: today)) {
            return time(words.count > 1 ? words[1] : "00:00", onDay: today - daysAgo)
        }
        if words.count == 1, let time = time(first, onDay: today) { return time }
        // Only a text without a zone can be given one.
        let hasTime = text.contains(":") || text.contains("T") || text.contains("t")
        return OccurredAt(iso8601: text + (hasTime ? "Z" : text.contains("-") ? "T00:00Z" : "T0000Z"))?.timestamp
    }

    private static func daysAgo(_ word: String, today: CivilDate) -> Int? {
        switch word {
        case "today": return 0
        case "yesterday": return 1
        default:
            let days = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
            guard let day = days.firstIndex(of: word) else { return nil }
            return (today.weekday - day + 6) % 7 + 1
        }
    }

    /// `9:30` or `14:03:59` on a day that is given by its distance from 1970-01-01.
    private static func time(_ clock: some StringProtocol, onDay day: Int) -> Timestamp? {
        let digits = clock.prefix { $0 != ":" }.count
        guard digits == 1 || digits == 2, clock.contains(":") else { return nil }
        let date = Timestamp(rawValue: Int64(day) * 86_400_000_000).rfc3339().prefix(11)
        return OccurredAt(iso8601: "\(date)\(digits == 1 ? "0" : "")\(clock)Z")?.timestamp
    }
}

/// A time of a local clock, in UTC.
package struct LocalTime: Hashable, Sendable {
    /// The moment that is meant: of two the later one; where the clocks skip the time, as far after the gap as it is
    /// after the gap's start.
    package let time: Timestamp
    /// The earlier moment at which the clocks show this time too.
    package let earlier: Timestamp?
    /// Tells whether the clocks never show this time.
    package let isSkipped: Bool

    /// - Parameter wall: the time as if local time were UTC.
    init(_ wall: Timestamp, _ utcOffset: (Timestamp) -> Int) {
        func utc(_ offset: Int) -> Timestamp { Timestamp(rawValue: wall.rawValue - Int64(offset) * 1_000_000) }
        let day: Int64 = 86_400_000_000
        // A change of the clocks is the only one within two days.
        let (before, after) = (
            utcOffset(Timestamp(rawValue: wall.rawValue - day)), utcOffset(Timestamp(rawValue: wall.rawValue + day))
        )
        let moments = Set([before, after]).filter { utcOffset(utc($0)) == $0 }.map(utc).sorted()
        time = moments.last ?? utc(before)
        earlier = moments.count == 2 ? moments[0] : nil
        isSkipped = moments.isEmpty
    }
}

/// The order in which a history is read.
public enum EventOrder: String, Hashable, Sendable {
    /// As the log recorded it.
    case recorded
    /// The order in which things happened, as far as the log knows today.
    case occurred
}
