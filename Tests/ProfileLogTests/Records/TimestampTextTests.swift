import ProfileLog
import Testing

@testable import ProfileLogRecords

@Suite("Times are read in all forms that senders use")
struct TimestampParsingTests {
    /// 2026-01-31T23:59:59Z in microseconds.
    private static let lastSecond: Int64 = 1_769_903_999_000_000
    /// 2026-01-31T00:00:00Z in microseconds.
    private static let midnight: Int64 = 1_769_817_600_000_000

    @Test(
        "A form gives its moment",
        arguments: [
            ("2026-01-31T23:59:59Z", lastSecond, 0), ("2026-01-31t23:59:59z", lastSecond, 0),
            ("2026-01-31T23:59:59", lastSecond, 0), ("2026-01-31 23:59:59", lastSecond, 0),
            ("2026-01-31 23:59:59 UTC", lastSecond, 0), ("2026-01-31T23:59:59.5 GMT", lastSecond + 500_000, 0),
            ("2026-01-31 23:59:59 Z", lastSecond, 0), ("2026-01-31T23:59:59+00:00", lastSecond, 0),
            ("2026-01-31T23:59:59-00:00", lastSecond, 0), ("2026-02-01T00:59:59+01:00", lastSecond, 60),
            ("2026-02-01T05:29:59+0530", lastSecond, 330), ("2026-01-31T18:59:59-05", lastSecond, -300),
            ("2026-01-31 18:59:59 -0500", lastSecond, -300), ("2026-01-31T00:00:59-23:59", lastSecond, -1439),
            ("2026-01-31T23:59:59.1Z", lastSecond + 100_000, 0), ("2026-01-31T23:59:59.123Z", lastSecond + 123_000, 0),
            ("2026-01-31T23:59:59,123456Z", lastSecond + 123_456, 0),
            ("2026-01-31T23:59:59.123456789+00:00", lastSecond + 123_456, 0),
            ("2026-01-31T23:59:59.999999999", lastSecond + 999_999, 0),
            ("2026-01-31T23:59:59.1234567890Z", lastSecond + 123_456, 0),
            ("2026-01-31T23:59:59.\(String(repeating: "9", count: 100))+00:00", lastSecond + 999_999, 0),
            ("2026-01-31T00:00Z", midnight, 0), ("2026-01-31T00:00", midnight, 0), ("2026-01-31", midnight, 0),
            ("20260131", midnight, 0), ("2026-01-31T23:59:59 ut", lastSecond, 0), ("1970-01-01T00:00:00Z", 0, 0),
            ("1969-12-31T23:59:59.999999Z", -1, 0), ("2000-02-29", 951_782_400_000_000, 0),
            ("0000-01-01T00:00:00Z", -62_167_219_200_000_000, 0),
            ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999, 0),
            ("20260131T235959Z", lastSecond, 0), ("20260131t235959.5", lastSecond + 500_000, 0),
            ("20260131T185959-0500", lastSecond, -300), ("20260131T0000Z", midnight, 0),
            ("2026-01-30T24:00:00Z", midnight, 0), ("2026-01-30T24:00", midnight, 0),
            ("2026-01-30T24:00:00.000Z", midnight, 0), ("20260130T240000Z", midnight, 0),
            ("2026-01-30 24:00:00 -0500", midnight + 18_000_000_000, -300),
            ("2026-01-31T23:59:60Z", lastSecond + 1_000_000, 0), ("20260131T235960.5Z", lastSecond + 1_500_000, 0),
        ] as [(String, Int64, Int32)])
    func accepts(text: String, micros: Int64, offset: Int32) {
        let moment = OccurredAt(Timestamp(rawValue: micros), utcOffsetMinutes: offset)
        #expect(OccurredAt(iso8601: text) == moment)
        #expect(OccurredAt(braze: text) == (text == "20260131" ? nil : moment))
    }

    private static let brazeForms: [(String, Int64, Int32)] = [
        ("2026-02-01T00:59:59+1:00", lastSecond, 60), ("2026-01-31T18:59:59-5:00", lastSecond, -300),
        ("2026-02-01 05:29:59 +5:30", lastSecond, 330), ("Sat 01 31 18:59:59.-5:00 2026", lastSecond, -300),
        ("2026-01-31T23:59:59:123Z", lastSecond + 123_000, 0),
        ("2026-01-31T23:59:59:123+0000", lastSecond + 123_000, 0), ("01/31/2026", midnight, 0),
        ("1/31/2026", midnight, 0), ("1-31-2026", midnight, 0), ("01-31-2026", midnight, 0),
        ("Sat 01 31 23:59:59.Z 2026", lastSecond, 0), ("Sat 01 31 23:59:59.UTC 2026", lastSecond, 0),
        ("sat jan 31 23:59:59 GMT 2026", lastSecond, 0), ("Sat 01 31 18:59:59.-0500 2026", lastSecond, -300),
        ("Sat Jan 31 18:59:59 -05:00 2026", lastSecond, -300), ("Sat Jan 31 23:59:59 2026", lastSecond, 0),
        ("Sat 01 31 23:59:59.UT 2026", lastSecond, 0), ("Sat 01 31 18:59:59.EST 2026", lastSecond, -300),
        ("Sat 01 31 19:59:59.EDT 2026", lastSecond, -240), ("Sat 01 31 17:59:59 CST 2026", lastSecond, -360),
        ("Sat 01 31 18:59:59.cdt 2026", lastSecond, -300), ("Sat 01 31 16:59:59.MST 2026", lastSecond, -420),
        ("Sat 01 31 17:59:59.MDT 2026", lastSecond, -360), ("Sat 01 31 15:59:59.PST 2026", lastSecond, -480),
        ("Sat 01 31 16:59:59.PDT 2026", lastSecond, -420), ("Sun 02 01 00:59:59.CET 2026", lastSecond, 60),
        ("Sun 02 01 01:59:59.CEST 2026", lastSecond, 120), ("2026-01-31 15:59:59 PST", lastSecond, -480),
        ("2026-02-01 01:59:59 CEST", lastSecond, 120),
        ("Sat 01 31 23:59:59.123.+00:00 2026", lastSecond + 123_000, 0),
    ]

    @Test("Braze's forms are read in its format alone", arguments: brazeForms)
    func braze(text: String, micros: Int64, offset: Int32) {
        #expect(OccurredAt(braze: text) == OccurredAt(Timestamp(rawValue: micros), utcOffsetMinutes: offset))
        #expect(OccurredAt(iso8601: text) == nil)
    }

    @Test(
        "What is refused names the form that is meant",
        arguments: [
            ("01/02/2026", "is ambiguous", "2026-01-02 for 2 January, or 2026-02-01 for 1 February"),
            ("1-2-2026", "is ambiguous", "2026-01-02 for 2 January, or 2026-02-01 for 1 February"),
            ("01.02.2026", "is ambiguous", "2026-01-02 for 2 January, or 2026-02-01 for 1 February"),
            ("1/2/2026 10:00", "is ambiguous", "2026-01-02 10:00 for 2 January, or 2026-02-01 10:00 for 1 February"),
            ("2026/1/31T10:00Z", "have its day", "2026-01-31T10:00Z"), ("2026-01-31T25:00", "must be a time", nil),
            ("2026-01-31T10:00 PST", "must be a time", nil), ("31/1/2026 25:00", "begin with the year", "2026-01-31"),
            ("01/31/2026", "begin with the year", "2026-01-31"), ("31.01.2026", "begin with the year", "2026-01-31"),
            ("2/2/2026", "begin with the year", "2026-02-02"), ("2026/01/31", "as in RFC 3339", "2026-01-31"),
            ("2026-1-2", "as in RFC 3339", "2026-01-02"), ("1/2/26", "four digits", nil),
            ("1769903999", "is a number", "2026-01-31T23:59:59.000Z for seconds since 1970"),
            ("1769903999123", "is a number", "2026-01-31T23:59:59.123Z for milliseconds since 1970"),
            ("30/30/2026", "must be a time", nil), ("soon", "must be a time", nil),
        ] as [(String, String, String?)])
    func fault(text: String, reason: String, remedy: String?) {
        #expect {
            try OccurredAt(reading: text)
        } throws: { error in
            guard let fault = error as? TimeError else { return false }
            return fault.reason.contains(reason) && fault.remedy == remedy.map { "Write \($0)." }
        }
    }

    @Test(
        "Text that is in none of the forms is no time",
        arguments: [
            "9999-12-31T24:00:00Z", "9999-12-31T23:59:60+01:00",
            "", "2026", "2026-01", "20260132", "20260131T", "20260131T23", "20260131T23:59:59Z", "2026-01-31T235959Z",
            "20260131235959", "20260131 235959", "202601311T235959Z", "2026-W05-6", "2026W056T000000Z",
            "2026031T000000Z", "2026-031", "2026-1-31", "26-01-31",
            "2026-00-10", "2026-13-01", "2026-01-00", "2026-01-32", "2026-02-30", "2026-02-29", "1900-02-29",
            "2026-04-31",
            "2026-01-31T", "2026-01-31T23", "2026-01-31T24:00:01Z", "2026-01-31T24:01Z", "2026-01-31T24:00:00.1Z",
            "2026-01-31T25:00Z", "2026-01-31T23:60:00Z", "2026-01-31T23:59:61Z", "2026-01-31T23:59:5Z",
            "2026-01-31T23:59:59.Z", "2026-01-31T23:59:59.",
            "2026-01-31T23:59:59:12Z", "2026-01-31T23:59:59:1234Z",
            "2026-01-31T23:59:59ZZ", "2026-01-31T23:59:59Z ", " 2026-01-31", "2026-01-31 ", "2026-01-31  23:59:59",
            "2026-01-31T23:59:59+24:00", "2026-01-31T23:59:59+01:60", "2026-01-31T23:59:59+1",
            "2026-01-31T23:59:59+01:",
            "2026-01-31T23:59:59+01:0", "2026-01-31T23:59:59+010", "2026-01-31T23:59:59 IST", "2026-01-31_23:59:59",
            "2026-01-31T23:59:59+1:0", "2026-01-31T23:59:59+1:", "2026-01-31T23:59:59+1:60", "2026-01-31T23:59:59+:00",
            "2026-01-31T23:59:59 ES", "2026-01-31T23:59:59 ESTX", "2026-01-31T23:59:59 CES", "2026-01-31T23:59:59 A",
            "2026-01-31Z", "+2026-01-31", "2026/01/31", "2026-01/31", "13/01/2026", "02/30/2026", "1/31-2026",
            "1/31/26",
            "01/31/2026 10:00:00", "31.01.2026", "Sun 01 31 23:59:59.Z 2026", "Sat 01 31 23:59:59.BST 2026",
            "Sat 13 31 23:59:59.Z 2026", "Sat 01 31 23:59:59.Z", "Sat 01 31 23:59:59.2026",
            "Saturday 01 31 23:59:59 2026",
            "2026-01-31T23:59:59\u{0}", "２０２６-01-31", "hello world", "::::::::::", "----------",
        ])
    func rejects(text: String) {
        #expect(OccurredAt(iso8601: text) == nil)
        #expect(OccurredAt(braze: text) == nil)
    }

    @Test("Damaged times are read or refused, never a crash", arguments: UInt64(0)..<8)
    func damage(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let forms = [
            "2026-01-31T23:59:59.123456+01:00", "2026-01-31T23:59:59:123Z", "01/31/2026",
            "Sat 01 31 23:59:59.-0500 2026",
        ]
        for _ in 0..<5000 {
            var bytes = Array(forms[random.next(below: forms.count)].utf8)
            bytes[random.next(below: bytes.count)] = UInt8(truncatingIfNeeded: random.next())
            bytes.removeLast(random.next(below: bytes.count))
            let damaged = String(decoding: bytes, as: UTF8.self)
            guard let moment = OccurredAt(iso8601: damaged) ?? OccurredAt(braze: damaged) else { continue }
            let text = moment.timestamp.rfc3339(utcOffsetMinutes: moment.utcOffsetMinutes)
            #expect(text.utf8.count > 30 || OccurredAt(iso8601: text) == moment)
        }
    }
}

