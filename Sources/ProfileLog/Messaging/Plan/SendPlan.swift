/// The messages of a request for all users, and the outcome for one user.
package struct SendPlan: Sendable {
    /// The ID of the campaign or canvas; empty without one.
    package let id: String
    private let name: String
    private let source: PropertySource
    package var messages: [ChannelMessage]
    /// Steps of a canvas after the first, which are recorded as not simulated.
    private let laterSteps: [Campaign.Step]
    /// Properties for all users.
    package var properties: AttributeValue = .null
    /// The subscription state that a user must have.
    package var state = State.subscribed
    package var sendID: String?
    /// One for the whole request.
    package var dispatch: String

    /// The least state of subscription.
    package enum State: String, Sendable {
        case optedIn = "opted_in"
        case subscribed
        case all

        /// The state of a user who wants no messages.
        static let unsubscribed = "unsubscribed"

        func takes(_ state: String?) -> Bool {
            switch self {
            case .optedIn: state == "opted_in"
            case .subscribed: state != Self.unsubscribed
            case .all: true
            }
        }
    }

    /// Sends `messages`, for `campaign` if there is one.
    package init(
        _ campaign: Campaign?, _ source: PropertySource, _ messages: [ChannelMessage], dispatch: String
    ) {
        id = campaign?.id ?? ""
        name = campaign?.name ?? ""
        self.source = source
        self.messages = messages
        self.dispatch = dispatch
        laterSteps = Array(campaign?.steps.dropFirst() ?? [])
    }

    package var hasPush: Bool { messages.contains { $0.channel.isPush } }
}

extension SendPlan {
    /// Returns the events of the send for one user: an event for each device or address, or why there is none.
    ///
    /// - Parameters:
    ///   - own: properties of this user, which override the common ones key by key.
    ///   - failing: channels that fail, as a test asked for.
    ///   - budget: what all renderings of the request may cost.
    ///   - reached: the addresses and devices that other users of the request have reached.
    ///   - cause: the step that scheduled the send; nil if it was not scheduled.
    package func events(
        for recipient: some ReachableRecipient, _ own: AttributeValue, now: Timestamp,
        failing: Set<MessageStep.Channel>,
        budget: RenderBudget, _ reached: inout ReachedAddresses, cause: Position? = nil
    ) -> [SendEvent] {
        let context = RenderContext(
            recipient: recipient, properties: [source: properties.overridden(by: own)],
            message: [.dispatchID: dispatch, .apiID: id, .name: name], now: now,
            budget: budget)
        var events: [SendEvent] = []
        /// Without a `reason` why it is not sent, the message is sent.
        func add(
            _ channel: MessageStep.Channel, reason: String? = nil, _ content: [AttributeValue.Member] = [],
            on device: Name? = nil
        ) {
            var step = MessageStep(
                reason == nil ? .sent : .notSent, of: Name(id), by: channel, cause: cause, reason: reason,
                dispatch: dispatch, content: content)
            if let sendID { step.content = content.setting("send_id", .string(sendID)) }
            events.append(SendEvent(step: step, context: EventContext(source: .rest, device: device?.text)))
        }
        for message in messages(for: recipient) {
            let channel = message.channel
            do throws(Refusal) {
                let targets = try targets(message, recipient)
                let content = try content(message, context)
                guard !failing.contains(channel) else {
                    add(channel, reason: SendReason.channelFails.reason(), content)
                    continue
                }
                for target in targets {
                    if let text = target.text, !reached.insert(text, by: channel) {
                        add(channel, reason: SendReason.sentToAnother.reason())
                        continue
                    }
                    switch target {
                    case .device(let device): add(channel, content, on: device)
                    case .address(let address): add(channel, content.setting("to", .string(address)))
                    case .none: add(channel, content)
                    }
                }
            } catch {
                add(channel, reason: error.reason)
            }
        }
        for step in laterSteps {
            for message in step.messages { add(message.channel, reason: SendReason.laterStep.reason(step.name)) }
        }
        return events
    }

