/// Something on a device that has not taken effect yet: a saved item that waits for a launch, or what the SDK has taken and not sent.
struct PendingItem: Hashable, Sendable {
    /// Where it was saved; 0 for what the app logged.
    let storage: StorageCode
    let user: UInt64
    let position: UInt64
    /// In which of the guide's three lists; nil for what the app logged.
    let kind: PendingKind?
    /// Set once the SDK has it: its place in the SDK's queue.
    var queued: QueuePlace?

    /// When something was handed to the SDK, and its place in what was handed then.
    struct QueuePlace: Hashable, Sendable, Comparable {
        let position: UInt64
        let index: UInt64

        static func < (left: QueuePlace, right: QueuePlace) -> Bool {
            (left.position, left.index) < (right.position, right.index)
        }
    }
}

/// A device storage as a number: an app group's name number, or 0x80000000 + that of the process to which it is private.
struct StorageCode: Hashable, RawRepresentable, Sendable {
    let rawValue: UInt32

    init(rawValue: UInt32) { self.rawValue = rawValue }

    init(appGroup: UInt32, process: UInt32) { rawValue = appGroup > 0 ? appGroup : 0x8000_0000 | process }

    func storage(_ names: NameTable) -> DeviceStorage { storage { names.name($0) } }

    func storage(_ name: (UInt32) -> Name?) -> DeviceStorage {
        rawValue & 0x8000_0000 == 0
            ? .appGroup(name(rawValue) ?? "?")
            : .privateTo(process: name(rawValue & 0x7FFF_FFFF) ?? DeviceStorage.app)
    }
}
