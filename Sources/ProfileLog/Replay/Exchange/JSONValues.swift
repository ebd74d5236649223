/// Values of attributes and properties as written in requests, answers and exports: JSON, with `{"$time": "…"}` for
/// a date.
package enum JSONValues {
    private static let time: Name = "$time"

    /// The value with every `{"$time": "…"}` in it made a date.
    package static func value(_ json: AttributeValue) throws(JSONFormError) -> AttributeValue {
        switch json {
        case .array(let values): return .array(try Self.values(values))
        case .object(let members):
            if members.count == 1, members[0].key == time {
                guard case .string(let text) = members[0].value else {
                    throw JSONFormError("has a `$time` that is no text")
                }
                do throws(TimeError) {
                    return .date(try OccurredAt(reading: text))
                } catch {
                    throw JSONFormError("has a `$time` that \(error.reason)", remedy: error.remedy)
                }
            }
            return .object(try self.members(members))
        default: return json
        }
    }

    /// As `value(_:)`, for each member.
    package static func members(
        _ members: [AttributeValue.Member]
    ) throws(JSONFormError) -> [AttributeValue.Member] {
        try members.map { (member) throws(JSONFormError) in .init(member.key, try value(member.value)) }
    }

    package static func values(_ values: [AttributeValue]) throws(JSONFormError) -> [AttributeValue] {
        try values.map { (element) throws(JSONFormError) in try value(element) }
    }

    /// The other way round: what `value(_:)` reads as `value`. A number that JSON cannot express, as an earlier program
    /// may have stored it, is null.
    package static func json(_ value: AttributeValue) -> AttributeValue {
        switch value {
        case .date(let date):
            return .object([.init(time, .string(date.timestamp.rfc3339(utcOffsetMinutes: date.utcOffsetMinutes)))])
        case .array(let values): return .array(values.map(json))
        case .object(let members): return .object(json(members))
        case .double(let number): return number.isFinite ? value : .null
        case .null, .bool, .int, .string: return value
        }
    }

    package static func json(_ members: [AttributeValue.Member]) -> [AttributeValue.Member] {
        members.map { .init($0.key, json($0.value)) }
    }
}

/// The reason why JSON is not what it must be, as a clause without its subject: the caller knows the name of the place.
package struct JSONFormError: Error, Hashable, Sendable {
    /// The clause, as in "has an `inc` that is no integer". Shows no value.
    package let reason: String
    /// The form to write instead, in a sentence; nil if that is not known.
    package let remedy: String?

    package init(_ reason: String, remedy: String? = nil) { (self.reason, self.remedy) = (reason, remedy) }
}
