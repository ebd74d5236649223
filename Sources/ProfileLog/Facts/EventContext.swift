/// The known facts about an event besides the fact itself: when it happened, its source, its device.
public struct EventContext: Hashable, Sendable {
    /// The time at which it happened by the sender's clock; nil if the sender gave no time.
    public var occurredAt: OccurredAt?
    /// Its source.
    public var source: EventSource
    /// The process on the device: the app, or an extension by its name.
    package var process: Name?
    /// The device.
    public var device: String? {
        get { deviceName?.text }
        set { deviceName = newValue.map { Name($0) } }
    }
    /// The device's storage of a saved item.
    package var storage: DeviceStorage?
    /// The ID that the device gave to a saved item.
    package var item: String? {
        get { itemName?.text }
        set { itemName = newValue.map { Name($0) } }
    }
    /// The REST format's `app_id`.
    package var app: String? {
        get { appName?.text }
        set { appName = newValue.map { Name($0) } }
    }
    /// Position of the rejected item that this saved one replaces.
    package var replaces: Position?
    // As names: these are the same if their bytes are.
    private var deviceName: Name?
    private var itemName: Name?
    private var appName: Name?

    /// Makes a context; arguments that are not given are unknown.
    public init(
        source: EventSource, occurredAt: OccurredAt? = nil, process: Name? = nil, device: String? = nil,
        storage: DeviceStorage? = nil, item: String? = nil, app: String? = nil
    ) {
        self.source = source
        self.occurredAt = occurredAt
        self.process = process
        self.storage = storage
        deviceName = device.map { Name($0) }
        itemName = item.map { Name($0) }
        appName = app.map { Name($0) }
    }

    /// The context of what an app logs by its SDK, which takes no name that begins with `$` and no property of
    /// more than 255 characters. Its device is not known.
    public static let app = EventContext(source: .app)

    /// The context of what a server says about a user.
    public static let server = EventContext(source: .rest)

    /// The context of events of the extension `name` of an app on `device`: what it saves waits in `storage` for a
    /// launch of the app.
    ///
    /// ```swift
    /// let push = EventContext.extension("PushContent", on: "phone", storage: .appGroup("group.app"))
    /// ```
    public static func `extension`(_ name: Name, on device: String, storage: DeviceStorage) -> EventContext {
        EventContext(source: .extension, process: name, device: device, storage: storage)
    }
}

/// The source of an event. The numbers are stored and never change their meaning.
public enum EventSource: UInt8, Sendable, CaseIterable {
    case unknown = 0
    case rest = 1
    case app = 2
    case `extension` = 3
    case `import` = 4
    case cli = 5
    case system = 6

    /// The source's name, as in the JSON forms.
    package var name: String { Self.names[self] }

    /// Tells whether it is the SDK in an app, so that the SDK's rules apply.
    package var isSDK: Bool { self == .app || self == .extension || self == .cli }

    /// The source with this name.
    package init?(name: String) {
        guard let source = Self.names[named: name] else { return nil }
        self = source
    }

    private static let names = CaseNames<EventSource>()
}

/// The storage of saved items on a device.
public enum DeviceStorage: Codable, Hashable, Sendable {
    /// The suite that every target in an app group sees.
    case appGroup(Name)
    /// The storage of one process, which no other sees.
    case privateTo(process: Name)

    /// Tells whether the app, which flushes, sees it.
    package var isVisibleToApp: Bool {
        switch self {
        case .appGroup: true
        case .privateTo(let process): process == Self.app
        }
    }

    /// The process name of the app itself.
    package static let app: Name = "app"

    /// The storage as text.
    package var name: String {
        switch self {
        case .appGroup(let group): group.text
        case .privateTo(let process): "private:\(process.text)"
        }
    }
}
