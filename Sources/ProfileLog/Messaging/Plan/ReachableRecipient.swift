/// A recipient, and where messages reach them.
package protocol ReachableRecipient: Recipient {
    /// The devices that a push can reach, the one used last at the end.
    var devices: [PushDevice] { get }
    /// 0 to 9999, always the same for a user: decides which variation of a message they get.
    var bucket: Int { get }
}

/// A device with a push token.
package struct PushDevice {
    /// The device's ID; nil for a token of no known device.
    package var id: Name?
    /// Tells whether it is one of Apple's; nil if nothing says so.
    package var isApple: Bool?

    package init(id: Name?, isApple: Bool?) { (self.id, self.isApple) = (id, isApple) }
}
