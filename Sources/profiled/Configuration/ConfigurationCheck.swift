internal import Foundation
internal import ProfileLog
internal import ProfileLogBrazeAPI

/// Looks at what the settings name, as a start would, without a change: `profiled config check`.
enum ConfigurationCheck {
    /// The checks of a start that touch files, each of which throws what is wrong.
    private static let all: [@Sendable (ServiceSettings) throws -> Void] = [
        { try refuseForeignStore($0) },
        { try refuseOpenDoor($0) },
        { if let file = $0.workspace { _ = try Workspace(path: file) } },
        { if let file = $0.fixtures { _ = try Fixtures(path: file) } },
        { try ConsoleFiles(folder: $0.console).check() },
        { if let files = $0.tlsFiles { _ = try files.read() } },
        { if let file = $0.portFile { try refuseUnwritable(file, "port-file") } },
    ]

    /// All that is wrong; empty if a service could start.
    static func errors(in settings: ServiceSettings) -> [ConfigurationError] {
        all.compactMap { check -> ConfigurationError? in
            do {
                try check(settings)
                return nil
            } catch {
                let failure = StartError(error, host: settings.host, port: settings.port)
                return ConfigurationError(sentence: failure.sentence, remedy: failure.remedy)
            }
        }
    }

    private static func refuseForeignStore(_ settings: ServiceSettings) throws {
        if settings.isEphemeral { return }
        if try StoreFolder(path: settings.store) == .foreign { throw StorageError.notAStore(path: settings.store) }
    }

    /// Keys that cannot be read, or none where other machines could reach the service.
    private static func refuseOpenDoor(_ settings: ServiceSettings) throws {
        let hasKeyFile = !settings.isEphemeral || settings.keys != nil
        try settings.refuseOpenDoor(keys: hasKeyFile ? settings.place.presentKeys() : nil)
    }

    /// Throws if this user could not make or change the file that `key` names.
    private static func refuseUnwritable(_ file: String, _ key: String) throws(StartError) {
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
        if access(file, W_OK) == 0 || errno == ENOENT && access(folder, W_OK | X_OK) == 0 { return }
        throw StartError(
            "The file \(file) of \(key) cannot be written: \(String(cString: strerror(errno))).",
            remedy: "Name a file in a folder that exists and that this user may write to.")
    }
}

extension ServiceSettings {
    /// Throws if other machines could reach the service, and there are no keys.
    func refuseOpenDoor(keys: [StoredKey]?) throws(StartError) {
        guard !isLoopback, keys?.isEmpty != false else { return }
        throw StartError(
            "Other machines could reach \(host), and there are no keys.",
            remedy: "Make one with `profiled keys add --name NAME`, or listen on this machine alone with "
                + "--host 127.0.0.1.")
    }
}
