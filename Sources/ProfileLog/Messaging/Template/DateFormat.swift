/// The directives of the filter `date`, as in `%d.%m.%Y`.
enum DateFormat {
    static let remedy = "Use \(directives.map { "%\($0)" }.joined(separator: " "))."

    private static let directives = Array("YymdeHIMSpBbAaFTs%".unicodeScalars)

    /// Describes the error in a format; nil if there is none.
    static func error(in format: String) -> String? {
        var isDirective = false
        for scalar in format.unicodeScalars {
            if isDirective, !directives.contains(scalar) {
                return "`%\(TemplateError.shown(String(scalar)))` is no directive"
            }
            isDirective = !isDirective && scalar == "%"
        }
        return isDirective ? "the format ends after `%`" : nil
    }

    /// The time in its own offset from UTC.
    static func text(_ time: OccurredAt, _ format: String) -> String {
        // 2026-01-31T23:59:59, of which each directive takes its part.
        let full = Array(time.timestamp.rfc3339(utcOffsetMinutes: time.utcOffsetMinutes).utf8.prefix(19))
        func part(_ range: Range<Int>) -> String { String(decoding: full[range], as: UTF8.self) }
        let month = Int(part(5..<7)).map { $0 - 1 } ?? 0
        let hour = Int(part(11..<13)) ?? 0
        let local = time.timestamp.rawValue + Int64(time.utcOffsetMinutes) * 60_000_000
        // The first of January 1970 was a Thursday.
        let day = (local - (local < 0 ? microsPerDay - 1 : 0)) / microsPerDay
        let weekday = Int(((day + 4) % 7 + 7) % 7)

        var text = ""
        var isDirective = false
        for scalar in format.unicodeScalars {
            if !isDirective {
                if scalar == "%" { isDirective = true } else { text.unicodeScalars.append(scalar) }
                continue
            }
            isDirective = false
            switch scalar {
            case "Y": text += part(0..<4)
            case "y": text += part(2..<4)
            case "m": text += part(5..<7)
            case "d": text += part(8..<10)
            case "e": text += padded(part(8..<10))
            case "H": text += part(11..<13)
            case "I": text += twoDigits(hour % 12 == 0 ? 12 : hour % 12)
            case "M": text += part(14..<16)
            case "S": text += part(17..<19)
            case "p": text += hour < 12 ? "AM" : "PM"
            case "B": text += months[month]
            case "b": text += months[month].prefix(3)
            case "A": text += weekdays[weekday]
            case "a": text += weekdays[weekday].prefix(3)
            case "F": text += part(0..<10)
            case "T": text += part(11..<19)
            case "s":
                text += String((time.timestamp.rawValue - (time.timestamp.rawValue < 0 ? 999_999 : 0)) / 1_000_000)
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static let microsPerDay: Int64 = 86_400_000_000

    private static func twoDigits(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
    private static func padded(_ day: String) -> String { day.hasPrefix("0") ? " " + day.dropFirst() : day }

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
    private static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
}
