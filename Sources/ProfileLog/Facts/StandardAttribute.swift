/// The user attributes that every profile has by name (spec/rest-api 1.4). The numbers are stored and never change
/// their meaning.
public enum StandardAttribute: UInt8, Sendable, CaseIterable, OrderedByNumber {
    case email = 1
    case firstName = 2
    case lastName = 3
    case phone = 4
    case country = 5
    case language = 6
    case homeCity = 7
    case gender = 8
    case dateOfBirth = 9
    case timeZone = 10
    case currentLocation = 11
    case dateOfFirstSession = 12
    case dateOfLastSession = 13
    case markedEmailAsSpamAt = 14
    case emailSubscribe = 15
    case pushSubscribe = 16
    case emailOpenTrackingDisabled = 17
    case emailClickTrackingDisabled = 18
    case pushTokens = 19
    case subscriptionGroups = 20
    case facebook = 21
    case twitter = 22
    case imageURL = 23

    /// The attribute's name on the wire.
    public var name: String {
        switch self {
        case .email: "email"
        case .firstName: "first_name"
        case .lastName: "last_name"
        case .phone: "phone"
        case .country: "country"
        case .language: "language"
        case .homeCity: "home_city"
        case .gender: "gender"
        case .dateOfBirth: "dob"
        case .timeZone: "time_zone"
        case .currentLocation: "current_location"
        case .dateOfFirstSession: "date_of_first_session"
        case .dateOfLastSession: "date_of_last_session"
        case .markedEmailAsSpamAt: "marked_email_as_spam_at"
        case .emailSubscribe: "email_subscribe"
        case .pushSubscribe: "push_subscribe"
        case .emailOpenTrackingDisabled: "email_open_tracking_disabled"
        case .emailClickTrackingDisabled: "email_click_tracking_disabled"
        case .pushTokens: "push_tokens"
        case .subscriptionGroups: "subscription_groups"
        case .facebook: "facebook"
        case .twitter: "twitter"
        case .imageURL: "image_url"
        }
    }

    /// The attribute of this wire name; `phone_number` is accepted for `phone`.
    package init?(name: String) {
        guard let attribute = Self.byName[name] else { return nil }
        self = attribute
    }

    private static let byName: [String: StandardAttribute] = {
        var byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.name, $0) })
        byName["phone_number"] = .phone
        return byName
    }()
}
