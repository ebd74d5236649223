internal import ProfileLog

/// Values of attributes and properties as they stand in requests and answers: JSON, with `{"$time": "…"}` for a date.
enum JSONValues {
    private static let time: Name = "$time"

    /// The value with every `{"$time": "…"}` in it made a date. `place` names it in errors.
    static func value(_ json: AttributeValue, _ place: String) throws -> AttributeValue {
        switch json {
        case .array(let values): return .array(try values.map { try value($0, place) })
        case .object(let members):
            if members.count == 1, members[0].key == time {
                guard case .string(let text) = members[0].value, let date = OccurredAt(iso8601: text) else {
                    throw APIProblem.invalid(place, "has a `$time` that is no time as in RFC 3339")
                }
                return .date(date)
            }
            return .object(try self.members(members, place))
        default: return json
        }
    }

    static func members(_ members: [AttributeValue.Member], _ place: String) throws -> [AttributeValue.Member] {
        try members.map { .init($0.key, try value($0.value, place)) }
    }

    /// The other way round: what `value(_:_:)` reads as `value`.
    static func json(_ value: AttributeValue) -> AttributeValue {
        switch value {
        case .date(let date):
            return .object([.init(time, .string(date.timestamp.rfc3339(utcOffsetMinutes: date.utcOffsetMinutes)))])
        case .array(let values): return .array(values.map(json))
        case .object(let members): return .object(json(members))
        default: return value
        }
    }

    static func json(_ members: [AttributeValue.Member]) -> [AttributeValue.Member] {
        members.map { .init($0.key, json($0.value)) }
    }
}
