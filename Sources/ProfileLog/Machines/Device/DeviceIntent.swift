/// A request to a device, before the log is read.
package enum DeviceIntent: Hashable, Sendable {
    case launch(LaunchKind, lists: Set<PendingKind> = PendingKind.all)
    case leave
    case flush(FlushInput)
    case send(SendCause, limit: Int)
    case changeUser(UserID)
    case logOut
    case wipe
    case change(SettingsChange)
    case push(PushIntent)

    /// Tells whether it depends on the device's pending items.
    package var needsItems: Bool {
        switch self {
        case .flush, .send, .logOut, .wipe: true
        // The app may log something about it.
        case .push(.deliver), .push(.receive), .push(.initialize), .push(.removeApp): true
        case .launch, .leave, .changeUser, .change, .push: false
        }
    }
}

/// A change of some of a device's settings; nil keeps a setting.
package struct SettingsChange: Hashable, Sendable {
    /// Tells whether the SDK runs.
    package var isSDKEnabled: Bool?
    /// Tells whether the device has a network.
    package var isOnline: Bool?
    /// The rule by which the SDK sends.
    package var requestPolicy: DeviceSettings.RequestPolicy?
    /// Seconds between two sendings.
    package var flushInterval: UInt32?
    /// Seconds for which the app may be away without its session ending; at least 1.
    package var sessionTimeout: UInt32?
    /// Targets that lack an app group from now on.
    package var withoutAppGroup: [DeviceSettings.MissingAppGroup] = []
    /// Targets that have it from now on.
    package var withAppGroup: [DeviceSettings.MissingAppGroup] = []
    /// The answer to the question whether the app may show pushes.
    package var permission: PushSettings.Permission?
    /// The moment at which the app makes its instance of the SDK, from the next launch on.
    package var startup: SDKStartup?
    /// The app's content extension; `.some(nil)` takes it out of the app.
    package var contentExtension: ContentExtension??
    /// The app's handler of silent pushes that are server events.
    package var serverEvents: ServerEventHandler?
    package var inApp = InAppSettingsChange()

    /// Changes nothing yet.
    package init() {}

    package func applied(to settings: DeviceSettings) -> DeviceSettings {
        var settings = settings
        if let isSDKEnabled { settings.isSDKEnabled = isSDKEnabled }
        if let isOnline { settings.isOnline = isOnline }
        if let requestPolicy { settings.requestPolicy = requestPolicy }
        if let flushInterval { settings.flushInterval = flushInterval }
        if let sessionTimeout { settings.sessionTimeout = sessionTimeout }
        if let permission { settings.push.permission = permission }
        if let startup { settings.push.startup = startup }
        if let contentExtension { settings.push.contentExtension = contentExtension }
        if let serverEvents { settings.push.serverEvents = serverEvents }
        settings.inApp = inApp.applied(to: settings.inApp)
        for target in withoutAppGroup { settings.setAppGroup(target.group, of: target.process, isMissing: true) }
        for target in withAppGroup { settings.setAppGroup(target.group, of: target.process, isMissing: false) }
        return settings
    }
}
