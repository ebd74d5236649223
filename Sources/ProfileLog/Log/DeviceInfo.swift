/// A device as the log knows it.
package struct DeviceInfo: Hashable, Sendable {
    /// Its ID.
    package var device: String
    /// Who is on it.
    package var user: UserNumber?
    /// Position of its last launch.
    package var lastLaunch: Position?
    /// Where its open session started; nil if none is open.
    package var session: Position?
    /// How it is set up.
    package var settings: DeviceSettings

    package init(device: String, _ status: DeviceStatus) {
        self.device = device
        user = status.user.map(UserNumber.init(rawValue:))
        lastLaunch = status.launch == 0 ? nil : Position(rawValue: status.launch)
        session = status.session == 0 ? nil : Position(rawValue: status.session)
        settings = status.settings
    }

    /// Whether both are the same, the ID compared by its bytes.
    package static func == (left: DeviceInfo, right: DeviceInfo) -> Bool {
        left.device.hasSameBytes(as: right.device) && left.user == right.user && left.lastLaunch == right.lastLaunch
            && left.session == right.session && left.settings == right.settings
    }
}
