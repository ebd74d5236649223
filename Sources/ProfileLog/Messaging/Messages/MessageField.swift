/// A field of a message object (spec/messaging-api 2), and what its value must be.
struct MessageField {
    var name: String
    var rule: Rule

    init(_ name: String, _ rule: Rule) { (self.name, self.rule) = (name, rule) }

    enum Rule {
        /// Text that is rendered.
        case text
        /// Text with a meaning of its own.
        case identifier
        case flag
        case integer(ClosedRange<Int64>)
        case number(ClosedRange<Double>)
        case time
        case choice([String])
        /// Rendered, whatever it is.
        case anything
    }

    /// Throws if `value` is none that the field can have.
    func check(_ value: AttributeValue, at place: String) throws(SendError) {
        switch rule {
        case .text, .identifier:
            guard value.asText != nil else { throw .notValid(place, "It must be text.") }
        case .flag:
            guard value.asFlag != nil else { throw .notValid(place, "It must be true or false.") }
        case .integer(let range):
            guard let number = value.asInteger, range.contains(number) else {
                let bounds = range == .min ... .max ? "" : " from \(range.lowerBound) to \(range.upperBound)"
                throw .notValid(place, "It must be a whole number\(bounds).")
            }
        case .number(let range):
            guard let number = value.asNumber, range.contains(number) else {
                throw .notValid(place, "It must be a number from \(range.lowerBound) to \(range.upperBound).")
            }
        case .time:
            guard value.asText.flatMap({ OccurredAt(braze: $0) }) != nil else {
                throw .notValid(place, "It must be a time in ISO 8601.")
            }
        case .choice(let words):
            guard let text = value.asText, words.contains(text) else {
                let nearest = NearestNames(to: value.asText ?? "", among: words).close.first
                throw .notValid(
                    place,
                    nearest.map { "Did you mean '\($0)'?" } ?? "It must be one of \(words.joined(separator: ", ")).")
            }
        case .anything: break
        }
    }

    /// Tells whether templates in it are rendered.
    var isRendered: Bool {
        switch rule {
        case .text, .anything: true
        default: false
        }
    }
}

extension MessageStep.Channel {
    /// The channels that a request or a campaign can send to.
    package static let sendable = allCases.filter { $0 != .inAppMessage }

    /// Tells whether its messages are rendered; those of others are recorded as not simulated.
    package var isSimulated: Bool { !fields.isEmpty }

    /// The names of `fields`.
    package var fieldNames: [String] { fields.map(\.name) }

    /// The fields that a message of the channel can have; empty if the channel is not simulated.
    var fields: [MessageField] {
        switch self {
        case .applePush: Self.appleFields
        case .androidPush: Self.androidFields
        case .email: Self.emailFields
        case .sms: Self.smsFields
        case .webhook: Self.webhookFields
        case .contentCard: Self.contentCardFields
        case .inAppMessage, .kindlePush, .webPush, .whatsApp: []
        }
    }

    private static let variation = MessageField("message_variation_id", .identifier)

    private static let appleFields = [
        MessageField("alert", .anything), MessageField("badge", .integer(.min ... .max)), MessageField("sound", .text),
        MessageField("extra", .anything), MessageField("content-available", .flag),
        MessageField("mutable_content", .flag), MessageField("category", .identifier),
        MessageField("buttons", .anything), MessageField("asset_url", .text),
        MessageField("asset_file_type", .choice(["aif", "gif", "jpg", "m4a", "mp3", "mp4", "png", "wav"])),
        MessageField("custom_uri", .text), MessageField("use_webview", .flag), MessageField("collapse_id", .text),
        MessageField("expiry", .time), MessageField("apns_priority", .integer(1...10)),
        MessageField("interruption_level", .choice(["passive", "active", "time-sensitive", "critical"])),
        MessageField("relevance_score", .number(0...1)), MessageField("notification_group_thread_id", .text), variation,
        MessageField("send_to_most_recent_device_only", .flag),
    ]

    private static let androidFields = [
        MessageField("alert", .text), MessageField("title", .text), MessageField("extra", .anything),
        MessageField("custom_uri", .text), MessageField("collapse_key", .text),
        MessageField("priority", .integer(-2...2)), MessageField("time_to_live", .integer(0 ... .max)),
        MessageField("notification_channel_id", .identifier), MessageField("push_icon_image_url", .text),
        MessageField("accent_color", .integer(.min ... .max)), MessageField("send_to_sync", .flag), variation,
        MessageField("send_to_most_recent_device_only", .flag),
    ]

    private static let emailFields = [
        MessageField("app_id", .identifier), MessageField("subject", .text), MessageField("from", .text),
        MessageField("reply_to", .text), MessageField("bcc", .identifier), MessageField("body", .text),
        MessageField("plaintext_body", .text), MessageField("preheader", .text),
        MessageField("email_template_id", .identifier), variation, MessageField("extras", .anything),
        MessageField("headers", .anything), MessageField("should_inline_css", .flag),
        MessageField("attachments", .anything),
    ]

    private static let smsFields = [
        MessageField("app_id", .identifier), MessageField("subscription_group_id", .identifier),
        MessageField("body", .text), MessageField("media_items", .anything), variation,
    ]

    private static let webhookFields = [
        MessageField("url", .text), MessageField("request_method", .choice(["GET", "POST", "PUT", "PATCH", "DELETE"])),
        MessageField("request_headers", .anything), MessageField("body", .anything), variation,
    ]

    private static let contentCardFields = [
        MessageField("type", .choice(["CLASSIC", "CAPTIONED_IMAGE", "BANNER"])), MessageField("title", .text),
        MessageField("description", .text), MessageField("image_url", .text),
        MessageField("time_to_live", .integer(0 ... .max)), MessageField("expire_at", .time),
        MessageField("pinned", .flag), MessageField("dismissible", .flag), MessageField("extra", .anything), variation,
    ]
}
