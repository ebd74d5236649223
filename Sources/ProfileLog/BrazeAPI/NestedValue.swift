internal import ProfileLogRequests

/// The rules for what is inside an array or an object (spec/rest-api 1.2, 1.5): one wrong value spoils the whole field.
struct NestedValue {
    let limits: TrackLimits
    /// Whether it belongs to an attribute, whose rules are stricter than those for properties.
    let isAttribute: Bool

    /// `value` with `{"$time": …}` made a date.
    func checked(_ value: AttributeValue, depth: Int = 1) throws(TrackFault) -> AttributeValue {
        guard depth <= limits.depth else { throw .field("is nested deeper than \(limits.depth)") }
        switch value {
        case .null:
            if isAttribute { throw .field("has a null inside") }
            return value
        case .string(let text):
            if text.isLonger(than: limits.charactersPerString) {
                throw .field("has text of more than \(limits.charactersPerString) characters")
            }
            return value
        case .array(let values):
            return .array(
                try values.map { (element) throws(TrackFault) in try checked(element, depth: depth + 1) })
        case .object(let members):
            if members.count == 1, members[0].key == WireNames.timeValue { return .date(try time(members[0].value)) }
            return .object(try self.members(members, depth: depth))
        default: return value
        }
    }

    /// The members of an object, each checked.
    func members(_ members: [AttributeValue.Member], depth: Int = 1) throws(TrackFault) -> [AttributeValue.Member] {
        try members.map { (member) throws(TrackFault) in
            try check(key: member.key.text)
            return .init(member.key, try checked(member.value, depth: depth + 1))
        }
    }

    private func time(_ value: AttributeValue) throws(TrackFault) -> OccurredAt {
        guard let date = value.asText.flatMap(ReservedField.date) else {
            throw .field("has a '$time' that is no time up to the year 3000")
        }
        return date
    }

    private func check(key: String) throws(TrackFault) {
        if key.isEmpty || key.isLonger(than: limits.charactersPerName) {
            throw .field("has a key that is empty or longer than \(limits.charactersPerName) characters")
        }
        if isAttribute {
            let isBad = key.utf8.contains { [UInt8(ascii: " "), UInt8(ascii: "."), UInt8(ascii: "$")].contains($0) }
            if isBad { throw .field("has a key with a space, a '.' or a '$'") }
        } else if key.utf8.first == UInt8(ascii: "$") {
            throw .field("has a key that begins with '$'")
        }
    }
}
