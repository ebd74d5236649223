import ProfileLog
import Testing

@Suite("WHEN, as people write it")
struct MomentTests {
    /// A Wednesday in Cologne: 2026-03-18 10:30 there, 09:30 UTC.
    private let now = Timestamp(rawValue: 1_773_826_200_000_000)

    /// The offset of Cologne: the clocks go forward on 2026-03-29 at 01:00 UTC.
    private func cologne(_ time: Timestamp) -> Int {
        time.rawValue < 1_774_746_000_000_000 ? 3600 : 7200
    }

    private func time(_ text: String) -> Moment? { OccurredAt(iso8601: text).map { .time($0.timestamp) } }

    @Test(
        "A time is local unless it has a zone",
        arguments: [
            ("2026-01-31T14:03:00Z", "2026-01-31T14:03:00Z"),
            ("2026-01-31T14:03:00+05:30", "2026-01-31T14:03:00+05:30"),
            ("2026-01-31 14:03", "2026-01-31T13:03:00Z"),
            ("2026-01-31T14:03:00.5", "2026-01-31T13:03:00.5Z"),
            ("20260131T140300", "2026-01-31T13:03:00Z"),
            ("2026-01-31", "2026-01-30T23:00:00Z"),
            ("2026-04-02", "2026-04-01T22:00:00Z"),
            ("2026-03-29 01:59", "2026-03-29T00:59:00Z"),
            ("2026-03-29 03:01", "2026-03-29T01:01:00Z"),
            ("today", "2026-03-17T23:00:00Z"),
            ("yesterday 14:00", "2026-03-17T13:00:00Z"),
            ("Monday 9:30", "2026-03-16T08:30:00Z"),
            ("wednesday", "2026-03-10T23:00:00Z"),
            ("thursday 23:59:59", "2026-03-12T22:59:59Z"),
            ("14:00", "2026-03-18T13:00:00Z"),
            ("-90s", "2026-03-18T09:28:30Z"),
            ("-3d", "2026-03-15T09:30:00Z"),
        ])
    func times(text: String, expected: String) {
        #expect(Moment(text, now: now, utcOffset: cologne) == time(expected))
    }

    @Test(
        "A local time that the clocks show twice is the second, and one that they skip is after the change",
        arguments: [
            ("2026-10-25 02:15", "2026-10-25T01:15:00Z", "2026-10-25T00:15:00Z", false),
            ("2026-03-29 02:15", "2026-03-29T01:15:00Z", nil, true),
            ("2026-03-29 01:59", "2026-03-29T00:59:00Z", nil, false),
            ("2026-10-25", "2026-10-24T22:00:00Z", nil, false),
            ("20261025T021500", "2026-10-25T01:15:00Z", "2026-10-25T00:15:00Z", false),
        ] as [(String, String, String?, Bool)])
    func clockChanges(text: String, expected: String, earlier: String?, isSkipped: Bool) throws {
        func berlin(_ time: Timestamp) -> Int {
            1_774_746_000_000_000..<1_792_890_000_000_000 ~= time.rawValue ? 7200 : 3600
        }
        var told: [LocalTime] = []
        #expect(Moment(text, now: now, utcOffset: berlin) { told.append($0) } == time(expected))
        #expect(told.map(\.isSkipped) == [isSkipped])
        #expect(told.map(\.earlier) == [earlier.flatMap { OccurredAt(iso8601: $0)?.timestamp }])
        told = []
        #expect(
            Moment("\(text.prefix(10))T00:00Z", now: now, utcOffset: berlin) { told.append($0) } != nil
                || text.count == 15)
        #expect(told.isEmpty)
    }

    @Test("Without a zone of its own, local time is UTC")
    func utc() {
        #expect(Moment("2026-01-31", now: now) == time("2026-01-31"))
        #expect(Moment("yesterday 14:00", now: now) == time("2026-03-17T14:00Z"))
    }

    @Test("Positions and versions are numbers, and what has a text is read from it again")
    func numbers() {
        #expect(Moment("1200", now: now) == .position(Position(rawValue: 1200)))
        #expect(Moment("version:7", now: now) == .version(Version(rawValue: 7)))
        #expect(Moment("now", now: now) == .now)
        for moment in [.now, .position(Position(rawValue: 3)), .version(Version(rawValue: 9)), .time(now)] as [Moment] {
            #expect(Moment(moment.text, now: now, utcOffset: cologne) == moment)
        }
    }

    @Test(
        "Anything else is refused",
        arguments: [
            "", "noon", "-3", "-d", "3d", "--3d", "version:", "version:x", "-1000000000000d", "yesterday noon",
            "yesterday 25:00", "someday 14:00", "2026-02-30", "1 2", "-99999999999999999999d", "140:00", "9:3",
            "today 2026-01-31", "18446744073709551616",
        ])
    func unreadable(text: String) { #expect(Moment(text, now: now, utcOffset: cologne) == nil) }
}
