/// Durations as people type and read them.
package enum DurationText {
    /// Reads a whole number and a unit, `s`, `m`, `h` or `d`, as in `90s`; nil for anything else.
    ///
    /// There is no sign, no space and no second unit. A day has 24 hours.
    package static func parse(_ text: String) -> Duration? {
        let digits = text.utf8.dropLast()
        guard let unit = text.utf8.last, let seconds = seconds(in: unit),
            digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let total = Int64(Substring(digits))
        else { return nil }
        let (product, overflowed) = total.multipliedReportingOverflow(by: seconds)
        return overflowed ? nil : .seconds(product)
    }

    /// Returns a duration or an age at a glance: `350 ms`, `42 s`, `3 min`, `2 h 5 min`, `4 d`.
    ///
    /// Rounded down: just under four days are `3 d`. A negative duration (two clocks disagree) has a minus sign.
    package static func compact(_ duration: Duration) -> String {
        guard duration >= .zero else { return "-" + compact(.zero - duration) }
        let seconds = duration.components.seconds
        let minutes = seconds / 60 % 60
        switch seconds {
        case 0: return duration == .zero ? "0 s" : "\(duration.components.attoseconds / 1_000_000_000_000_000) ms"
        case ..<60: return "\(seconds) s"
        case ..<3600: return "\(minutes) min"
        case ..<86_400: return minutes == 0 ? "\(seconds / 3600) h" : "\(seconds / 3600) h \(minutes) min"
        default: return "\(seconds / 86_400) d"
        }
    }

    /// Returns whole seconds in the largest unit of which they are a whole number: `7 d`, `36 h`, `90 s`. So no two are
    /// the same text, where ``compact(_:)`` rounds down.
    package static func exact(seconds: Int64) -> String {
        let (count, unit) = units(seconds)
        return "\(count) \(unit == "m" ? "min" : unit)"
    }

    /// Returns whole seconds as ``parse(_:)`` reads them: `7d`, `36h`, `90s`.
    package static func typed(seconds: Int64) -> String {
        let (count, unit) = units(seconds)
        return "\(count)\(unit)"
    }

    private static func units(_ seconds: Int64) -> (count: Int64, unit: String) {
        let units: [(length: Int64, unit: String)] = [(86_400, "d"), (3_600, "h"), (60, "m")]
        guard seconds > 0, let fit = units.first(where: { seconds.isMultiple(of: $0.length) }) else {
            return (seconds, "s")
        }
        return (seconds / fit.length, fit.unit)
    }

    private static func seconds(in unit: UInt8) -> Int64? {
        switch unit {
        case UInt8(ascii: "s"): 1
        case UInt8(ascii: "m"): 60
        case UInt8(ascii: "h"): 3600
        case UInt8(ascii: "d"): 86_400
        default: nil
        }
    }
}
