/// One step of a message on its way from the server that sends it to the screen that shows it, or the reason why it
/// went no further.
///
/// Each decision about a message is one step, and so one event. `cause` leads from a step to the one before it.
public struct MessageStep: Hashable, Sendable {
    /// The stage that the message reached.
    package var stage: Stage
    /// The ID of the campaign, the canvas or the in-app message; empty for a message that was sent without one.
    package var message: Name
    /// The channel by which it travels.
    package var channel: Channel
    /// The event that led to this step; nil if none did.
    package var cause: Position?
    /// The reason why it went no further, or what is special about it; nil if there is nothing to say.
    public var reason: String?
    /// The `dispatch_id` of the request that sent it; nil for an in-app message.
    package var dispatch: String?
    /// The identifier of the button or link that the user chose; nil if none was.
    package var action: String?
    /// The rendered message: the payload of a push, the fields of an e-mail, the data of an in-app message. In
    /// ascending order of keys.
    package var content: [AttributeValue.Member]
    /// The part of the push on the screen after the step.
    package var screen = Screen.nothing

    /// Makes a step.
    package init(
        _ stage: Stage, of message: Name, by channel: Channel, cause: Position? = nil, reason: String? = nil,
        dispatch: String? = nil, action: String? = nil, content: [AttributeValue.Member] = []
    ) {
        self.stage = stage
        self.message = message
        self.channel = channel
        self.cause = cause
        self.reason = reason
        self.dispatch = dispatch
        self.action = action
        self.content = content
    }

    /// A stage in the life of a message. Each stage is a kind of event.
    @usableFromInline
    package enum Stage: Sendable, CaseIterable {
        /// The server handed it to the channel, for a push: to one device.
        case sent
        /// The server did not send it to this user or device.
        case notSent

        /// The push is on the device.
        case received
        /// The push will never be on the device: it expired, was collapsed, or may not reach it.
        case notReceived
        /// The SDK does not exist yet and keeps the push (spec/device 4, delayed initialization).
        case captured
        /// The user expanded the push; `reason` says which interface was shown.
        case expanded
        /// The user tapped the push.
        case opened
        /// The user chose an action of the push.
        case actionChosen
        /// The user dismissed the push, or the extension did.
        case dismissed
        /// The SDK exists now and has processed a push that it had captured.
        case processed

        /// The in-app message is on the screen; for a control variant, its impression was logged.
        case shown
        /// The in-app message was triggered and waits on the stack.
        case waiting
        /// The in-app message was triggered and is ignored.
        case ignored
        /// The in-app message was triggered and is discarded.
        case discarded
        /// The user clicked the in-app message.
        case clicked
        /// The in-app message left the screen.
        case closed

        /// A request wants it sent at a later time, or changes such a request; for a user in the request, or of
        /// the system for the request as a whole.
        case scheduled
        /// The scheduled request waits no longer: it was sent, deleted, or cannot be sent.
        case unscheduled
    }

    /// The part of a push that a user sees. The numbers are stored (record.proto).
    ///
    /// An extension that captures information has the states of spec/device 7: `notification`, `extensionInterface`
    /// (asks for input), `validInput`, `confirmation`; then the push is dismissed.
    package enum Screen: UInt8, Sendable, CaseIterable {
        /// The push is silent, not there yet, or gone.
        case nothing = 0
        /// The push is among the notifications.
        case notification = 1
        /// The push is expanded, with the interface of the system.
        case defaultInterface = 2
        /// The push is expanded, with the interface of the app's content extension.
        case extensionInterface = 3
        /// The extension got valid input and shows its register button.
        case validInput = 4
        /// The extension confirms what it captured.
        case confirmation = 5

        /// The name in the JSON forms.
        package var name: String { "\(self)".snakeCase }
    }

    /// The channel of a message (spec/messaging-api 2). The numbers are stored (record.proto).
    package enum Channel: UInt8, Sendable, CaseIterable {
        case applePush = 1
        case androidPush = 2
        case email = 3
        case sms = 4
        case webhook = 5
        case contentCard = 6
        case inAppMessage = 7
        case kindlePush = 8
        case webPush = 9
        case whatsApp = 10
    }
}

extension MessageStep.Stage {
    /// The kind of event that a step of this stage is.
    package var kind: EventKind { Self.kinds[self] ?? .unknown }

    private static let kinds = Dictionary(
        uniqueKeysWithValues: EventKind.allCases.compactMap { kind -> (MessageStep.Stage, EventKind)? in
            if case .message(let stage) = kind.role { (stage, kind) } else { nil }
        })
}

extension MessageStep.Channel {
    /// Tells whether a device gets it as a push.
    package var isPush: Bool { self == .applePush || self == .androidPush }

    /// The channel's name, as in `messages` of the REST format (spec/messaging-api 2).
    package var name: String { "\(self)".snakeCase }

    /// The channel with this name.
    package init?(name: String) {
        guard let channel = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = channel
    }
}