    /// One message of each channel. Of several variations for a channel a user always gets the same.
    private func messages(for recipient: some ReachableRecipient) -> [ChannelMessage] {
        guard messages.count > 1 else { return messages }
        var chosen: [ChannelMessage] = []
        for message in messages where !chosen.contains(where: { $0.channel == message.channel }) {
            let variations = messages.filter { $0.channel == message.channel }
            chosen.append(variations.count == 1 ? message : variations[recipient.bucket % variations.count])
        }
        return chosen
    }

    /// The reason why a message is not sent to a user.
    private struct Refusal: Error {
        let reason: String

        init(_ sentence: SendReason) { reason = sentence.reason() }
        init(reason: String) { self.reason = reason }
    }

    /// The target of a message.
    private enum Target {
        case device(Name?)
        case address(String)
        case none

        /// The part that one message reaches once; nil if that is not known.
        var text: String? {
            switch self {
            case .device(let device): device?.text
            case .address(let address): address
            case .none: nil
            }
        }
    }

    private func targets(_ message: ChannelMessage, _ recipient: some ReachableRecipient) throws(Refusal) -> [Target] {
        switch message.channel {
        case .applePush, .androidPush:
            try require(recipient.value(.pushSubscribe))
            let isApple = message.channel == .applePush
            var devices = recipient.devices.filter { $0.isApple == nil || $0.isApple == isApple }
            if message.goesToLatestDevice { devices = devices.last.map { [$0] } ?? [] }
            guard !devices.isEmpty else { throw Refusal(.noPushToken) }
            return devices.map { .device($0.id) }
        case .email:
            guard let address = recipient.value(.email)?.asText else {
                throw Refusal(.noEmailAddress)
            }
            try require(recipient.value(.emailSubscribe))
            return [.address(address)]
        case .sms:
            guard let number = recipient.value(.phone)?.asText else {
                throw Refusal(.noPhoneNumber)
            }
            let states = SubscriptionStates(recipient.value(.subscriptionGroups))
            guard state == .all || states[message.subscriptionGroup ?? ""] == true else {
                throw Refusal(.notInGroup)
            }
            return [.address(number)]
        case .webhook, .contentCard: return [.none]
        case .inAppMessage, .kindlePush, .webPush, .whatsApp:
            throw Refusal(.channelNotSimulated)
        }
    }

    private func require(_ value: AttributeValue?) throws(Refusal) {
        let state = value?.asText ?? "subscribed"
        guard self.state.takes(state) else {
            throw state == State.unsubscribed
                ? Refusal(.unsubscribed) : Refusal(reason: SendReason.notOptedIn.reason(state))
        }
    }

    private func content(
        _ message: ChannelMessage, _ context: RenderContext
    ) throws(Refusal) -> [AttributeValue.Member] {
        do throws(RenderError) {
            return try message.content(for: context)
        } catch {
            throw Refusal(reason: SendReason.notRendered.reason(message.channel.name, error.reason))
        }
    }
}

extension AttributeValue {
    /// The object with the members of `other`, which win.
    fileprivate func overridden(by other: AttributeValue) -> AttributeValue {
        guard case .object(let members) = self, case .object(let own) = other else {
            return other == .null ? self : other
        }
        var joined = members
        for member in own { joined = joined.setting(member.key, member.value) }
        return .object(joined)
    }
}

extension AttributeValue {
    /// The object with `key`.
    package func setting(_ key: Name, _ value: AttributeValue) -> AttributeValue {
        guard case .object(let members) = self else { return self }
        return .object(members.setting(key, value))
    }
}

extension [AttributeValue.Member] {
    /// The members with `key` in its place.
    fileprivate func setting(_ key: Name, _ value: AttributeValue) -> Self {
        var members = self
        let place = members.firstIndex { $0.key >= key } ?? members.count
        if place < members.count, members[place].key == key {
            members[place].value = value
        } else {
            members.insert(.init(key, value), at: place)
        }
        return members
    }
}
