import ProfileLog
import Testing

@testable import ProfileLogNativeAPI

@Suite("Times of imported lines")
struct ImportTimesTests {
    private static let now = Timestamp(rawValue: 1_769_900_000_000_000)

    private func time(
        _ json: String, _ unit: EpochUnit? = nil, anyTime: Bool = false, name: String = "time"
    ) throws -> Timestamp? {
        let times = ImportTimes(unit: unit, takesAny: anyTime, now: Self.now)
        let text =
            name == "time"
            ? #"{"kind":"custom_event","user":"u","name":"e","time":\#(json)}"#
            : #"{"kind":"customEventLogged","user":"u","name":"e","occurred_at":\#(json)}"#
        return try Array(text.utf8).withUnsafeBytes { try ImportLine($0, times).fact?.context.occurredAt?.timestamp }
    }

    @Test(
        "Numbers are read in the unit that makes a likely time, or in the one that is said",
        arguments: [
            ("1769903999", nil, 1_769_903_999_000_000), ("1769903999.25", nil, 1_769_903_999_250_000),
            ("1769903999123", nil, 1_769_903_999_123_000), ("1769903999123456", nil, 1_769_903_999_123_456),
            ("\"1769903999\"", nil, 1_769_903_999_000_000), ("86400", .seconds, 86_400_000_000),
            ("86400", .milliseconds, 86_400_000), ("1769903999000", .milliseconds, 1_769_903_999_000_000),
            ("\"2026-01-31T23:59:59Z\"", .milliseconds, 1_769_903_999_000_000),
            ("\"20260131T235959Z\"", nil, 1_769_903_999_000_000),
        ] as [(String, EpochUnit?, Int64)])
    func numbers(json: String, unit: EpochUnit?, micros: Int64) throws {
        for name in ["time", "occurred_at"] {
            #expect(try time(json, unit, name: name) == Timestamp(rawValue: micros))
        }
    }

    @Test(
        "What is not clear is refused, with what helps",
        arguments: [
            ("86400", "no likely time"), ("-1", "no likely time"), ("1e300", "no likely time"), ("true", "RFC 3339"),
            ("\"01/02/2026\"", "write 2026-01-02 for 2 January, or 2026-02-01 for 1 February"),
            ("\"1-31-2026\"", "write 2026-01-31"), ("\"soon\"", "RFC 3339"), ("[]", "RFC 3339"),
        ])
    func refused(json: String, words: String) throws {
        for name in ["time", "occurred_at"] {
            let refusal = try #require(throws: ImportLine.Refusal.self) { try time(json, name: name) }
            #expect(refusal.reason.contains("\"\(name)\"") && refusal.reason.contains(words), "\(refusal.reason)")
        }
    }

    @Test(
        "The years are those that a request may have, unless any are taken",
        arguments: ["0000-01-01T00:00:00Z", "1926-01-01", "2206-01-01T00:00:00Z", "9999-12-31"])
    func bounds(text: String) throws {
        for name in ["time", "occurred_at"] {
            let refusal = try #require(throws: ImportLine.Refusal.self) { try time("\"\(text)\"", name: name) }
            #expect(refusal.remedy == .anyTime)
            #expect(try time("\"\(text)\"", anyTime: true, name: name) == OccurredAt(iso8601: text)?.timestamp)
        }
    }

    @Test("What was in a log, and what a device had saved, keep their times")
    func kept() throws {
        let logged = #"{"kind":"customEventLogged","position":4,"user":"u","name":"e","occurred_at":"2206-01-01"}"#
        let event = try Array(logged.utf8).withUnsafeBytes { try ImportLine($0, ImportTimes(now: Self.now)).fact }
        #expect(event?.context.occurredAt == OccurredAt(iso8601: "2206-01-01"))
        let time = #""occurred_at":"2206-01-01T00:00:00Z""#
        let line = #"{"kind":"customEventSaved","user":"u","name":"e","device":"d",\#(time)}"#
        let fact = try Array(line.utf8).withUnsafeBytes { try ImportLine($0, ImportTimes(now: Self.now)).fact }
        #expect(fact?.context.occurredAt == OccurredAt(iso8601: "2206-01-01T00:00:00Z"))
    }
}
