/// A saved item that waits for a launch.
package struct PendingSave: Hashable, Sendable {
    /// The device on which it waits.
    package var device: String
    /// Where on the device.
    package var storage: DeviceStorage
    /// In which of the three lists.
    package var kind: PendingKind
    /// The save.
    package var event: RecordedEvent
}
