internal import ProfileLogSnippets

extension StandardAttribute {
    /// The value as conditions compare it: in the form that `/users/track` keeps, with a day as a time. The native API
    /// keeps what it was given.
    func compared(_ value: AttributeValue) -> AttributeValue {
        // Most are text that is kept unchanged.
        switch self {
        case .firstName, .lastName, .homeCity, .imageURL, .emailSubscribe, .pushSubscribe: value
        default: (try? comparable(value)) ?? value
        }
    }

    /// As ``compared(_:)``. Throws for what no profile has.
    package func comparable(_ value: AttributeValue) throws(TrackError) -> AttributeValue {
        // The native API and imports also take numbers without a known country.
        if self == .phone, let number = value.asText, ContactForm.isPhone(number), NormalContact.phone(number) == nil {
            return value
        }
        let kept = try ReservedField.value(value, of: self)
        switch (self, kept) {
        case (.country, .null): throw .field("is no country")
        // Of any year: nothing says that a day must be one that dates of custom attributes can have.
        case (.dateOfBirth, .string(let day)): return OccurredAt(iso8601: day).map(AttributeValue.date) ?? kept
        default: return kept
        }
    }

    /// Tells whether every profile has a value, also one about which nothing was said (``ProfileSubject/value(_:)``).
    package var isAlwaysThere: Bool { self == .emailSubscribe || self == .pushSubscribe }

    /// Tells whether its values are times.
    package var isTime: Bool {
        [.dateOfBirth, .dateOfFirstSession, .dateOfLastSession, .markedEmailAsSpamAt].contains(self)
    }

    /// Tells whether its values are objects or lists, of which no part of a condition has the form.
    package var isNested: Bool {
        [.currentLocation, .facebook, .twitter, .pushTokens, .subscriptionGroups].contains(self)
    }
}

extension ValueTest {
    /// Compares with a value that a client wrote: a number with numbers, a time, or a text that reads as one, with
    /// times; by `=` and `!=` anything, and a text with texts too. Nil if `value` has no order.
    package static func compares(_ relation: Relation, _ value: AttributeValue) -> ValueTest? {
        if let number = Number(value) { return .number(relation, number) }
        let time = (value.asText.flatMap { OccurredAt(iso8601: $0) } ?? value.asDate).map {
            ValueTest.time(relation, $0.timestamp)
        }
        switch relation {
        case .greater, .greaterOrEqual, .less, .lessOrEqual: return time
        case .equal: return value.asText == nil ? equal(value) : .any([equal(value)] + (time.map { [$0] } ?? []))
        case .notEqual:
            if let text = value.asText { return .any([.otherText(text)] + (time.map { [$0] } ?? [])) }
            if let time { return time }
            if let flag = value.asFlag { return .flag(!flag) }
            return .all([.isThere(nil), .not(.same(value))])
        }
    }
}

extension AttributeValue {
    fileprivate var asDate: OccurredAt? { if case .date(let date) = self { date } else { nil } }
}
