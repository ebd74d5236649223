/// A message of one channel (spec/messaging-api 2): its fields checked, its texts compiled.
///
///     let push = try ChannelMessage(.applePush, object, at: "messages.apple_push", from: .request)
///     try push.content(for: context)  // the payload, for this user
package struct ChannelMessage: Hashable, Sendable {
    package let channel: MessageStep.Channel
    /// Its variation in a campaign; nil if it has none.
    package let variation: String?
    /// A choice for a push: whether only the device with the latest session gets it.
    package let goesToLatestDevice: Bool
    /// The group of an SMS: the group in which its users are.
    package let subscriptionGroup: String?
    private let fields: TemplatedValue
    /// The content for every user; nil if it depends on the user.
    private let constant: [AttributeValue.Member]?

    /// The origin of a message.
    package enum Origin: Sendable {
        /// A client of the platform, which may send unknown fields.
        case request
        /// The workspace file, in which an unknown field is a typing mistake.
        case workspace
    }

    /// Reads the message `object`, which is at `place`.
    package init(
        _ channel: MessageStep.Channel, _ object: AttributeValue, at place: String, from origin: Origin
    ) throws(SendError) {
        guard case .object(let members) = object else { throw .notValid(place, "It must be an object.") }
        self.channel = channel
        variation = object["message_variation_id"]?.asText
        goesToLatestDevice = object["send_to_most_recent_device_only"] == .bool(true)
        subscriptionGroup = object["subscription_group_id"]?.asText
        guard channel.isSimulated else {
            (fields, constant) = (.constant(.object([])), [])
            return
        }

        let known = channel.fields
        var given: [TemplatedValue.Member] = []
        for member in members where member.value != .null {
            let place = "\(place).\(TemplateError.shown(member.key.text))"
            guard let field = known.first(where: { Name($0.name) == member.key }) else {
                guard origin == .request else {
                    throw .unknown(member.key.text, at: place, among: known.map(\.name))
                }
                continue
            }
            try field.check(member.value, at: place)
            let value =
                field.isRendered ? try TemplatedValue(member.value, at: place) : TemplatedValue.constant(member.value)
            given.append(TemplatedValue.Member(key: member.key, value: value))
        }
        try Self.check(channel, object, at: place)
        try Self.checkLength(channel, object, at: place, from: origin)
        fields = .object(given)
        let values = given.compactMap { member in
            member.value.constant.map { AttributeValue.Member(member.key, $0) }
        }
        constant = values.count == given.count ? Self.content(channel, .object(values)) : nil
    }

    /// Returns the content for one user, as it is recorded. For a push this is its payload, and what decides about its
    /// delivery (``PushContent``).
    package func content(for context: RenderContext) throws(RenderError) -> [AttributeValue.Member] {
        if let constant { return constant }
        let content = Self.content(channel, try fields.render(context))
        if let limit = PushContent.maxBytes(channel), case let bytes = PushContent.payloadBytes(content), bytes > limit
        {
            throw .tooLarge(bytes: bytes, limit: limit)
        }
        return content
    }

    private static func content(_ channel: MessageStep.Channel, _ fields: AttributeValue) -> [AttributeValue.Member] {
        switch channel {
        case .applePush: return PushContent.apple(fields)
        case .androidPush: return PushContent.android(fields)
        default:
            guard case .object(let members) = fields else { return [] }
            return members
        }
    }
}

// MARK: - Rules of whole messages

extension ChannelMessage {
    private static func check(
        _ channel: MessageStep.Channel, _ message: AttributeValue, at place: String
    ) throws(SendError) {
        switch channel {
        case .applePush: try checkApple(message, at: place)
        case .androidPush:
            try require("alert", of: message, at: place)
            try checkExtra(message, refusing: [], at: place)
        case .email:
            try require("from", of: message, at: place)
            if message.present("email_template_id") == nil {
                try require("subject", of: message, at: place)
                try require("body", of: message, at: place)
            }
        case .sms:
            try require("subscription_group_id", of: message, at: place)
            try require("body", of: message, at: place)
        case .webhook: try require("url", of: message, at: place)
        case .contentCard:
            try require(message["type"] == .string("BANNER") ? "image_url" : "title", of: message, at: place)
        case .inAppMessage, .kindlePush, .webPush, .whatsApp: break
        }
    }

