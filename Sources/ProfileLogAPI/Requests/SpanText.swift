internal import ProfileLog

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
