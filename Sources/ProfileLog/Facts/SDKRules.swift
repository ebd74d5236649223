/// Limits of the SDK, beyond those of the log (spec/device 4; spec/rest-api 1.2).
package enum SDKRules {
    /// Bytes of one event's encoded properties.
    static let propertyBytes = 50 << 10
    /// Bytes of a nested attribute.
    static let nestedBytes = 100 << 10
    /// Characters of a string among an event's properties, also inside of arrays and objects.
    static let stringCharacters = 255
    /// Microseconds that a device's clock may be ahead of the log's.
    static let furthestAhead: Int64 = 366 * 86_400 * 1_000_000

    /// Returns the reason why a device's clock may not show `time`, as a clause; nil if it may. Both in microseconds
    /// since 1970, `now` by the log's clock.
    package static func reasonAgainstClock(_ time: Int64, now: Int64) -> String? {
        if time < 0 { return "must not be before 1970" }
        return time - furthestAhead > now ? "is more than a year ahead of the log's clock" : nil
    }

    package static func refusal(of event: CustomEvent) -> (place: String, reason: String)? {
        if event.name.text.utf8.first == dollar { return ("The event's name", "must not begin with $") }
        if let refusal = refusal(of: event.properties) { return refusal }
        // The SDK takes it, and the platform drops it.
        return EcommerceSchema.refusal(of: event).map { ("The event", "breaks the schema of its name: \($0.text)") }
    }

    package static func refusal(of changes: [AttributeChange]) -> (place: String, reason: String)? {
        for change in changes {
            if change.name.text.utf8.first == dollar {
                return ("The attribute \(change.name)", "must not begin with $")
            }
            if case .set(let value) = change.operation, size(value) > nestedBytes {
                return ("The attribute \(change.name)", "must not be larger than \(nestedBytes >> 10) KB")
            }
        }
        return nil
    }

    package static func refusal(of changes: [UserAttributeChange]) -> (place: String, reason: String)? {
        changes.lazy.compactMap { refusal(of: $0) }.first
    }

    private static let dollar = UInt8(ascii: "$")

    static func refusal(of properties: [AttributeValue.Member]?) -> (place: String, reason: String)? {
        var bytes = 0
        for property in properties ?? [] {
            if property.key.text.utf8.first == dollar {
                return ("The property \(property.key)", "must not begin with $")
            }
            if !property.value.texts(fit: { !$0.isLonger(than: stringCharacters) }) {
                let isText = if case .string = property.value { true } else { false }
                let what = isText ? "be longer than \(stringCharacters)" : "hold text of more than \(stringCharacters)"
                return ("The property \(property.key)", "must not \(what) characters")
            }
            bytes += property.key.text.utf8.count + size(property.value)
        }
        if bytes > propertyBytes { return ("The properties", "must not be larger than \(propertyBytes >> 10) KB") }
        return nil
    }

    private static func refusal(of change: UserAttributeChange) -> (place: String, reason: String)? {
        guard case .string(let text) = change.value else { return nil }
        let place = "The user attribute \(change.attribute.name)"
        switch change.attribute {
        case .email: return ContactForm.isEmail(text) ? nil : (place, "must be an e-mail address")
        case .phone:
            return ContactForm.isPhone(text)
                ? nil : (place, "must be a phone number: digits, with + in front if you like")
        default: return nil
        }
    }

    private static func size(_ value: AttributeValue) -> Int {
        switch value {
        case .null, .bool: 1
        case .int, .double, .date: 8
        case .string(let text): text.utf8.count
        case .array(let values): values.reduce(0) { $0 + size($1) }
        case .object(let members): members.reduce(0) { $0 + $1.key.text.utf8.count + size($1.value) }
        }
    }
}

extension AttributeValue {
    /// Tells whether every text in it passes, at any depth. Keys are not checked.
    package func texts(fit isShort: (String) -> Bool) -> Bool {
        switch self {
        case .string(let text): isShort(text)
        case .array(let values): values.allSatisfy { $0.texts(fit: isShort) }
        case .object(let members): members.allSatisfy { $0.value.texts(fit: isShort) }
        case .null, .bool, .int, .double, .date: true
        }
    }
}
