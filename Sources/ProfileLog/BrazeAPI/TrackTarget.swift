internal import ProfileLogRequests

/// The user that an object of a track request is about.
///
/// Of several identifiers the first of `external_id`, `user_alias`, `braze_id`, `email`, `phone` counts (spec/rest-api
/// 1.3, 9.12).
struct TrackTarget {
    var user: UserID
    /// Whether a user who does not exist stays so.
    var updatesOnly: Bool

    init(user: UserID, updatesOnly: Bool) {
        self.user = user
        self.updatesOnly = updatesOnly
    }

    init(_ object: AttributeValue) throws(TrackFault) {
        guard let user = try Self.user(object) else { throw TrackFault.identifierMissing }
        self.user = user
        guard let flag = object.present(WireNames.updateExistingOnly) else {
            if case .alias = user { updatesOnly = true } else { updatesOnly = false }
            return
        }
        guard let updatesOnly = flag.asFlag else { throw .notValid("_update_existing_only") }
        self.updatesOnly = updatesOnly
    }

    /// The strongest identifier of `object`; nil if it has none.
    private static func user(_ object: AttributeValue) throws(TrackFault) -> UserID? {
        /// Empty text names no user.
        func present(_ key: Name) -> AttributeValue? { object.present(key).flatMap { $0 == .string("") ? nil : $0 } }
        if let value = present(WireNames.externalID) {
            guard let id = externalID(value) else { throw .notValid("external_id") }
            return .externalID(id)
        }
        if let value = object.present(WireNames.userAlias), !isEmptyAlias(value) {
            guard let alias = alias(value) else { throw .notValid("user_alias") }
            return alias
        }
        if let value = present(WireNames.brazeID) {
            guard let id = value.asText, Identifiers.fits(id) else { throw .notValid("braze_id") }
            return .brazeID(id)
        }
        if let value = present(WireNames.email) {
            guard let address = value.asText.flatMap(Identifiers.email) else { throw TrackFault.invalidEmail }
            return .email(address)
        }
        if let value = present(WireNames.phone) {
            guard let number = value.asText.flatMap(Identifiers.phone) else { throw .notValid("phone") }
            return .phone(number)
        }
        return nil
    }

    /// An external ID: text, or an integer, which becomes text.
    static func externalID(_ value: AttributeValue) -> String? {
        switch value {
        case .string(let text): Identifiers.fits(text) ? text : nil
        case .int(let number): String(number)
        default: nil
        }
    }

    /// `{"alias_name": …, "alias_label": …}`; further keys are ignored.
    static func alias(_ value: AttributeValue) -> UserID? {
        guard let name = value[WireNames.aliasName]?.asText, let label = value[WireNames.aliasLabel]?.asText,
            Identifiers.fits(name),
            Identifiers.fits(label)
        else { return nil }
        return .alias(label: label, name: name)
    }

    /// Whether it says neither a name nor a label: so do clients whose users have no alias, and PHP writes `[]` for
    /// `{}`.
    private static func isEmptyAlias(_ value: AttributeValue) -> Bool {
        if value == .array([]) { return true }
        guard case .object = value else { return false }
        return [WireNames.aliasName, WireNames.aliasLabel].compactMap { value.present($0) }
            .allSatisfy { $0 == .string("") }
    }

    /// Why nothing is stored for a user who does not exist, although the object is in order; nil if the user can be
    /// made.
    var reasonAgainstCreation: String? {
        if case .brazeID = user { return "no user has this 'braze_id', and it cannot be given to a new one" }
        return updatesOnly ? "no such user exists, and the object only updates ('_update_existing_only')" : nil
    }
}