@Suite("Times are written as RFC 3339")
struct TimestampFormattingTests {
    @Test(
        "A moment gives its text",
        arguments: [
            (0, 0, "1970-01-01T00:00:00.000Z"), (1_767_225_600_123_456, 0, "2026-01-01T00:00:00.123456Z"),
            (1_767_225_600_123_000, 0, "2026-01-01T00:00:00.123Z"), (-1, 0, "1969-12-31T23:59:59.999999Z"),
            (1_767_225_600_000_000, 330, "2026-01-01T05:30:00.000+05:30"),
            (1_767_225_600_000_000, -300, "2025-12-31T19:00:00.000-05:00"),
            (1_767_225_600_000_000, 1440, "2026-01-01T00:00:00.000Z"),
            (-62_167_219_200_000_000, 0, "0000-01-01T00:00:00.000Z"),
            (-62_167_219_200_000_001, 0, "-000001-12-31T23:59:59.999999Z"),
            (253_402_300_800_000_000, 0, "+010000-01-01T00:00:00.000Z"),
            (.max, 1439, "+294247-01-11T03:59:54.775807+23:59"), (.min, -1439, "-290308-12-20T20:00:05.224192-23:59"),
        ] as [(Int64, Int32, String)])
    func text(micros: Int64, offset: Int32, text: String) {
        #expect(Timestamp(rawValue: micros).rfc3339(utcOffsetMinutes: offset) == text)
    }

