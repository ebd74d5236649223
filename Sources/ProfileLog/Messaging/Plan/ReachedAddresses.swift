/// The addresses and devices that a send has reached: each gets a message once for each channel, also if several users
/// have it.
package struct ReachedAddresses: Sendable {
    private var seen: Set<Target> = []

    package init() {}

    private struct Target: Hashable {
        let channel: MessageStep.Channel
        let text: String
    }

    /// Notes that `channel` reaches `text`, an e-mail address, a number or a device, and tells whether it is the first
    /// time.
    package mutating func insert(_ text: String, by channel: MessageStep.Channel) -> Bool {
        let normal =
            switch channel {
            case .email: text.lowercased()
            case .sms: NormalContact.phone(text) ?? text
            default: text
            }
        return seen.insert(Target(channel: channel, text: normal)).inserted
    }
}
