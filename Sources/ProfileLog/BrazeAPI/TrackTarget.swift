internal import ProfileLogRequests

/// The user that an object of a track request is about.
///
/// Of several identifiers the first of `external_id`, `user_alias`, `braze_id`, `email`, `phone` counts (spec/rest-api
/// 1.3, 9.12).
struct TrackTarget {
    var user: UserID
    /// Tells whether a user who does not exist stays so.
    var updatesOnly: Bool

}

extension TrackTarget {
    init(_ object: AttributeValue) throws(TrackError) {
        guard let user = try Self.user(object) else { throw TrackError.identifierMissing }
        let isAlias = if case .alias = user { true } else { false }
        self.init(
            user: user, updatesOnly: try object.optional(WireNames.updateExistingOnly) { $0.asFlag } ?? isAlias)
    }

    /// The strongest identifier of `object`; nil if it has none.
    private static func user(_ object: AttributeValue) throws(TrackError) -> UserID? {
        for key in [
            WireNames.externalID, WireNames.userAlias, WireNames.brazeID, WireNames.email, WireNames.phone,
        ] {
            guard let value = object.present(key) else { continue }
            // Empty text names no user.
            if key == WireNames.userAlias ? isEmptyAlias(value) : value == .string("") { continue }
            guard let id = id(key, value) else {
                throw key == WireNames.email ? TrackError.invalidEmail : .notValid(key.text)
            }
            return id
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

    /// An address in its form, as an ID.
    static func contact(_ text: String, isEmail: Bool) -> UserID? {
        isEmail ? NormalContact.email(text).map(UserID.email) : NormalContact.phone(text).map(UserID.phone)
    }

    /// The ID that `value` is as the member `key` of an object; nil if it is none.
    static func id(_ key: Name, _ value: AttributeValue) -> UserID? {
        switch key {
        case WireNames.externalID: externalID(value).map(UserID.externalID)
        case WireNames.userAlias: alias(value)
        case WireNames.brazeID: value.asText.flatMap { Identifiers.fits($0) ? .assignedID($0) : nil }
        default: value.asText.flatMap { contact($0, isEmail: key == WireNames.email) }
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

    /// Tells whether it says neither a name nor a label: so do clients whose users have no alias, and PHP writes `[]`
    /// for `{}`.
    static func isEmptyAlias(_ value: AttributeValue) -> Bool {
        if value == .array([]) { return true }
        guard case .object = value else { return false }
        return [WireNames.aliasName, WireNames.aliasLabel].compactMap { value.present($0) }
            .allSatisfy { $0 == .string("") }
    }

    /// The reason why nothing is stored for a user who does not exist, although the object is valid; nil if the user
    /// can be made.
    var reasonAgainstCreation: String? {
        if case .assignedID = user { return "no user has this 'braze_id', and it cannot be given to a new one" }
        return updatesOnly ? "no such user exists, and the object only updates ('_update_existing_only')" : nil
    }
}

/// Keys of the REST API that mean something to the service (spec/rest-api 1.3 to 1.7). They are exact.
enum WireNames {
    static let externalID: Name = "external_id"
    static let userAlias: Name = "user_alias"
    static let brazeID: Name = "braze_id"
    static let aliasName: Name = "alias_name"
    static let aliasLabel: Name = "alias_label"
    static let email: Name = "email"
    static let phone: Name = "phone"

    static let updateExistingOnly: Name = "_update_existing_only"
    static let mergeObjects: Name = "_merge_objects"
    static let pushTokenImport: Name = "push_token_import"

    static let name: Name = "name"
    static let time: Name = "time"
    static let appID: Name = "app_id"
    static let deviceID: Name = "device_id"
    static let properties: Name = "properties"
    static let productID: Name = "product_id"
    static let currency: Name = "currency"
    static let price: Name = "price"
    static let quantity: Name = "quantity"

    static let inc: Name = "inc"
    static let add: Name = "add"
    static let remove: Name = "remove"
    static let objectsAdd: Name = "$add"
    static let objectsUpdate: Name = "$update"
    static let objectsRemove: Name = "$remove"
    static let identifierKey: Name = "$identifier_key"
    static let identifierValue: Name = "$identifier_value"
    static let newObject: Name = "$new_object"
    static let timeValue: Name = "$time"

    /// Members of an attributes object that are never an attribute; `bio` was a field once, and is ignored.
    static let notAttributes: Set<Name> = [
        externalID, userAlias, brazeID, aliasName, aliasLabel, updateExistingOnly, mergeObjects, pushTokenImport, "bio",
    ]

    /// Members of an object of `events`.
    static let ofEvents: Set<Name> = [
        externalID, userAlias, brazeID, email, phone, updateExistingOnly, name, time, appID, properties,
    ]
    /// Members of an object of `purchases`.
    static let ofPurchases: Set<Name> = ofEvents.subtracting([name]).union([productID, currency, price, quantity])

    /// Names that no property may have.
    static let reservedProperties: PerArray<Set<Name>> = {
        var names = PerArray<Set<Name>>(repeating: [])
        names[.events] = [time, "event_name"]
        names[.purchases] = [time, productID, quantity, "event_name", price, currency]
        return names
    }()
}
