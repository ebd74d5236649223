/// The content of a push when it leaves for a device, as it is recorded with each `sent` step.
///
/// | member | |
/// |---|---|
/// | `payload` | what the device gets: `aps`, `ab` and the keys of `extra` |
/// | `collapse_id` | a later push with the same one replaces it while it is on its way |
/// | `expiry` | RFC 3339: after it, the push is not delivered |
/// | `priority` | as it was given |
///
/// `ab` marks a push of the platform. It has `att` (`url`, `type`) of an attachment, and `buttons` as they were given;
/// the deep link is `ab_uri`, with `ab_use_webview` (spec/messaging-api 2 leaves the last three open).
package enum PushContent {
    /// Bytes of a payload on its way to Apple.
    package static let maxAppleBytes = 4_096
    /// Bytes of a payload in a request.
    package static let maxAppleRequestBytes = 1_912
    /// Bytes of a payload on its way to Google.
    package static let maxAndroidBytes = 4_000

    static func maxBytes(_ channel: MessageStep.Channel) -> Int? {
        switch channel {
        case .applePush: maxAppleBytes
        case .androidPush: maxAndroidBytes
        default: nil
        }
    }

    static func payloadBytes(_ content: [AttributeValue.Member]) -> Int {
        content.first { $0.key == "payload" }?.value.jsonByteCount ?? 0
    }

    /// The keys of an alert and those of its payload.
    static let alertKeys = [
        "body": "body", "title": "title", "title_loc_key": "title-loc-key", "title_loc_args": "title-loc-args",
        "action_loc_key": "action-loc-key", "loc_key": "loc-key", "loc_args": "loc-args",
    ]

    /// The payload of an `apple_push`, as Apple's service takes it.
    static func apple(_ message: AttributeValue) -> [AttributeValue.Member] {
        var aps = Members()
        switch message.present("alert") {
        case .object(let members)?:
            var alert = Members()
            for member in members { alert[alertKeys[member.key.text] ?? member.key.text] = member.value }
            aps["alert"] = alert.value
        case let text: aps["alert"] = text
        }
        aps["badge"] = message.present("badge")
        aps["sound"] = message.present("sound")
        aps["category"] = message.present("category")
        if message["mutable_content"] == .bool(true) { aps["mutable-content"] = .int(1) }
        if message["content-available"] == .bool(true) { aps["content-available"] = .int(1) }
        aps["thread-id"] = message.present("notification_group_thread_id")
        aps["interruption-level"] = message.present("interruption_level")
        aps["relevance-score"] = message.present("relevance_score")

        var ab = Members()
        if let url = message.present("asset_url") {
            var attachment = Members()
            attachment["url"] = url
            attachment["type"] = message.present("asset_file_type")
            ab["att"] = attachment.value
        }
        ab["buttons"] = message.present("buttons")

        var payload = Members(message.present("extra"))
        payload["ab_uri"] = message.present("custom_uri") ?? payload["ab_uri"]
        if message.present("custom_uri") != nil {
            payload["ab_use_webview"] = message.present("use_webview") ?? .bool(true)
        }
        payload["aps"] = aps.value
        payload["ab"] = ab.value

        var content = Members()
        content["payload"] = payload.value
        content["collapse_id"] = message.present("collapse_id")
        content["expiry"] = message.present("expiry")
        content["priority"] = message.present("apns_priority")
        return content.members
    }

    /// The payload of an `android_push`: title, text and link besides the keys of `extra`.
    static func android(_ message: AttributeValue) -> [AttributeValue.Member] {
        var payload = Members(message.present("extra"))
        for (key, field) in [
            ("alert", "alert"), ("title", "title"), ("uri", "custom_uri"), ("channel", "notification_channel_id"),
            ("image_url", "push_icon_image_url"), ("accent_color", "accent_color"),
        ] as [(String, Name)] {
            payload[key] = message.present(field) ?? payload[key]
        }
        payload["ab"] = .object([])
        var content = Members()
        content["payload"] = payload.value
        content["collapse_id"] = message.present("collapse_key")
        content["priority"] = message.present("priority")
        content["time_to_live"] = message.present("time_to_live")
        return content.members
    }
}

/// The members of an object in the making.
private struct Members {
    private var values: [Name: AttributeValue] = [:]

    init(_ object: AttributeValue? = nil) {
        guard case .object(let members)? = object else { return }
        for member in members { values[member.key] = member.value }
    }

    /// The member under `key`; nil takes it out.
    subscript(key: String) -> AttributeValue? {
        get { values[Name(key)] }
        set { values[Name(key)] = newValue }
    }

    var members: [AttributeValue.Member] { values.map { .init($0, $1) }.sorted { $0.key < $1.key } }
    var value: AttributeValue { .object(members) }
}

/// The categories that the SDK registers, with their buttons (spec/messaging-api 2).
package enum PushCategory: String, Sendable, CaseIterable {
    case acceptDecline = "ab_cat_accept_decline"
    case yesNo = "ab_cat_yes_no"
    case confirmCancel = "ab_cat_confirm_cancel"
    case more = "ab_cat_more"

    /// The categories of the platform's own content extension, as its `Info.plist` has them.
    private static let contentExtension = ["ab_cat_push_story_v2", "ab_cat_push_story"]

    /// All that the platform is known to have.
    static var known: [String] { allCases.map(\.rawValue) + contentExtension }

    /// Tells whether `category` begins as those of the platform do, is none of them, and is near to one: a slip. Others
    /// are an app's own, or newer.
    static func isMisspelt(_ category: String) -> Bool {
        guard category.hasPrefix("ab_cat_"), !known.contains(category),
            !contentExtension.contains(where: { category.hasPrefix($0 + "_") })
        else { return false }
        return !NearestNames(to: category, among: known, within: 3).close.isEmpty
    }

    /// A button; the second of a category closes the push.
    package struct Button: Hashable, Sendable {
        package var id: String
        package var closes: Bool
    }

    package var buttons: [Button] {
        let ids =
            switch self {
            case .acceptDecline: ["ab_pb_accept", "ab_pb_decline"]
            case .yesNo: ["ab_pb_yes", "ab_pb_no"]
            case .confirmCancel: ["ab_pb_confirm", "ab_pb_cancel"]
            case .more: ["ab_pb_more"]
            }
        return ids.enumerated().map { Button(id: $1, closes: $0 == 1) }
    }
}
