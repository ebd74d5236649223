/// The settings of a device and its app for push. A part of ``DeviceSettings``.
package struct PushSettings: Hashable, Sendable {
    /// The answer to the app's question whether it may show pushes.
    package var permission = Permission.granted
    /// Tells whether the user swiped the app away. Until the next launch a silent push does not start it (spec/device
    /// 4).
    package var isForceQuit = false
    /// Tells whether the app's process has an instance of the SDK. Without one, events of the app are lost.
    package var hasInstance = true
    /// The moment at which the app makes that instance.
    package var startup = SDKStartup()
    /// The app's content extension; nil if it has none.
    package var contentExtension: ContentExtension?
    /// The app's handler of silent pushes that are server events.
    package var serverEvents = ServerEventHandler.swift

    package enum Permission: UInt8, Sendable, CaseIterable {
        case granted = 0
        case denied = 1
        /// The app has not asked, so it has no push token (spec/device 5.2).
        case notAsked = 2
    }

    /// A push token comes with the first answer, whatever it is.
    package var hasToken: Bool { permission != .notAsked }

    /// The defaults: pushes are shown, the SDK starts with the app, and there is no extension.
    package init() {}
}

/// The moment at which an app makes its instance of the SDK (spec/device 4, delayed initialization).
package struct SDKStartup: Hashable, Sendable {
    /// Tells whether it waits: for consent, or for configuration from a server. Else the instance exists from the
    /// launch on.
    package var isDelayed = false
    /// The time at which the app calls `prepareForDelayedInitialization`.
    package var preparation = Preparation.inTime
    /// Automatic actions of the prepared SDK.
    package var automation = PushAutomation.standard
    /// Analytics of pushes that came before the instance.
    package var analytics = Analytics.queue
    /// The moment at which the app subscribes to the SDK's pushes, if it does.
    package var subscription = Subscription.inTime

    package enum Preparation: UInt8, Sendable, CaseIterable {
        /// The app subscribes in or before `didFinishLaunching`.
        case inTime = 0
        /// After it: the push that launched the app has passed by then.
        case tooLate = 1
        case never = 2
    }

    /// The moment at which the app subscribes to the pushes that the SDK processes.
    package enum Subscription: UInt8, Sendable, CaseIterable {
        /// Right after it made the instance: it is told of all pushes.
        case inTime = 0
        /// Later: it misses the captured ones.
        case tooLate = 1
        /// The app relies on its delegate methods, which push automation does not call for Braze's pushes.
        case never = 2
    }

    /// Tells whether the system calls none of the app's delegate methods for Braze's pushes of this kind: the prepared
    /// SDK takes them (spec/device 4, delayed initialization).
    package func takes(_ pushes: PushAutomation) -> Bool {
        isDelayed && preparation != .never && automation.contains(pushes)
    }

    /// The option `analyticsBehavior`.
    package enum Analytics: UInt8, Sendable, CaseIterable {
        case queue = 0
        /// The payload is ignored: nothing of it is processed later (since 11.2.0).
        case drop = 1
    }

    /// The SDK starts with the app.
    package init() {}
}

/// The options of `pushAutomation` that matter to a simulated device.
package struct PushAutomation: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// `handleBackgroundNotification`: received pushes.
    package static let received = PushAutomation(rawValue: 1)
    /// `handleNotificationResponse`: opened pushes and chosen actions.
    package static let opened = PushAutomation(rawValue: 2)
    /// `requestAuthorizationAtLaunch`: the user of the device agrees if the app has not asked before.
    package static let authorization = PushAutomation(rawValue: 4)

    /// The default: all but asking for authorization (spec/device 7).
    package static let standard: PushAutomation = [.received, .opened]
}

/// An app's content extension, as its property list and its code declare it (spec/device 7).
package struct ContentExtension: Hashable, Sendable {
    /// `UNNotificationExtensionCategory`: the categories of the pushes that it shows.
    package var categories: [Name]
    /// `UNNotificationExtensionUserInteractionEnabled`. Without it a touch opens the app.
    package var allowsInteraction = false
    /// The key-value pairs that it needs.
    package var pairs: [Pair] = []
    /// The input that it asks the user for (information capture); nil for nothing.
    package var input: Input?
    /// The language of the published snippet that reads the pairs.
    package var language = Language.swift

    package enum Language: UInt8, Sendable, CaseIterable {
        /// A guard asks for each pair with its type, and stops the extension (spec/device 6.2, number 43).
        case swift = 0
        /// Asks only that each pair is there.
        case objectiveC = 1
    }

    /// A key-value pair that a push must bring.
    package struct Pair: Hashable, Sendable {
        package var key: Name
        /// Tells whether the extension reads a number from it.
        package var isNumber = false

        package init(_ key: Name, isNumber: Bool = false) {
            self.key = key
            self.isNumber = isNumber
        }
    }

    package enum Input: UInt8, Sendable, CaseIterable {
        case email = 1
        case phone = 2
        case text = 3

        /// Tells whether `text` is such an input.
        package func accepts(_ text: String) -> Bool {
            switch self {
            case .email: ContactForm.isEmail(text)
            case .phone: ContactForm.isPhone(text)
            case .text: !text.isEmpty
            }
        }
    }

    /// Shows pushes of `categories`.
    package init(categories: [Name]) { self.categories = categories }
}

/// The way in which the app's code tells a silent push that is a server event (spec/device 5.2).
package enum ServerEventHandler: UInt8, Sendable, CaseIterable {
    /// The published Swift code: both extras are texts, whatever they say.
    case swift = 0
    /// The published Objective-C code: both extras are there.
    case objectiveC = 1
    /// The app has no such handler.
    case off = 2
}