    @Test("What was written reads back the same", arguments: UInt64(0)..<16)
    func roundTrip(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<1000 {
            let micros = Int64(random.next(below: 315_000_000_000_000_000)) - 62_000_000_000_000_000
            let moment = OccurredAt(
                Timestamp(rawValue: random.next(below: 2) == 0 ? micros : micros / 1000 * 1000),
                utcOffsetMinutes: Int32(random.next(below: 2879)) - 1439)
            let text = moment.timestamp.rfc3339(utcOffsetMinutes: moment.utcOffsetMinutes)
            #expect(OccurredAt(iso8601: text) == moment)
        }
    }

    @Test("Days follow each other through all of 800 years")
    func calendar() throws {
        var days = try #require(CivilDate(year: 1600, month: 1, day: 1)).daysSince1970
        #expect(days == -135_140)
        for year in 1600..<2400 {
            for month in 1...12 {
                for day in 1...CivilDate.days(inMonth: month, ofYear: year) {
                    let date = try #require(CivilDate(year: year, month: month, day: day))
                    guard date.daysSince1970 == days, CivilDate(daysSince1970: days) == date else {
                        Issue.record("\(year)-\(month)-\(day) is not day \(days)")
                        return
                    }
                    days += 1
                }
            }
        }
        #expect(days == 157_054)  // 2400-01-01
    }

