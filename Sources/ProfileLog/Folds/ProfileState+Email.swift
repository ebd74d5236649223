/// Changes `email_subscribe` when an e-mail address is set or comes with a merge.
extension ProfileState {
    /// The key of `email`.
    static let email = FieldKey(standard: UInt32(StandardAttribute.email.rawValue))
    /// The key of `email_subscribe`.
    static let emailState = FieldKey(standard: UInt32(StandardAttribute.emailSubscribe.rawValue))

    /// Sets an address from REST. A new address makes the user `subscribed` (spec/rest-api 1.4), unless the same event
    /// says otherwise; the same address keeps the opt-in or opt-out.
    mutating func setEmail(_ value: UnsafeRawBufferPointer, position: UInt64, at: Int64) {
        let before = fields.value(Self.email)
        fields.set(Self.email, value, position: position, at: at)
        if case .string(let old)? = before, case .string(let new)? = fields.value(Self.email),
            ContactKey.isSame(.email(old), new)
        {
            return
        }
        let (index, isSet) = fields.index(of: Self.emailState)
        if isSet, fields.fields[index].position == position { return }
        fields.set(Self.emailState, Self.subscribed, position: position, at: at)
    }

    /// Tells whether `source` has an opt-in or opt-out for its e-mail address, and the target has no address, or the
    /// same address and no state given since it was set.
    func takesEmailState(of source: ProfileState) -> Bool {
        guard let state = source.fields.value(Self.emailState), state != Self.subscribed,
            fields.value(Self.emailState) == Self.subscribed,
            case .string(let address)? = source.fields.value(Self.email)
        else { return false }
        guard case .string(let own)? = fields.value(Self.email) else { return true }
        let (field, stateField) = (fields.index(of: Self.email).index, fields.index(of: Self.emailState).index)
        return ContactKey.isSame(.email(own), address)
            && fields.fields[field].position >= fields.fields[stateField].position
    }

    private static let subscribed = AttributeValue.string("subscribed")
}
