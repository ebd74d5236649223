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
                throw .notValid(
                    place,
                    NearestNames(to: value.asText ?? "", among: words).question("'")
                        ?? "It must be one of \(words.joined(separator: ", ")).")
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

    private static let appleFields: [MessageField] = [
        .init("alert", .anything), .init("badge", .integer(.min ... .max)), .init("sound", .text),
        .init("extra", .anything), .init("content-available", .flag), .init("mutable_content", .flag),
        .init("category", .identifier), .init("buttons", .anything), .init("asset_url", .text),
        .init("asset_file_type", .choice(["aif", "gif", "jpg", "m4a", "mp3", "mp4", "png", "wav"])),
        .init("custom_uri", .text), .init("use_webview", .flag), .init("collapse_id", .text), .init("expiry", .time),
        .init("apns_priority", .integer(1...10)),
        .init("interruption_level", .choice(["passive", "active", "time-sensitive", "critical"])),
        .init("relevance_score", .number(0...1)), .init("notification_group_thread_id", .text), variation,
        .init("send_to_most_recent_device_only", .flag),
    ]

    private static let androidFields: [MessageField] = [
        .init("alert", .text), .init("title", .text), .init("extra", .anything), .init("custom_uri", .text),
        .init("collapse_key", .text), .init("priority", .integer(-2...2)), .init("time_to_live", .integer(0 ... .max)),
        .init("notification_channel_id", .identifier), .init("push_icon_image_url", .text),
        .init("accent_color", .integer(.min ... .max)), .init("send_to_sync", .flag), variation,
        .init("send_to_most_recent_device_only", .flag),
    ]

    private static let emailFields: [MessageField] = [
        .init("app_id", .identifier), .init("subject", .text), .init("from", .text), .init("reply_to", .text),
        .init("bcc", .identifier), .init("body", .text), .init("plaintext_body", .text), .init("preheader", .text),
        .init("email_template_id", .identifier), variation, .init("extras", .anything), .init("headers", .anything),
        .init("should_inline_css", .flag), .init("attachments", .anything),
    ]

    private static let smsFields: [MessageField] = [
        .init("app_id", .identifier), .init("subscription_group_id", .identifier), .init("body", .text),
        .init("media_items", .anything), variation,
    ]

    private static let webhookFields: [MessageField] = [
        .init("url", .text), .init("request_method", .choice(["GET", "POST", "PUT", "PATCH", "DELETE"])),
        .init("request_headers", .anything), .init("body", .anything), variation,
    ]

    private static let contentCardFields: [MessageField] = [
        .init("type", .choice(["CLASSIC", "CAPTIONED_IMAGE", "BANNER"])), .init("title", .text),
        .init("description", .text), .init("image_url", .text), .init("time_to_live", .integer(0 ... .max)),
        .init("expire_at", .time), .init("pinned", .flag), .init("dismissible", .flag), .init("extra", .anything),
        variation,
    ]
}
