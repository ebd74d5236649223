/// The reason why a text is no time, and what to write instead.
package struct TimeError: Error, Hashable, Sendable {
    /// A clause without its subject, as in "is ambiguous". Shows nothing of the text.
    package let reason: String
    /// One sentence with the form to write; nil if the text does not tell.
    package let remedy: String?

    private static let form = "must be a time as in RFC 3339, like 2026-01-31T23:59:59Z"

    /// Finds the reason why `OccurredAt(iso8601: text)` is nil.
    init(_ text: String) {
        let (reason, meant) = Self.otherForm(text) ?? (Self.form, [])
        self.reason = reason
        remedy = meant.isEmpty ? nil : "Write \(meant.joined(separator: ", or "))."
    }

    /// Describes the error in a text of a known other form, and the times that it can mean.
    private static func otherForm(_ text: String) -> (reason: String, meant: [String])? {
        if let number = Int64(text), text.utf8.count >= 9 {
            let meant = EpochUnit.allCases.compactMap { unit in
                unit.plausible(.int(number)).map { "\($0.rfc3339()) for \(unit.words) since 1970" }
            }
            return ("is a number, not a time as in RFC 3339", meant)
        }
        let day = text.prefix { $0.isNumber || "/.-".contains($0) }
        guard let separator = day.first(where: { !$0.isNumber }) else { return nil }
        let time = text.dropFirst(day.count)
        /// Writes `date` with the time that follows the day, if that can be read.
        func meant(_ date: CivilDate) -> String {
            OccurredAt(iso8601: date.text + time) == nil ? date.text : date.text + time
        }
        let parts = day.split(separator: separator, omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Int($0) }
        guard parts.count == 3, numbers.count == 3 else { return nil }
        if parts[0].utf8.count == 4 {
            let date = CivilDate(year: numbers[0], month: numbers[1], day: numbers[2])
            guard let date, date.text != day else { return nil }
            return ("must have its day as in RFC 3339", [meant(date)])
        }
        guard parts[0].utf8.count <= 2, parts[1].utf8.count <= 2 else { return nil }
        guard parts[2].utf8.count == 4 else {
            return parts[2].utf8.count == 2 ? ("must begin with a year of four digits, like 2026-01-31", []) : nil
        }
        let monthFirst = CivilDate(year: numbers[2], month: numbers[0], day: numbers[1])
        let dayFirst = CivilDate(year: numbers[2], month: numbers[1], day: numbers[0])
        let dates = [monthFirst, dayFirst].compactMap(\.self)
        if dates.count == 2, monthFirst != dayFirst {
            return (
                "is ambiguous: it may begin with the month or with the day",
                dates.map { "\(meant($0)) for \($0.words)" }
            )
        }
        return dates.first.map { ("must begin with the year, as in RFC 3339", [meant($0)]) }
    }
}

extension OccurredAt {
    /// Reads `text` as ``init(iso8601:)`` does: what a time is on every road but those in Braze's format.
    package init(reading text: String) throws(TimeError) {
        guard let time = OccurredAt(iso8601: text) else { throw TimeError(text) }
        self = time
    }
}

extension CivilDate {
    /// As in `2026-01-31`.
    fileprivate var text: String {
        String(Timestamp(rawValue: Int64(daysSince1970) * 86_400_000_000).rfc3339().prefix { $0 != "T" })
    }

    /// As in `31 January`.
    fileprivate var words: String {
        let months = [
            "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
            "November", "December",
        ]
        return "\(day) \(months[month - 1])"
    }
}
