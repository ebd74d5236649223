/// Something on a device that has not taken effect yet: a saved item that waits for a launch, or what the SDK has taken
/// and not sent.
package struct PendingItem: Hashable, Sendable {
    /// The storage in which it was saved; 0 for what the app logged.
    package let storage: StorageCode
    package let user: UInt64
    package let position: UInt64
    /// The list of the guide; nil for what the app logged.
    package let kind: PendingKind?
    /// Set once the SDK has it: its place in the SDK's queue.
    package var queued: QueuePlace?

    package init(storage: StorageCode, user: UInt64, position: UInt64, kind: PendingKind?, queued: QueuePlace? = nil) {
        self.storage = storage
        self.user = user
        self.position = position
        self.kind = kind
        self.queued = queued
    }

    /// The time at which something was handed to the SDK, and its place among what was handed then.
    package struct QueuePlace: Hashable, Sendable, Comparable {
        package let position: UInt64
        package let index: UInt64

        package init(position: UInt64, index: UInt64) {
            self.position = position
            self.index = index
        }

        package static func < (left: QueuePlace, right: QueuePlace) -> Bool {
            (left.position, left.index) < (right.position, right.index)
        }
    }
}

/// A device storage as a number: an app group's name number, or 0x80000000 + that of the process to which it is
/// private.
package struct StorageCode: Hashable, RawRepresentable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    init(appGroup: UInt32, process: UInt32) { rawValue = appGroup > 0 ? appGroup : 0x8000_0000 | process }

    package func storage(_ names: NameTable) -> DeviceStorage { storage { names.name($0) } }

    package func storage(_ name: (UInt32) -> Name?) -> DeviceStorage {
        rawValue & 0x8000_0000 == 0
            ? .appGroup(name(rawValue) ?? "?")
            : .privateTo(process: name(rawValue & 0x7FFF_FFFF) ?? DeviceStorage.app)
    }
}
