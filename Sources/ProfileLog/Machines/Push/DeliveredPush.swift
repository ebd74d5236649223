/// A push as a device reads it: the content of its `sent` step.
///
/// | member | |
/// |---|---|
/// | `payload` | `aps`, `ab` (of Braze's pushes only) and the key-value pairs |
/// | `collapse_id` | a later push with the same one replaces it |
/// | `expiry` | after this time it is not delivered |
/// | `time_to_live` | for Android: the same, as seconds after it was sent |
package struct DeliveredPush: Hashable, Sendable {
    /// The message's ID.
    package let message: Name
    package let channel: MessageStep.Channel
    package let dispatch: String?
    /// The content that was sent.
    package let content: [AttributeValue.Member]
    /// The time, in microseconds since 1970.
    package let sentAt: Int64

    package init(_ step: MessageStep, sentAt: Int64) {
        message = step.message
        channel = step.channel
        dispatch = step.dispatch
        content = step.content
        self.sentAt = sentAt
    }

    private subscript(key: Name) -> AttributeValue? { content.first { $0.key == key }?.value }

    package var payload: AttributeValue { self["payload"] ?? .null }
    private var aps: AttributeValue { payload["aps"] ?? .null }

    /// Tells whether the SDK takes it for its own: its payload has `ab` (spec/device 4, push payload).
    package var isBrazes: Bool { if case .object? = payload["ab"] { true } else { false } }

    /// Tells whether it wakes the app (`content-available`).
    package var wakesApp: Bool {
        switch aps["content-available"] {
        case .int(let number): number != 0
        case .bool(let flag): flag
        default: false
        }
    }

    /// Tells whether it has text: then it is shown as a notification, and can be opened.
    package var hasBanner: Bool {
        if channel != .applePush {
            return (payload["alert"] ?? .null) != .null || (payload["title"] ?? .null) != .null
        }
        switch aps["alert"] {
        case .string(let text): return !text.isEmpty
        case .object(let members):
            let texts: [Name] = ["title", "subtitle", "body", "title-loc-key", "subtitle-loc-key", "loc-key"]
            return members.contains { texts.contains($0.key) && !($0.value.asText ?? "").isEmpty }
        default: return false
        }
    }

    private var hasBadge: Bool {
        guard channel == .applePush, case .int? = aps["badge"] else { return false }
        return true
    }
    private var hasSound: Bool { channel == .applePush && (aps["sound"] ?? .null) != .null }

    /// Tells whether it only wakes the app: it has no text, no badge and no sound.
    package var isSilent: Bool { !hasBanner && !hasBadge && !hasSound && (wakesApp || channel != .applePush) }

    /// The things that a user notices of a push without text, in words.
    package var shownInstead: String {
        switch (hasBadge, hasSound) {
        case (true, true): "only a badge and a sound"
        case (true, false): "only a badge"
        case (false, true): "only a sound"
        case (false, false): "nothing"
        }
    }

    /// Tells whether it has an extra of a server event (spec/device 5.2).
    package var mayBeServerEvent: Bool { pair("IS_SERVER_EVENT") != nil || pair("CAMPAIGN_NAME") != nil }

    /// Its category; nil if it has none.
    package var category: Name? { aps["category"]?.asText.flatMap { $0.isEmpty ? nil : Name($0) } }

    package var collapseID: Name? { self["collapse_id"]?.asText.flatMap { $0.isEmpty ? nil : Name($0) } }

    /// The time at which it expires, in microseconds since 1970; nil if it does not.
    package var expiry: Int64? {
        if let seconds = self["time_to_live"]?.asInteger, (0...(1 << 32)).contains(seconds) {
            return sentAt + seconds * 1_000_000
        }
        switch self["expiry"] {
        case .string(let text): return OccurredAt(braze: text)?.timestamp.rawValue
        case .date(let date): return date.timestamp.rawValue
        default: return nil
        }
    }

    /// Its deep link or page.
    package var link: String? { (payload["ab_uri"] ?? payload["uri"])?.asText }

    package func pair(_ key: Name) -> AttributeValue? {
        key == "aps" || key == "ab" || payload[key] == .null ? nil : payload[key]
    }

    /// A button of the push (spec/messaging-api 2).
    package struct Button: Hashable, Sendable {
        package let id: Name
        /// Tells whether it closes the push and opens nothing.
        package let closes: Bool
        package let link: String?
    }

    /// The buttons that the push brings; those of a category that the app itself registered are not known.
    package var buttons: [Button] {
        (payload["ab"]?["buttons"]?.asArray ?? []).compactMap { button in
            guard let id = button["action_id"]?.asText else { return nil }
            return Button(id: Name(id), closes: button["action"]?.asText == "CLOSE", link: button["uri"]?.asText)
        }
    }

    /// Returns the reason why the extension cannot show it, naming the key-value pair; nil if it has all that the
    /// extension needs.
    package func missing(for contentExtension: ContentExtension) -> String? {
        for pair in contentExtension.pairs {
            guard let value = self.pair(pair.key) else { return "the push has no key-value pair \(pair.key)" }
            // The published Objective-C code asks only that it is there.
            if contentExtension.language == .objectiveC { continue }
            if pair.isNumber, value.asNumber == nil {
                return "the key-value pair \(pair.key) of the push is no number"
            }
            if !pair.isNumber, value.asText == nil {
                return "the key-value pair \(pair.key) of the push is no text, as the guard of the Swift code asks"
            }
        }
        return nil
    }
}

extension AttributeValue {
    /// A number, or a text that is one.
    fileprivate var asNumber: Double? {
        switch self {
        case .int(let number): Double(number)
        case .double(let number): number
        case .string(let text): Double(text)
        default: nil
        }
    }
}
