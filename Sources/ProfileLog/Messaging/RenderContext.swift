/// The recipient of a message: what templates ask about.
package protocol Recipient {
    /// The attribute's value; nil if the profile has none.
    func value(_ attribute: StandardAttribute) -> AttributeValue?
    /// The custom attribute's value; nil if the profile has none.
    func customAttribute(_ name: Name) -> AttributeValue?
    var externalID: String? { get }
    var brazeID: String { get }
}

/// The values that a template may use besides its own text.
package struct RenderContext {
    package var recipient: any Recipient
    /// The properties of the send, by where they come from.
    package var properties: [PropertySource: AttributeValue]
    package var message: [MessageFact: String]
    /// The time that `'now' | date: …` means.
    package var now: Timestamp
    /// The budget of this rendering and of others of the same request.
    package var budget: RenderBudget

    package init(
        recipient: any Recipient, properties: [PropertySource: AttributeValue] = [:],
        message: [MessageFact: String] = [:], now: Timestamp, budget: RenderBudget = RenderBudget()
    ) {
        (self.recipient, self.properties, self.message) = (recipient, properties, message)
        (self.now, self.budget) = (now, budget)
    }
}

/// The source of a send's properties.
package enum PropertySource: Sendable, CaseIterable {
    /// `trigger_properties` of a campaign.
    case trigger
    /// `canvas_entry_properties` of a canvas, today also called `context`.
    case canvasEntry
    /// The properties of the event that triggered the message.
    case event

    /// The words before `.${…}`.
    var names: [String] {
        switch self {
        case .trigger: ["api_trigger_properties"]
        case .canvasEntry: ["canvas_entry_properties", "context"]
        case .event: ["event_properties"]
        }
    }
}

/// A fact that `campaign.${…}` can name.
package enum MessageFact: String, Sendable, CaseIterable {
    case dispatchID = "dispatch_id"
    case apiID = "api_id"
    case name
}

/// A field that `${…}` can name.
enum UserField: Hashable, Sendable {
    case attribute(StandardAttribute)
    case externalID
    case brazeID

    /// The field of this name: that of `/users/track`, or the one that templates of the platform use.
    init?(_ name: String) {
        switch name {
        case "user_id", "external_id": self = .externalID
        case "braze_id": self = .brazeID
        case "email_address": self = .attribute(.email)
        case "city": self = .attribute(.homeCity)
        case "date_of_birth": self = .attribute(.dateOfBirth)
        default:
            guard let attribute = StandardAttribute(name: name) else { return nil }
            self = .attribute(attribute)
        }
    }

    static let names =
        StandardAttribute.allCases.map(\.name) + [
            "user_id", "braze_id", "email_address", "city", "date_of_birth", "phone_number",
        ]

    /// Tells whether every value is text.
    var isText: Bool {
        switch self {
        case .externalID, .brazeID: true
        case .attribute(let attribute):
            switch attribute {
            case .email, .firstName, .lastName, .phone, .country, .language, .homeCity, .gender, .timeZone,
                .emailSubscribe, .pushSubscribe, .imageURL:
                true
            case .dateOfBirth, .currentLocation, .dateOfFirstSession, .dateOfLastSession, .markedEmailAsSpamAt,
                .emailOpenTrackingDisabled, .emailClickTrackingDisabled, .pushTokens, .subscriptionGroups, .facebook,
                .twitter:
                false
            }
        }
    }

    func value(of recipient: any Recipient) -> AttributeValue? {
        switch self {
        case .attribute(let attribute): recipient.value(attribute)
        case .externalID: recipient.externalID.map(AttributeValue.string)
        case .brazeID: .string(recipient.brazeID)
        }
    }
}
