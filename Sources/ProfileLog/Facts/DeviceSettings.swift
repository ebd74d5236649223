/// The settings of a simulated device: its owner's, its network's and the app's. Changed by `deviceChanged` events.
public struct DeviceSettings: Hashable, Sendable {
    /// Tells whether the SDK runs. A disabled SDK takes nothing, so pending items stay pending (spec/device 4).
    package var isSDKEnabled = true
    /// Tells whether the device has a network. Without one, the SDK keeps what it took and sends it later.
    package var isOnline = true
    /// The rule by which the SDK sends what it took.
    package var requestPolicy = RequestPolicy.automatic
    /// Seconds between two sendings of the automatic policy, by the caller's clock. 0 sends at once.
    package var flushInterval: UInt32 = 0
    /// Seconds for which the app may be away without its session ending (spec/device 4: 10 by default, 1 at least).
    package var sessionTimeout: UInt32 = 10
    /// Targets of the app that lack an app group: what they save there stays private to them. In ascending order.
    package private(set) var missingAppGroups: [MissingAppGroup] = []
    /// Push: permission, content extension, start of the SDK.
    package var push = PushSettings()
    package var inApp = InAppSettings()

    /// The rule by which the SDK sends what it took.
    package enum RequestPolicy: UInt8, Sendable, CaseIterable {
        /// Every `flushInterval` seconds, and at once when a session starts or the user changes.
        case automatic = 0
        /// The app asks for it (`requestImmediateDataFlush`).
        case manual = 1
    }

    /// A target that was built without the capability of an app group (spec/device 6.2, number 36).
    package struct MissingAppGroup: Hashable, Sendable, Comparable {
        /// The app, or an extension by name.
        package var process: Name
        /// The app group.
        package var group: Name

        /// `process` lacks `group`.
        package init(process: Name, group: Name) {
            self.process = process
            self.group = group
        }

        /// Orders by process, then by group.
        package static func < (left: MissingAppGroup, right: MissingAppGroup) -> Bool {
            (left.process, left.group) < (right.process, right.group)
        }
    }

    /// The defaults: everything works.
    package init() {}

    /// The settings that an embedder can give, as they are; those of push and of in-app messages are not among them.
    public var all: [DeviceSetting] {
        [
            .online(isOnline), .sdkEnabled(isSDKEnabled), .sessionTimeout(seconds: sessionTimeout),
            requestPolicy == .manual ? .sendsOnRequest : .sendsEvery(seconds: flushInterval),
        ] + missingAppGroups.map { .appGroup($0.group, of: $0.process, isMissing: true) }
    }

    /// Says whether `process` has the capability of `group`.
    package mutating func setAppGroup(_ group: Name, of process: Name, isMissing: Bool) {
        let entry = MissingAppGroup(process: process, group: group)
        missingAppGroups.removeAll { $0 == entry }
        if isMissing { missingAppGroups.append(entry) }
        missingAppGroups.sort()
    }

    /// Returns the storage in which an item that `process` saves into `storage` is really stored.
    package func storage(_ storage: DeviceStorage, of process: Name) -> DeviceStorage {
        guard case .appGroup(let group) = storage,
            missingAppGroups.contains(MissingAppGroup(process: process, group: group))
        else { return storage }
        return .privateTo(process: process)
    }

    /// Tells whether the app, which flushes, sees `storage`.
    package func appSees(_ storage: DeviceStorage) -> Bool {
        self.storage(storage, of: DeviceStorage.app) == storage && storage.isVisibleToApp
    }
}

/// One setting of a simulated device, to be given by `EventLog.set(_:on:context:)`.
public enum DeviceSetting: Hashable, Sendable {
    /// The device has a network. Without one, the SDK keeps what it took and sends it later.
    case online(Bool)
    /// The SDK runs. A disabled SDK takes nothing: items wait.
    case sdkEnabled(Bool)
    /// The SDK sends by itself, at most once in so many seconds by the caller's clock; 0 sends at once.
    case sendsEvery(seconds: UInt32)
    /// The SDK sends when the app asks for it: `EventLog.send(from:context:)`.
    case sendsOnRequest
    /// The app may be away for so many seconds without its session ending; at least 1.
    case sessionTimeout(seconds: UInt32)
    /// A process, `"app"` or an extension by name, was built without the capability of an app group: what it saves
    /// there stays private to it.
    case appGroup(Name, of: Name, isMissing: Bool)
}
