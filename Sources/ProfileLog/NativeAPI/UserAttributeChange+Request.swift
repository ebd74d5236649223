internal import ProfileLogRequests

extension UserAttributeChange {
    /// What a request of the native API asks for, by the rules that `/users/track` has for each attribute
    /// (spec/rest-api 1.4): what is dropped or cleared there is refused here.
    ///
    /// The value stays as it was written, but for the name of a country, which becomes its code. Where a date belongs,
    /// a `$time` is one.
    init(_ attribute: StandardAttribute, requested value: AttributeValue) throws(APIProblem) {
        switch (attribute, value) {
        case (_, .null), (.dateOfBirth, .date), (.dateOfFirstSession, .date), (.dateOfLastSession, .date),
            (.markedEmailAsSpamAt, .date):
            self.init(attribute, value)
        case (.email, _):
            guard let text = value.asText, ContactForm.isEmail(text) else {
                throw .invalid(attribute, "must be an e-mail address")
            }
            self.init(attribute, value)
        case (.phone, _):
            guard let text = value.asText, ContactForm.isPhone(text) else {
                throw .invalid(attribute, "must be a phone number: digits, with + in front if you like")
            }
            self.init(attribute, value)
        default:
            let kept: AttributeValue
            do {
                kept = try ReservedField.value(value, of: attribute)
            } catch {
                switch error {
                case .field(let reason), .object(let reason, _): throw .invalid(attribute, reason)
                }
            }
            if kept == .null { throw .invalid(attribute, "is neither a code of ISO 3166-1 nor an English name") }
            self.init(attribute, attribute == .country ? kept : value)
        }
    }
}

extension APIProblem {
    fileprivate static func invalid(_ attribute: StandardAttribute, _ reason: String) -> APIProblem {
        APIProblem(AppendError.invalid(place: "The user attribute \(attribute.name)", reason: reason))
    }
}
