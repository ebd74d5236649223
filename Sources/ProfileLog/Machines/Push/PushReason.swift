/// The reason of a step of a push that reached its device. docs/scenarios.md lists these reasons.
package enum PushReason: String, StepReason {
    // Received, captured, processed or opened.
    case notBrazes = "it is not one of Braze's: the SDK leaves it to the app"
    case sdkDisabled = "the SDK is disabled"
    case noInstance = "the SDK does not exist yet"
    case notPrepared = "the SDK does not exist yet, and the app did not prepare for that"
    case preparedTooLate = "the app prepared for delayed initialization too late: the push that launched it had passed"
    /// The option that is missing.
    case notAutomated = "the SDK does not exist yet, and pushAutomation is without …"
    case payloadIgnored = "the SDK does not exist yet, and ignores the payload (analyticsBehavior: drop)"
    case subscribedTooLate = "the app subscribed too late and was not told of it"
    case serverEvent = "the app logs IAM Trigger, which is counted besides the server's event"
    case anyFlag = "the app's code asks only that IS_SERVER_EVENT is there"
    case notInForeground = "the app is not in the foreground, so no message is shown"
    /// The things that come without a banner: a badge, a sound.
    case noBanner = "it has no alert, so there is no banner: …"
    case noHandler = "the app has no handler of server events"
    /// The extra that is missing.
    case missingExtra = "the app's code sees no server event: the push has no …"
    case extraNotText = "the app's code sees no server event: … is not a text"
    case notWoken = "the app's code sees no server event: the push does not wake the app"
    case delegateNotCalled =
        "push automation takes Braze's pushes: the delegate method with the handler of server events is not called"
    case noInteraction = "the extension has no user interaction: the touch opened the app"

    // Expanded.
    case extensionInterface = "the interface of the content extension"
    case noExtension = "the default interface: the app has no content extension"
    /// The extension's categories.
    case noCategory = "the default interface: the push has no category, the extension is for …"
    /// The push's category and the extension's.
    case otherCategory = "the default interface: the push has the category …, the extension is for …"
    /// A key-value pair is missing or wrong.
    case extensionStopped = "the default interface: the extension stopped, as …"

    // Removed with the app: also an in-app message.
    case appRemoved = "the app was removed"

    // An action chosen.
    /// The form that the input lacks.
    case wrongInput = "the input is …"
    case noCompletion = "the extension never calls its completion: the push stays, and the app is not told"

    // Dismissed.
    /// The action that the user chose.
    case closed = "… closes it"
    case replaced = "a later push has the same collapse ID"
    /// The most that a device shows.
    case tooMany = "the device shows … pushes"
}
