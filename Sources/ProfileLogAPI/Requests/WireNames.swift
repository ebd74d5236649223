internal import ProfileLog

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

    /// Names that no property may have.
    static let reservedProperties: PerArray<Set<Name>> = {
        var names = PerArray<Set<Name>>(repeating: [])
        names[.events] = [time, "event_name"]
        names[.purchases] = [time, productID, quantity, "event_name", price, currency]
        return names
    }()
}

extension AttributeValue {
    /// The text, if it is some.
    var asText: String? { if case .string(let text) = self { text } else { nil } }

    /// The truth value, if it is one.
    var asFlag: Bool? { if case .bool(let flag) = self { flag } else { nil } }

    /// The number, if it is one, whole or not.
    var asNumber: Double? {
        switch self {
        case .int(let integer): Double(integer)
        case .double(let double): double
        default: nil
        }
    }

    /// The number, if it is a whole one: `2` and `2.0`.
    var asInteger: Int64? {
        switch self {
        case .int(let integer): integer
        case .double(let double): Int64(exactly: double)
        default: nil
        }
    }

    /// The elements, if it is an array.
    var asArray: [AttributeValue]? { if case .array(let values) = self { values } else { nil } }

    /// The member `key`, if this is an object that has it and it is not `null`.
    func present(_ key: Name) -> AttributeValue? {
        guard let value = self[key], value != .null else { return nil }
        return value
    }

    /// Bytes that it takes as compact JSON.
    var jsonByteCount: Int {
        switch self {
        case .string(let text): return text.utf8.count + 2
        default:
            var writer = JSONWriter()
            writer.value(self)
            return writer.bytes.count
        }
    }
}
