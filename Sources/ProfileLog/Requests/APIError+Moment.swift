extension APIError {
    /// The time that `text`, the value of `place`, is.
    package static func time(_ text: String, _ place: String) throws(APIError) -> OccurredAt {
        do throws(TimeError) {
            return try OccurredAt(reading: text)
        } catch {
            throw invalid(place, error.reason, remedy: error.remedy ?? correctIt)
        }
    }

    private static let days = [
        "now", "today", "yesterday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]

    /// The refusal of `text`, the value of `place`, which ``Moment`` cannot read.
    static func noMoment(_ place: String, _ text: String) -> APIError {
        if text.hasPrefix("-") {
            return .invalid(
                place, "must count seconds, minutes, hours or days before now",
                remedy: "Write it as in `-90s`, `-5m`, `-2h` or `-3d`.")
        }
        if text.hasPrefix("version:") {
            return .invalid(place, "must have a whole number after `version:`", remedy: "Write it as in `version:7`.")
        }
        do throws(TimeError) {
            _ = try OccurredAt(reading: text)
        } catch {
            if let remedy = error.remedy { return .invalid(place, error.reason, remedy: remedy) }
        }
        let word = String(text.prefix { $0 != " " })
        let isDay = days.contains(word.lowercased())
        if isDay || text.first?.isNumber == true && text.contains(where: { "-:".contains($0) }) {
            return .invalid(
                place, "is no day or time of the calendar",
                remedy: "Write it as in `2026-01-31`, `2026-01-31T14:03Z`, `14:03` or `yesterday 14:03`.")
        }
        return .invalid(
            place, "is no moment of the past",
            remedy: NearestNames(to: word, among: days).question("")
                ?? "Give a position, version:N, a day or a time as in `2026-01-31`, `2026-01-31T14:03Z`, `14:03`, "
                + "`monday` or `yesterday 14:00`, or so long ago as in `-3d` (s, m, h or d).")
    }
}
