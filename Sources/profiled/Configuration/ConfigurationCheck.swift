internal import Foundation
internal import ProfileLog
internal import ProfileLogBackup
internal import ProfileLogBrazeAPI

/// Looks at what the settings name, as a start would, without a change: `profiled config check`.
enum ConfigurationCheck {
    /// The checks of a start that touch files, each of which throws what is wrong.
    private static let all: [@Sendable (ServiceSettings) throws -> Void] = [
        { try refuseStore($0) },
        { try refuseOpenDoor($0) },
        { try $0.refuseHalfTLS() },
        { try $0.refuseHalfPlace() },
        { _ = try $0.tlsFiles?.read() },
        { if let file = $0.nodeCA { _ = try NodeClient.certificates(in: file) } },
        { if let file = $0.workspace { _ = try Workspace(path: file) } },
        { if let file = $0.fixtures { _ = try Fixtures(path: file) } },
        { try ConsoleFiles(folder: $0.console).check() },
        { try $0.refuseBackupOfEphemeral() },
        { try refuseBackup($0) },
        { try $0.refuseHalfCluster() },
        { if let file = $0.socket { try refuseUnwritable(file, "socket") } },
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

    private static func refuseStore(_ settings: ServiceSettings) throws {
        if settings.isEphemeral { return }
        if settings.expectsStore { try settings.refuseMissingStore() }
        switch try StoreFolder(path: settings.store) {
        case .foreign: throw StorageError.notAStore(path: settings.store)
        case .store, .unfinished, .vacant:
            // One that is not there is made with all folders above it.
            if access(settings.store, F_OK) == 0 { try refuseUnwritable(settings.store, "store") }
        }
    }

    /// Refuses a folder that a run would refuse, as far as it tells.
    private static func refuseBackup(_ settings: ServiceSettings) throws {
        guard let folder = settings.backupPlan?.folder else { return }
        try refuseUnwritable(folder, "backup.folder")
        try BackupFolder.check(
            path: folder, store: settings.store, storeID: StoreFolder.storeID(in: settings.store),
            expectsBackup: settings.expectsBackup)
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
            "\(file), which \(key) names, cannot be written: \(String(cString: strerror(errno))).",
            remedy: "Name one in a folder that exists and that this user may write to.")
    }
}

extension ServiceSettings {
    /// Throws unless the folder holds a store. An unfinished one holds no event, and opening it would make it again.
    func refuseMissingStore() throws {
        switch try StoreFolder(path: store) {
        case .store: return
        case .foreign: throw StorageError.notAStore(path: store)
        case .vacant, .unfinished:
            throw StartError(
                "There is no store in \(store), and with --expect-store the service makes none.",
                remedy: "Mount its disk, correct --store, or restore a backup; "
                    + "`profiled keys add` makes a new store, with its first key.")
        }
    }

    /// Throws if a store for tests should be backed up: it is removed at its end.
    func refuseBackupOfEphemeral() throws(StartError) {
        guard isEphemeral, backupFolder != nil else { return }
        throw StartError(
            "A store for tests is removed at its end, so it has no backup, and backup.folder names one.",
            remedy: "Take backup.folder (PROFILED_BACKUP) out, or ephemeral.")
    }

    /// Throws if a setting of TLS lacks another one: a service that should speak it must not start without.
    func refuseHalfTLS() throws(StartError) {
        if (tlsCertificate == nil) != (tlsKey == nil) {
            throw StartError(
                "\(tlsKey == nil ? "--tls-certificate" : "--tls-key") is there without "
                    + "\(tlsKey == nil ? "--tls-key" : "--tls-certificate").",
                remedy:
                    "Name both, as flags or in the configuration (tls.certificate, tls.key), or none for plain HTTP.")
        }
        if tlsClientCA != nil, tlsCertificate == nil {
            throw StartError(
                "--tls-client-ca is there without a certificate of the service.",
                remedy: "Name --tls-certificate and --tls-key too, or omit it.")
        }
        if tlsClientAuth == .optional, tlsClientCA == nil {
            throw StartError(
                "--tls-client-auth is there without --tls-client-ca.",
                remedy: "Name the authority of clients, or omit it.")
        }
    }

    /// Throws if there is nothing to listen on, or if a setting of the port is there without one.
    func refuseHalfPlace() throws(StartError) {
        if hasPort { return }
        if socket == nil {
            throw StartError(
                "With --host none the service has no port, and there is no --unix.",
                remedy: "Name a file for the socket with --unix, or an address with --host.")
        }
        if tlsCertificate != nil {
            throw StartError(
                "With --host none the service has no port, and a unix socket does not speak TLS.",
                remedy: "Take --tls-certificate and --tls-key out, or name an address with --host.")
        }
    }

    /// Throws if other machines could reach the service, and there are no keys.
    func refuseOpenDoor(keys: [StoredKey]?) throws(StartError) {
        guard !isLoopback, keys?.isEmpty != false else { return }
        throw StartError(
            "Other machines could reach \(host), and there are no keys.",
            remedy: "Make one with `profiled keys add --name NAME`, or listen on this machine alone with "
                + "--host 127.0.0.1.")
    }
}