    @Test("Now is after this was written, and before the year 2100")
    func now() {
        #expect(Timestamp(rawValue: 1_767_225_600_000_000) < .now())
        #expect(Timestamp.now() < Timestamp(rawValue: 4_102_444_800_000_000))
    }
}

@Suite("Spans of time are short text")
struct DurationTextTests {
    @Test(
        "A number and a unit is a span",
        arguments: [
            ("90s", .seconds(90)), ("15m", .seconds(900)), ("2h", .seconds(7200)), ("3d", .seconds(259_200)),
            ("0s", .zero), ("007m", .seconds(420)),
        ] as [(String, Duration)])
    func accepts(text: String, duration: Duration) {
        #expect(DurationText.parse(text) == duration)
    }

    @Test(
        "Text in no form of a client is no time",
        arguments: [
            "", "s", "5", "-5s", "+5s", "5 s", " 5s", "5s ", "5S", "1h30m", "1.5h", "5w", "٥s", "9223372036854775808s",
        ]
            + ["9223372036854775807d"])
    func rejects(text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test(
        "An age is told in its largest units",
        arguments: [
            (.zero, "0 s"), (.milliseconds(350), "350 ms"), (.milliseconds(1999), "1 s"), (.seconds(59), "59 s"),
            (.seconds(60), "1 min"), (.seconds(239), "3 min"), (.seconds(3600), "1 h"), (.seconds(7500), "2 h 5 min"),
            (.seconds(86_399), "23 h 59 min"), (.seconds(86_400), "1 d"), (.seconds(345_599), "3 d"),
            (.seconds(-180), "-3 min"),
        ] as [(Duration, String)])
    func compact(duration: Duration, text: String) {
        #expect(DurationText.compact(duration) == text)
    }

    @Test(
        "Whole seconds are told in one unit without rounding, and typed as they are read",
        arguments: [
            (60, "1 min", "1m"), (61, "61 s", "61s"), (5_400, "90 min", "90m"), (129_600, "36 h", "36h"),
            (604_800, "7 d", "7d"),
        ] as [(Int64, String, String)])
    func exact(seconds: Int64, text: String, typed: String) {
        #expect(DurationText.exact(seconds: seconds) == text)
        #expect(DurationText.typed(seconds: seconds) == typed)
        #expect(DurationText.parse(typed) == .seconds(seconds))
    }
}
