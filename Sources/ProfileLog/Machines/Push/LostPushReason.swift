/// The reason why a push will never be on its device: fixed sentences, for `MessageStep.reason`. docs/scenarios.md
/// lists them.
package enum LostPushReason: String, CaseIterable {
    case removed = "the app was removed from the device"
    case replaced = "a later push with the same collapse ID replaced it on its way"
    case expired = "it expired before it could be delivered"
    case noToken = "the device has no push token: the app has not asked for permission"
    case neverLaunched = "a silent push does not start an app that was never launched"
    case forceQuit = "a silent push does not start an app that the user swiped away"
    /// The push may not be shown; also the reason of one that is received and wakes the app.
    case notAllowed = "the user does not allow the app to show pushes"
}
