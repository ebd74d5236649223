/// An input about the pushes of a device.
package enum PushIntent: Hashable, Sendable {
    /// The network delivers what is on its way to the device: `limit` pushes at most, without those that expired or
    /// were replaced on the way.
    case deliver(limit: Int)
    /// The device gets a push that this store did not send: of another service, or from a file.
    case receive(MessageStep)
    /// The user expands a push.
    case expand(PushChoice, Expansion)
    /// The user gives input to the extension's interface. The text is not kept.
    case input(PushChoice, String)
    /// The user chooses an action.
    case act(PushChoice, action: String, ExtensionResponse?)
    /// The user taps the push: the app opens.
    case open(PushChoice)
    /// The user removes the push.
    case dismiss(PushChoice)
    /// The app makes its instance of the SDK.
    case initialize
    /// The user swipes the app away.
    case forceQuit
    /// The user removes the app: its pushes go with all that it stored.
    case removeApp

    package enum PushChoice: Hashable, Sendable {
        /// The newest on the screen.
        case newest
        /// The push of which the `sent` step or the last step is at this position.
        case at(UInt64)
    }

    /// The push that it is about; nil if it is about none or all.
    package var choice: PushChoice? {
        switch self {
        case .expand(let choice, _), .input(let choice, _), .act(let choice, _, _), .open(let choice),
            .dismiss(let choice):
            choice
        case .deliver, .receive, .initialize, .forceQuit, .removeApp: nil
        }
    }
}

/// The ways to expand a push (spec/device 7).
package enum Expansion: String, Sendable, CaseIterable {
    case longPress = "long_press"
    case swipeDown = "swipe_down"
    /// Swipe left, and choose View.
    case view
}

/// The extension's answer to a chosen action (`UNNotificationContentExtensionResponseOption`).
package enum ExtensionResponse: String, Sendable, CaseIterable {
    case dismiss
    case doNotDismiss = "do_not_dismiss"
    case dismissAndForward = "dismiss_and_forward"
    /// Its handler never calls its completion (spec/device 6.2, number 44).
    case never
}

/// A push and what was sent with it.
package struct KnownPush: Hashable, Sendable {
    package let progress: PushProgress
    package let push: DeliveredPush

    package init(_ progress: PushProgress, _ push: DeliveredPush) {
        self.progress = progress
        self.push = push
    }
}

/// A captured push: the push, and whether the user opened it.
package struct KnownCapture: Hashable, Sendable {
    package let captured: CapturedPush
    package let push: DeliveredPush
    /// The chosen action; nil for a tap on the push itself, and for one that was only received.
    package let action: String?
    package let wasOpened: Bool

    package init(_ captured: CapturedPush, _ push: DeliveredPush, action: String?, wasOpened: Bool) {
        self.captured = captured
        self.push = push
        self.action = action
        self.wasOpened = wasOpened
    }
}

/// An intent with what the log holds about it.
package struct PushInput: Hashable, Sendable {
    package let intent: PushIntent
    /// The pushes on their way and on the screen that it may touch.
    package var pushes: [KnownPush] = []
    /// Events that the SDK captured, for `initialize` and `removeApp`.
    package var captured: [KnownCapture] = []

    package init(_ intent: PushIntent) { self.intent = intent }

    /// The push that the intent chose; nil if there is none.
    package var chosen: KnownPush? { intent.choice == nil ? nil : pushes.first }
}
