internal import ProfileLogSnippets

/// The validation of the fields that every profile has by name (spec/rest-api 1.4).
package enum ReservedField {
    /// The attribute of exactly this name; nil if it is a custom one.
    package static func attribute(_ name: Name) -> StandardAttribute? {
        guard let attribute = StandardAttribute(name: name.text), attribute.name == name.text else { return nil }
        return attribute
    }

    /// `value` as the profile keeps it; `.null` clears. `time` reads the text of a time: in Braze's forms, unless told
    /// otherwise.
    package static func value(
        _ value: AttributeValue, of attribute: StandardAttribute, time: (String) -> OccurredAt? = Self.date
    ) throws(TrackError) -> AttributeValue {
        if value == .null { return value }
        switch attribute {
        case .firstName, .lastName, .homeCity, .imageURL: return .string(try text(value))
        case .email:
            if value == .string("") { throw .field("is empty") }
            guard let address = value.asText.flatMap(NormalContact.email) else { throw TrackError.invalidEmail }
            return .string(address)
        case .phone:
            guard let number = NormalContact.phone(try text(value)) else {
                throw .field("is no phone number as in +14155552671")
            }
            return .string(number)
        case .country: return CountryCodes.code(try text(value)).map(AttributeValue.string) ?? .null
        case .language:
            guard let code = LanguageCodes.code(try text(value)) else { throw .field("is no code of ISO 639-1") }
            return .string(code)
        case .timeZone:
            let name = try text(value)
            guard TimeZoneNames.contains(name) else { throw .field("is no known time zone") }
            return .string(name)
        case .gender: return .string(try text(value, among: ["M", "F", "O", "N", "P"]))
        case .emailSubscribe, .pushSubscribe:
            return .string(try text(value, among: ["opted_in", "subscribed", "unsubscribed"]))
        case .dateOfBirth: return .string(try day(value))
        case .dateOfFirstSession, .dateOfLastSession, .markedEmailAsSpamAt:
            guard let date = time(try text(value)) else { throw .field("is no time") }
            return .date(date)
        case .emailOpenTrackingDisabled, .emailClickTrackingDisabled:
            guard value.asFlag != nil else { throw .field("is neither true nor false") }
            return value
        case .currentLocation: return try location(value)
        case .facebook: return try account(value, counts: ["num_friends"])
        case .twitter:
            return try account(value, counts: ["followers_count", "friends_count", "statuses_count"])
        case .pushTokens: return try list(value, keys: ["app_id", "token"])
        case .subscriptionGroups: return try groups(value)
        }
    }

    /// The first moment of the year 3001: what comes later is no date.
    private static let end = Timestamp(rawValue: 32_535_216_000_000_000)

    /// A moment up to the year 3000, in one of Braze's forms; nil if the text is none.
    package static func date(_ text: String) -> OccurredAt? {
        guard let date = OccurredAt(braze: text), date.timestamp < end else { return nil }
        return date
    }

    private static func text(_ value: AttributeValue) throws(TrackError) -> String {
        guard let text = value.asText else { throw .field("is no text") }
        // No document limits these; a page of text is no name.
        guard text.utf8.count <= 4096 else { throw .field("is longer than 4,096 bytes") }
        return text
    }

    private static func text(_ value: AttributeValue, among known: [String]) throws(TrackError) -> String {
        let text = try text(value)
        guard known.contains(text) else { throw .field("is none of \(known.joined(separator: ", "))") }
        return text
    }

    /// A day as `YYYY-MM-DD`.
    private static func day(_ value: AttributeValue) throws(TrackError) -> String {
        let text = try text(value)
        guard text.utf8.count == 10, text.utf8.dropFirst(4).first == UInt8(ascii: "-"), OccurredAt(iso8601: text) != nil
        else { throw .field("is no day as in 1990-12-31") }
        return text
    }

    private static func location(_ value: AttributeValue) throws(TrackError) -> AttributeValue {
        guard let longitude = value["longitude"]?.asNumber, let latitude = value["latitude"]?.asNumber,
            (-180...180).contains(longitude), (-90...90).contains(latitude)
        else { throw .field("needs 'longitude' from -180 to 180 and 'latitude' from -90 to 90") }
        return .object([.init("latitude", .double(latitude)), .init("longitude", .double(longitude))])
    }

    /// Returns the user's data from elsewhere: members that mean something must be what they are called, others may be
    /// anything.
    private static func account(_ value: AttributeValue, counts: [Name]) throws(TrackError) -> AttributeValue {
        guard case .object = value else { throw .field("is no object") }
        for key in counts {
            if let count = value.present(key), count.asInteger == nil {
                throw .field("has a '\(key)' that is no integer")
            }
        }
        if let name = value.present("screen_name"), name.asText == nil {
            throw .field("has a 'screen_name' that is no text")
        }
        if let likes = value.present("likes"), likes.asArray == nil { throw .field("has 'likes' that are no array") }
        if let id = value.present("id"), id.asText == nil, id.asInteger == nil {
            throw .field("has an 'id' that is neither text nor an integer")
        }
        return value
    }

    /// An array of objects that have text under each of `keys`.
    private static func list(_ value: AttributeValue, keys: [Name]) throws(TrackError) -> AttributeValue {
        guard let values = value.asArray, values.allSatisfy({ value in keys.allSatisfy { value[$0]?.asText != nil } })
        else { throw .field("is no array of objects with \(keys.map { "'\($0)'" }.joined(separator: " and "))") }
        return value
    }

    private static func groups(_ value: AttributeValue) throws(TrackError) -> AttributeValue {
        let value = try list(value, keys: ["subscription_group_id", "subscription_state"])
        for group in value.asArray ?? [] {
            guard ["subscribed", "unsubscribed"].contains(group["subscription_state"]?.asText) else {
                throw .field("has a 'subscription_state' that is neither subscribed nor unsubscribed")
            }
        }
        return value
    }
}

/// An error in an object of a track request, or in one field of it. Never shows a value.
package enum TrackError: Error {
    /// The object is refused; the text is the `type` of its entry in `errors` (spec/rest-api 1.9). If it has names that
    /// the sender chose, `kept` says the same without them, for the log.
    case object(String, kept: String? = nil)
    /// The field is skipped, the rest of the object is taken; the text is the `reason` of its entry in `dropped`.
    case field(String)

    package static let identifierMissing = TrackError.object(
        "'external_id', 'braze_id', 'user_alias', 'email' or 'phone' is required")
    package static let invalidEmail = TrackError.object(
        "The value provided for the 'email' field is not a valid email.")
    package static let invalidProperties = TrackError.object("Invalid 'properties' field")

    package static func required(_ field: String) -> TrackError { .object("'\(field)' is required") }
    package static func notValid(_ field: String) -> TrackError { .object("'\(field)' is not valid") }
}
