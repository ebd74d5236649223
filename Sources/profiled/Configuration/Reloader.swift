internal import Logging
internal import ProfileLog
internal import Synchronization

/// Reads the configuration again in a running service: all of it holds afterwards, or nothing has changed.
final class Reloader: Sendable {
    private let source: ConfigurationSource
    private let live: LiveSettings
    private let hooks: [ReloadHook]
    private let metrics: Metrics
    private let logger: Logger

    /// - Parameter read: what the service was started with. A file that was read then must be there again.
    init(
        _ source: ConfigurationSource, after read: Configuration, live: LiveSettings, hooks: [ReloadHook],
        metrics: Metrics, logger: Logger
    ) {
        var source = source
        source.namedPath = source.namedPath ?? read.file
        (self.source, self.live, self.hooks, self.metrics, self.logger) = (source, live, hooks, metrics, logger)
    }

    /// Reads, checks, and changes what can change. Returns the outcome in one sentence. Not to be called twice at once.
    func reload() -> String {
        let old = live.current
        let configuration: Configuration
        do throws(ConfigurationErrors) { configuration = try source.read() } catch {
            return refuse(error.all)
        }
        let changed = Setting.all.filter { $0.json(old) != $0.json(configuration.settings) }
        var new = old
        for setting in changed where setting.words.reloads { setting.copy(configuration.settings, &new) }
        var commits: [@Sendable () -> Void] = []
        do {
            for hook in hooks { commits.append(try hook.prepare(old, new)) }
        } catch {
            let failure = StartError(error, host: new.host, port: new.port)
            return refuse([ConfigurationError(sentence: failure.sentence, remedy: failure.remedy)])
        }
        for commit in commits { commit() }
        live.replace(with: new, file: configuration.content)
        metrics.recordReload(isGood: true)
        for note in configuration.notes { logger.warning("\(note)") }
        let held = changed.filter(\.words.reloads).map(\.key)
        logger.notice(
            "SIGHUP: the configuration was read again",
            metadata: [
                "file": "\(configuration.file ?? "none")", "changed": "\(held.isEmpty ? "nothing" : Self.list(held))",
            ])
        let waiting = changed.filter { !$0.words.reloads }.map(\.key)
        if !waiting.isEmpty {
            logger.warning(
                "settings changed that need a restart; until then the old values hold",
                metadata: ["settings": "\(Self.list(waiting))"])
        }
        return waiting.isEmpty
            ? "The configuration was read again." : "A restart is needed for \(Self.list(waiting))."
    }

    private static func list(_ keys: [String]) -> String { keys.joined(separator: ",") }

    private func refuse(_ errors: [ConfigurationError]) -> String {
        metrics.recordReload(isGood: false)
        for error in errors {
            var metadata: Logger.Metadata = ["reason": "\(error.sentence)", "remedy": "\(error.remedy)"]
            if let line = error.line { metadata["line"] = .stringConvertible(line) }
            if let column = error.column { metadata["column"] = .stringConvertible(column) }
            logger.error("SIGHUP: the configuration is not used, and the old one holds", metadata: metadata)
        }
        return "The old configuration holds: \(errors.first?.sentence ?? "")"
    }
}
