internal import ProfileLogRequests

/// The fields of an exported profile that the store can answer, in the order of an export (spec/rest-api 3).
///
/// What is not here, as `campaigns_received`, is missing from exports like every field that is empty.
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

    /// The attribute that is answered as the text that it holds; nil for fields that need more.
    var attribute: StandardAttribute? {
        switch self {
        case .firstName: .firstName
        case .lastName: .lastName
        case .email: .email
        case .dateOfBirth: .dateOfBirth
        case .homeCity: .homeCity
        case .country: .country
        case .phone: .phone
        case .language: .language
        case .timeZone: .timeZone
        case .gender: .gender
        case .pushSubscribe: .pushSubscribe
        case .emailSubscribe: .emailSubscribe
        default: nil
        }
    }
}
