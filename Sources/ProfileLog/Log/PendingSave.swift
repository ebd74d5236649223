/// A saved item that waits for a launch.
public struct PendingSave: Hashable, Sendable {
    /// The device on which it waits.
    public var device: String
    /// Where on the device.
    public var storage: DeviceStorage
    /// In which of the three lists.
    public var kind: PendingKind
    /// The save.
    public var event: RecordedEvent
}
