internal import ProfileLogRequests

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
