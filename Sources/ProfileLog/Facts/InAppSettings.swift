/// The settings of the app and the device for in-app messages (spec/device 5 and 7).
package struct InAppSettings: Hashable, Sendable {
    /// Seconds in which one message is triggered at most (`triggerMinimumTimeInterval`: 30 by default, 0 at least).
    package var minimumInterval: UInt32 = 30
    /// Tells whether a triggered message is shown at once; if not, it waits until the app asks for it.
    package var isDisplayAutomatic = true
    /// Tells whether a message is discarded if another user than the one who triggered it is on the device: always
    /// since version 15 of the SDK; before, with `preventInAppMessageDisplayForDifferentUser`.
    package var guardsUser = true
    package var orientation = Orientation.portrait
    package var theme = Theme.light
    /// Seconds that the request for a templated message takes.
    package var requestTime: UInt32 = 0
    /// The answer of the app's delegate for a message that is not in `decisions`.
    package var decision = Decision.show
    /// The answers of the app's delegate before a message is shown.
    package var decisions: [Name: Decision] = [:]
    /// Messages whose assets cannot be downloaded.
    package var failingAssets: Set<Name> = []

    package enum Orientation: String, Sendable, CaseIterable { case portrait, landscape }

    package enum Theme: String, Sendable, CaseIterable { case light, dark }

    /// The answer of the delegate; the numbers are stored.
    package enum Decision: UInt8, Sendable, CaseIterable {
        case show = 0
        /// Back on the stack (old name `later`).
        case reenqueue = 1
        case discard = 2

        package var word: String { "\(self)" }
    }

    /// The defaults.
    package init() {}

    package func decision(about message: Name) -> Decision { decisions[message] ?? decision }
}
