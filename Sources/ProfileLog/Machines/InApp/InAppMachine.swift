/// The in-app messages of a simulated device: turns an input into the steps of messages that the log appends.
///
/// Pure, as `Device` is: only state, definitions, time and input decide. The state changes when the steps are folded
/// (`InAppState.apply`).
///
/// From spec/device 5 and 7:
/// - Of the messages that an event triggers, the one with the highest priority goes on; the others are ignored.
/// - Within the minimum interval after a trigger, triggers are ignored and not queued.
/// - Time window and re-eligibility are checked when a message is triggered.
/// - The timeout runs from the end of the delay. A templated message is requested after the delay.
/// - Back on the stack: the app is in the background, another message is visible, the delegate says so.
/// - The top of the stack is shown at a session start and when a push is opened, unless that triggers a message, and
///   when the app asks.
/// - A new process starts with an empty stack; a return to a living one keeps it.
///
/// Decided here, where the spec is silent:
/// - A message that is discarded or waits counts as triggered for the minimum interval.
/// - A message that fails time window or re-eligibility gives way to the next.
/// - A message that waits or is on the screen is not triggered a second time.
/// - Timers run in the foreground only: what became ready in the background is ready when the app returns.
/// - The order of the checks before a display: user, timeout, assets, request, control variant, background, visible
///   message, automatic display, delegate, orientation.
package struct InAppMachine {
    /// The state with the steps of the input that is handled now, so that each sees those before it.
    var state: InAppState
    let table: TriggerTable
    let device: Situation
    let now: Int64
    /// The event that led to the input that is handled now.
    var cause: Position?
    var reaction = Reaction()

    /// The device, its app and its SDK: after an input that changes them.
    package struct Situation: Hashable, Sendable {
        /// The user on it; 0 for an anonymous one that has no number yet.
        package var user: UInt64
        package var isForeground: Bool
        package var isOnline: Bool
        package var settings: InAppSettings

        package init(
            user: UInt64, isForeground: Bool = true, isOnline: Bool = true, settings: InAppSettings = InAppSettings()
        ) {
            (self.user, self.isForeground, self.isOnline, self.settings) = (user, isForeground, isOnline, settings)
        }
    }

    package enum Input: Hashable, Sendable {
        /// The app started as a new process, or came back.
        case launch(startsProcess: Bool)
        /// A session starts. These messages are eligible from now on, defined as in `catalogue`; those that the table
        /// does not have are dropped.
        case sessionStart(eligible: [Name], catalogue: UInt64)
        /// The SDK logged an event, or a push was opened.
        case event(TriggerEvent)
        /// The app or the user does something with a message.
        case action(InAppAction)
    }

    /// The reaction to an input.
    package struct Reaction: Hashable, Sendable {
        /// Steps of messages, all of the user on the device.
        package var steps: [MessageStep] = []
        /// Tells whether an event came that triggers no eligible message (`noMatchingTriggerForEvent`).
        package var isMiss = false
        /// The reason why the input is impossible; then there are no steps of it.
        package var refusal: String?
    }

    /// `table` has the messages that are eligible or wait on the device. `now` is the time by the caller's clock, in
    /// microseconds since 1970.
    package init(state: InAppState, table: TriggerTable, device: Situation, now: Int64) {
        (self.state, self.table, self.device, self.now) = (state, table, device, now)
    }

    /// The device's reaction to `input`. `cause` is the event that led to it.
    package func handle(_ input: Input, cause: Position? = nil) -> Reaction {
        var turn = self
        turn.cause = cause
        turn.run(input)
        return turn.reaction
    }
}

/// An action of the app or the user with in-app messages of a device.
package enum InAppAction: Hashable, Sendable {
    /// The app asks for the top of the stack.
    case next
    /// The app asks for this message: from the stack, or by its definition.
    case present(Name)
    /// The user clicks the message on the screen: a button, or the message itself.
    case click(button: Name?)
    case close
    /// The app logs an impression or a click of its own view, which is on the screen.
    case logImpression
    case logClick(button: Name?)
    /// Nothing but time: what became ready is shown. Also before the app leaves the foreground, and at
    /// `InAppState.nextDue`.
    case timePassed
}
