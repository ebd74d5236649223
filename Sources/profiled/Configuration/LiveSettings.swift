internal import Logging
internal import Synchronization

/// The settings of a running service: what is read here at each use changes with the next reload.
final class LiveSettings: Sendable {
    private struct State {
        var settings: ServiceSettings
        var file: [UInt8]
    }

    private let state: Mutex<State>

    /// - Parameter file: the content of the configuration file that they are from; empty if there is none.
    init(_ settings: ServiceSettings, file: [UInt8]) { state = Mutex(State(settings: settings, file: file)) }

    var current: ServiceSettings { state.withLock { $0.settings } }

    /// The content of the configuration file that counts: the newest one that was accepted, whatever the file has
    /// become since.
    var file: [UInt8] { state.withLock { $0.file } }

    func replace(with settings: ServiceSettings, file: [UInt8]) {
        state.withLock { $0 = State(settings: settings, file: file) }
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
