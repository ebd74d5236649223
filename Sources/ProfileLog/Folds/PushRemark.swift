/// What is special about a step of a push that reached its device. docs/scenarios.md lists these reasons.
package enum PushRemark: String, StepReason {
    // Received, captured, processed or opened.
    case notBrazes = "it is not one of Braze's: the SDK leaves it to the app"
    case sdkDisabled = "the SDK is disabled"
    case noInstance = "the SDK does not exist yet"
    case notPrepared = "the SDK does not exist yet, and the app did not prepare for that"
    case preparedTooLate = "the app prepared for delayed initialization too late: the push that launched it had passed"
    /// The option that is missing.
    case notAutomated = "the SDK does not exist yet, and pushAutomation is without …"
    case analyticsDropped = "its analytics were dropped (analyticsBehavior)"
    case subscribedTooLate = "the app subscribed too late and was not told of it"
    case serverEvent = "the app logs IAM Trigger, which is counted besides the server's event"
    case anyFlag = "the app's code asks only that IS_SERVER_EVENT is there"
    case notInForeground = "the app is not in the foreground, so no message is shown"
    case noInteraction = "the extension has no user interaction: the touch opened the app"

    // Expanded.
    case extensionInterface = "the interface of the content extension"
    case noExtension = "the default interface: the app has no content extension"
    /// The extension's categories.
    case noCategory = "the default interface: the push has no category, the extension is for …"
    /// The push's category and the extension's.
    case otherCategory = "the default interface: the push has the category …, the extension is for …"
    /// Which key-value pair is missing or wrong.
    case extensionStopped = "the default interface: the extension stopped, as …"

    // An action chosen.
    /// What the input is not.
    case wrongInput = "the input is …"
    case noCompletion = "the extension never calls its completion: the push stays, and the app is not told"

    // Dismissed.
    /// The action.
    case closed = "… closes it"
    case replaced = "a later push has the same collapse ID"
    /// The most that a device shows.
    case tooMany = "the device shows … pushes"
}
