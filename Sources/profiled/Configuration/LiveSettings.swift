internal import Logging
internal import Synchronization

/// The settings of a running service: what is read here at each use changes with the next reload.
final class LiveSettings: Sendable {
    private let settings: Mutex<ServiceSettings>

    init(_ settings: ServiceSettings) { self.settings = Mutex(settings) }

    var current: ServiceSettings {
        get { settings.withLock { $0 } }
        set { settings.withLock { $0 = newValue } }
    }
}

/// A part of a running service that takes new settings.
struct ReloadHook: Sendable {
    /// Checks the settings, and returns what makes them hold, which cannot fail. It runs after the hooks of all others
    /// have checked theirs. Throws if they cannot hold: then no setting changes.
    let prepare: @Sendable (_ old: ServiceSettings, _ new: ServiceSettings) throws -> @Sendable () -> Void
}

/// Hands messages on from one level up, which all loggers of the process share: it can change while they are in use.
struct LeveledLogHandler: LogHandler {
    private static let level = Mutex(Logger.Level.notice)

    static func setLevel(_ new: Logger.Level) { level.withLock { $0 = new } }

    private var inner: any LogHandler

    init(_ inner: any LogHandler) { self.inner = inner }

    var logLevel: Logger.Level {
        get { Self.level.withLock { $0 } }
        set { Self.setLevel(newValue) }
    }
    var metadata: Logger.Metadata {
        get { inner.metadata }
        set { inner.metadata = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { inner[metadataKey: key] }
        set { inner[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) { inner.log(event: event) }
}
