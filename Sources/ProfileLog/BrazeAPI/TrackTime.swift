internal import ProfileLogRequests

/// Times of the REST API (spec/rest-api 1.5, 1.7).
enum TrackTime {
    /// Returns the time at which something happened; nil for the future, which becomes the time of the recording.
    static func occurredAt(_ object: AttributeValue, now: Timestamp) throws(TrackError) -> OccurredAt? {
        let time = try object.required(WireNames.time) { $0.asText.flatMap { OccurredAt(braze: $0) } }
        return time.timestamp > now ? nil : time
    }

    /// Text as an attribute or a property takes it: a date if it looks like one.
    static func value(_ text: String) -> AttributeValue {
        ReservedField.date(text).map(AttributeValue.date) ?? .string(text)
    }

    /// The moment as the REST API writes it: in UTC, with milliseconds.
    static func text(_ time: Timestamp) -> String {
        let (quotient, remainder) = time.rawValue.quotientAndRemainder(dividingBy: 1000)
        return Timestamp(rawValue: (remainder < 0 ? quotient - 1 : quotient) * 1000).rfc3339()
    }

    /// The value with each date in it as text: as the REST API writes attributes.
    static func json(_ value: AttributeValue) -> AttributeValue {
        switch value {
        case .date(let date): .string(text(date.timestamp))
        case .array(let values): .array(values.map(json))
        case .object(let members): .object(members.map { .init($0.key, json($0.value)) })
        default: value
        }
    }
}
