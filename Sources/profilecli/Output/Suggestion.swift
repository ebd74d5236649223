/// The command to be typed next.
enum Suggestion {
    /// What starts a device's app so that what waits is flushed; with a disabled SDK, what lets it do so.
    static func launching(_ device: String, isSDKEnabled: Bool?) -> String {
        afterQueueing(isSDKEnabled == false ? "disabled" : nil, device)
    }

    /// What gets an SDK to send that keeps what it has taken for the reason `why`; a launch, if it keeps nothing.
    static func afterQueueing(_ why: String?, _ device: String) -> String {
        let name = Shell.quoted(device)
        let isDefault = device == DefaultDevice.name
        return switch why {
        case "offline": "profilecli device settings \(name) --online"
        case "disabled": "profilecli device settings \(name) --enable-sdk"
        case "manual", "interval": "profilecli device send \(name)"
        default: isDefault ? "profilecli launch" : "profilecli launch \(name)"
        }
    }
}
