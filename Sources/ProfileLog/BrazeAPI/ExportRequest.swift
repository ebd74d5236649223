internal import ProfileLogRequests

/// The body of an export: the users that it asks for, and the fields (spec/rest-api 2.1).
struct ExportRequest {
    /// The users, in the order external IDs, aliases, then the single ones.
    private(set) var identifiers: [Identifier] = []
    /// The fields; nil for all, as for an empty list. Unknown names are ignored.
    let fields: Set<ExportField>?

    /// The kind of ID by which the request names users.
    struct Identifier {
        /// The ID; nil for what can be no user's ID.
        let id: UserID?
        /// The answer's list of unknown ones.
        let shown: String
        /// The device that it names: users with a push token on it are exported too.
        var device: Name?
    }

    init(_ bytes: [UInt8], _ limits: TrackLimits) throws {
        let body = try BodyObject.read(bytes)
        let names = try body.array("fields_to_export") ?? []
        fields = names.isEmpty ? nil : Set(names.compactMap { $0.asText.flatMap(ExportField.init) })
        for value in try Self.list(body, "external_ids", limits) {
            guard let id = TrackTarget.externalID(value) else {
                throw APIError.invalid("external_ids", "must be an array of texts")
            }
            identifiers.append(Identifier(id: .externalID(id), shown: id))
        }
        for value in try Self.list(body, "user_aliases", limits) {
            guard let alias = TrackTarget.alias(value), case .alias(_, let name) = alias else {
                throw APIError.invalid(
                    "user_aliases", "must be an array of objects with `alias_name` and `alias_label`")
            }
            identifiers.append(Identifier(id: alias, shown: name))
        }
        try addSingle(body)
        guard !identifiers.isEmpty else {
            throw APIError(
                status: 400, code: "invalid", error: "The request names no user.",
                remedy: "Send external_ids, user_aliases, braze_id, device_id, email_address or phone.")
        }
    }

    private mutating func addSingle(_ body: AttributeValue) throws {
        if let id = try body.text("braze_id") { identifiers.append(Identifier(id: .assignedID(id), shown: id)) }
        var singles: [Identifier] = []
        if let id = try body.text("device_id") {
            let fits = (1...Limits.bytesPerDevice).contains(id.utf8.count)
            singles.append(Identifier(id: fits ? .device(id) : nil, shown: id, device: Name(id)))
        }
        if let address = try body.text("email_address") {
            singles.append(Identifier(id: TrackTarget.contact(address, isEmail: true), shown: address))
        }
        if let number = try body.text("phone") {
            singles.append(Identifier(id: TrackTarget.contact(number, isEmail: false), shown: number))
        }
        guard singles.count <= 1 else {
            throw APIError.invalid(
                "email_address", "cannot be combined with another one of `device_id`, `email_address`, `phone`",
                remedy: "Send one of them in a request.")
        }
        identifiers += singles
    }

    private static func list(_ body: AttributeValue, _ key: Name, _ limits: TrackLimits) throws -> [AttributeValue] {
        let values = try body.array(key) ?? []
        guard values.count <= limits.identifiersPerExport else {
            throw APIError.invalid(
                key.text, "has \(values.count) elements, of at most \(limits.identifiersPerExport)",
                remedy: "Send them in several requests.")
        }
        return values
    }
}

/// The fields of an exported profile that the store can answer, in the order of an export (spec/rest-api 3).
///
/// Fields that are not in this list, as `campaigns_received`, are missing from exports, like every empty field.
enum ExportField: String, CaseIterable {
    case createdAt = "created_at"
    case externalID = "external_id"
    case userAliases = "user_aliases"
    case brazeID = "braze_id"
    case firstName = "first_name"
    case lastName = "last_name"
    case randomBucket = "random_bucket"
    case email
    case dateOfBirth = "dob"
    case homeCity = "home_city"
    case country
    case phone
    case language
    case timeZone = "time_zone"
    case gender
    case lastCoordinates = "last_coordinates"
    case customAttributes = "custom_attributes"
    case customEvents = "custom_events"
    case purchases
    case totalRevenue = "total_revenue"
    case pushSubscribe = "push_subscribe"
    case emailSubscribe = "email_subscribe"
    case devices
    case pushTokens = "push_tokens"
    case apps

    /// The attribute whose text is the answer; nil for fields that need more.
    var attribute: StandardAttribute? {
        switch self {
        case .firstName, .lastName, .email, .dateOfBirth, .homeCity, .country, .phone, .language, .timeZone, .gender,
            .pushSubscribe, .emailSubscribe:
            StandardAttribute(name: rawValue)
        default: nil
        }
    }
}