    private static func require(_ key: String, of message: AttributeValue, at place: String) throws(SendError) {
        guard message.present(Name(key)) != nil else { throw .required(key, in: place, "Add '\(key)'.") }
    }

    private static func checkApple(_ message: AttributeValue, at place: String) throws(SendError) {
        switch message.present("alert") {
        case nil:
            guard message["content-available"] == .bool(true) else {
                throw .required("alert", in: place, "Add 'alert', or 'content-available': true for a silent push.")
            }
        case .string?: break
        case .object(let members)?:
            for member in members {
                let place = "\(place).alert.\(TemplateError.shown(member.key.text))"
                guard PushContent.alertKeys[member.key.text] != nil else {
                    throw .unknown(member.key.text, at: place, among: PushContent.alertKeys.keys.sorted())
                }
                let isList = member.value.asArray?.allSatisfy { $0.asText != nil } ?? false
                guard member.key.text.hasSuffix("_args") ? isList : member.value.asText != nil else {
                    throw .notValid(
                        place, "It must be \(member.key.text.hasSuffix("_args") ? "a list of texts" : "text").")
                }
            }
        default: throw .notValid("\(place).alert", "It must be text or an object with 'body'.")
        }
        try checkExtra(message, refusing: ["ab", "aps"], at: place)
        if message.present("asset_url") != nil, message.present("asset_file_type") == nil {
            throw .required("asset_file_type", in: place, "It is required with 'asset_url'.")
        }
        try checkButtons(message, at: place)
    }

    private static func checkExtra(
        _ message: AttributeValue, refusing keys: [Name], at place: String
    ) throws(SendError) {
        // PHP writes an empty object as an empty list.
        guard let extra = message.present("extra"), extra != .array([]) else { return }
        guard case .object = extra else { throw .invalidExtra(place, "It must be an object.") }
        for key in keys where extra[key] != nil {
            throw .invalidExtra(place, "The key '\(key)' belongs to the platform: take another one.")
        }
    }

    private static let actions = ["OPEN_APP", "URI", "DEEP_LINK", "CLOSE"]

    private static func checkButtons(_ message: AttributeValue, at place: String) throws(SendError) {
        let category = message.present("category")?.asText.flatMap { $0.isEmpty ? nil : $0 }
        if let category, PushCategory.isMisspelt(category) {
            throw .unknown(
                category, at: "\(place).category", among: PushCategory.known)
        }
        guard let buttons = message.present("buttons") else { return }
        guard category != nil else { throw .required("category", in: place, "It is required with 'buttons'.") }
        guard let buttons = buttons.asArray else {
            throw .notValid("\(place).buttons", "It must be a list of objects.")
        }
        let known = category.flatMap(PushCategory.init)?.buttons.map(\.id)
        for (index, button) in buttons.enumerated() {
            let place = "\(place).buttons[\(index)]"
            guard let id = button.present("action_id")?.asText else {
                throw .required("action_id", in: place, "Add the identifier of the category's button.")
            }
            if let known, !known.contains(id) { throw .unknown(id, at: "\(place).action_id", among: known) }
            guard let action = button.present("action") else {
                throw .required("action", in: place, "Add one of \(actions.joined(separator: ", ")).")
            }
            try MessageField("action", .choice(actions)).check(action, at: "\(place).action")
            if ["URI", "DEEP_LINK"].contains(action.asText), button.present("uri")?.asText == nil {
                throw .required("uri", in: place, "The action \(action.asText ?? "") opens it.")
            }
        }
    }

    /// The length before rendering: requests have a limit of their own (spec/messaging-api 1).
    private static func checkLength(
        _ channel: MessageStep.Channel, _ message: AttributeValue, at place: String, from origin: Origin
    ) throws(SendError) {
        guard let most = PushContent.maxBytes(channel) else { return }
        let limit = channel == .applePush && origin == .request ? PushContent.maxAppleRequestBytes : most
        let bytes = PushContent.payloadBytes(content(channel, message))
        guard bytes > limit else { return }
        throw SendError(
            channel == .applePush ? "Apple Push Length Exceeded" : "Android Push Length Exceeded", at: place,
            remedy: "Its payload has \(bytes) bytes; \(limit) are allowed.")
    }
}
