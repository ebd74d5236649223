/// The command to be typed next.
enum Suggestion {
    /// `Next: profilecli COMMAND`, with the store or service that was named.
    static func next(_ command: String) -> String { "Next: profilecli \(TypedPlace.completing(command))" }

    /// What starts a device's app.
    static func launching(_ device: String) -> String {
        device == DefaultDevice.name ? "launch" : "launch \(Shell.device(device))"
    }

    /// What starts a device's app so that what waits is flushed; with a disabled SDK, what lets it do so.
    static func launching(_ device: String, isSDKEnabled: Bool?) -> String {
        afterQueueing(isSDKEnabled == false ? "disabled" : nil, device)
    }

    /// What gets an SDK to send that keeps what it has taken for the reason `why`; a launch, if it keeps nothing.
    static func afterQueueing(_ why: String?, _ device: String) -> String {
        let name = Shell.device(device)
        return switch why {
        case "offline": "device settings \(name) --online"
        case "disabled": "device settings \(name) --enable-sdk"
        case "manual", "interval": "device send \(name)"
        default: launching(device)
        }
    }
}
