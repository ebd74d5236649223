internal import ArgumentParser
internal import Foundation
internal import ProfileLog
internal import ProfileLogRequests

/// The flags of the service. ``Setting`` has their names, defaults and help.
struct ServiceOptions: ParsableArguments, Sendable {
    @Option(name: .setting("port"), help: .setting("port")) var port: Int?
    @Option(name: .setting("host"), help: .setting("host")) var host: String?
    @Option(name: .setting("port-file"), help: .setting("port-file")) var portFile: String?
    @Option(name: .setting("base-url"), help: .setting("base-url")) var baseURL: BaseURL?
    @Option(name: .setting("cors"), help: .setting("cors")) var crossOrigins: [WebOrigin] = []
    @Option(name: .setting("socket"), help: .setting("socket")) var socket: String?
    @Option(name: .setting("admin-port"), help: .setting("admin-port")) var adminPort: Int?
    @Option(name: .setting("admin-host"), help: .setting("admin-host")) var adminHost: String?
    @Flag(name: .setting("expect-store"), help: .setting("expect-store")) var expectsStore = false
    @Flag(name: .setting("ephemeral"), help: .setting("ephemeral")) var isEphemeral = false
    @Option(name: .setting("fixtures"), help: .setting("fixtures")) var fixtures: String?
    @Option(name: .setting("console"), help: .setting("console")) var console: String?
    @Option(name: .setting("workspace"), help: .setting("workspace")) var workspace: String?
    @Option(name: .setting("tls.certificate"), help: .setting("tls.certificate")) var tlsCertificate: String?
    @Option(name: .setting("tls.key"), help: .setting("tls.key")) var tlsKey: String?
    @Option(name: .setting("tls.client-ca"), help: .setting("tls.client-ca")) var tlsClientCA: String?

    @Option(name: .setting("tls.client-auth"), help: .setting("tls.client-auth"))
    var tlsClientAuth: TLSFiles.ClientAuth?

    @Option(name: .setting("cluster.node-ca"), help: .setting("cluster.node-ca")) var nodeCA: String?
    @Option(name: .setting("backup.folder"), help: .setting("backup.folder")) var backupFolder: String?
    @Flag(name: .setting("backup.expect"), help: .setting("backup.expect")) var expectsBackup = false
    @Option(name: .setting("backup.every"), help: .setting("backup.every")) var backupEvery: Seconds?

    @Option(name: .setting("backup.verify-every"), help: .setting("backup.verify-every"))
    var backupVerifyEvery: Seconds?

    @Option(name: .setting("cluster.replicate"), help: .setting("cluster.replicate"), transform: BrokerList.typed)
    var brokers: BrokerList?

    @Option(name: .setting("cluster.node"), help: .setting("cluster.node")) var nodeName: String?
    @Option(name: .setting("cluster.node-url"), help: .setting("cluster.node-url")) var nodeURL: BaseURL?
    @Option(name: .setting("cluster.name"), help: .setting("cluster.name")) var clusterName: String?
    @Option(name: .setting("cluster.join"), help: .setting("cluster.join")) var joinURL: BaseURL?
    @Option(name: .setting("cluster.join-key-file"), help: .setting("cluster.join-key-file")) var joinKeyFile: String?
    @Option(name: .setting("cluster.replicas"), help: .setting("cluster.replicas")) var replicas: Int?

    @Option(name: .setting("cluster.stream-max-age"), help: .setting("cluster.stream-max-age"))
    var streamMaxAge: Seconds?

    @Option(name: .setting("cluster.max-lag"), help: .setting("cluster.max-lag")) var maxLag: Seconds?
    @Option(name: .setting("broker.monitor"), help: .setting("broker.monitor")) var brokerMonitors: URLList?
    @Option(name: .setting("broker.user"), help: .setting("broker.user")) var brokerUser: String?

    @Option(name: .setting("broker.password-file"), help: .setting("broker.password-file"))
    var brokerPasswordFile: String?

    @Option(name: .setting("broker.creds"), help: .setting("broker.creds")) var brokerCredentials: String?
    @Option(name: .setting("broker.nkey-seed"), help: .setting("broker.nkey-seed")) var brokerSeed: String?
    @Option(name: .setting("broker.tls-ca"), help: .setting("broker.tls-ca")) var brokerTLSCA: String?
    @Option(name: .setting("broker.tls-cert"), help: .setting("broker.tls-cert")) var brokerTLSCertificate: String?
    @Option(name: .setting("broker.tls-key"), help: .setting("broker.tls-key")) var brokerTLSKey: String?
    @Flag(name: .setting("broker.any-version"), help: .setting("broker.any-version")) var takesAnyBroker = false
    @Option(name: .setting("rate-limits"), help: .setting("rate-limits")) var rateLimits: [RateLimit] = []
    @Option(name: .setting("limits.connections"), help: .setting("limits.connections")) var maxConnections: Int?

    @Option(name: .setting("limits.connections-per-address"), help: .setting("limits.connections-per-address"))
    var maxConnectionsPerAddress: Int?

    @Option(name: .setting("limits.streams"), help: .setting("limits.streams")) var maxStreams: Int?
    @Option(name: .setting("timeouts.heartbeat"), help: .setting("timeouts.heartbeat")) var heartbeat: Seconds?
    @Option(name: .setting("timeouts.body"), help: .setting("timeouts.body")) var bodyTimeout: Seconds?

    @Option(name: .setting("limits.body-memory"), help: .setting("limits.body-memory"))
    var bodyMemoryMebibytes: Int?

    @Option(name: .setting("timeouts.idle"), help: .setting("timeouts.idle")) var idleTimeout: Seconds?
    @Option(name: .setting("timeouts.read"), help: .setting("timeouts.read")) var readTimeout: Seconds?
    @Option(name: .setting("log.level"), help: .setting("log.level")) var logLevel: String?
    @Option(name: .setting("log.format"), help: .setting("log.format")) var logFormat: LogFormat?

    @Option(name: .setting("log.slow-request"), help: .setting("log.slow-request"))
    var slowRequestMilliseconds: Int?

    /// The switch; nil unless it was given: a flag cannot say false.
    var storeExpected: Bool? { expectsStore ? true : nil }
    /// The switch; nil unless it was given.
    var backupExpected: Bool? { expectsBackup ? true : nil }
    /// The switch; nil unless it was given.
    var anyBroker: Bool? { takesAnyBroker ? true : nil }
    /// The switch; nil unless it was given.
    var ephemeral: Bool? { isEphemeral ? true : nil }
    var givenRateLimits: [RateLimit]? { rateLimits.isEmpty ? nil : rateLimits }
    var givenCrossOrigins: [WebOrigin]? { crossOrigins.isEmpty ? nil : crossOrigins }

    enum LogFormat: String, ExpressibleByArgument, Sendable { case text, json }

    /// `http://…` or `https://…`, without a slash at its end.
    struct BaseURL: ExpressibleByArgument, Sendable {
        let text: String

        init?(argument: String) {
            let text = argument.hasSuffix("/") ? String(argument.dropLast()) : argument
            guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host()?.isEmpty == false,
                url.user() == nil, url.password() == nil, url.query() == nil, url.fragment() == nil,
                text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else { return nil }
            self.text = text
        }

        var isSecure: Bool { text.lowercased().hasPrefix("https:") }

        /// As browsers send it: without a path and the port of its scheme, in small letters.
        var origin: String {
            let parts = text.lowercased().split(separator: "/", omittingEmptySubsequences: false).prefix(3)
            let usual = parts[0] == "https:" ? ":443" : ":80"
            let origin = parts.joined(separator: "/")
            return origin.hasSuffix(usual) ? String(origin.dropLast(usual.count)) : origin
        }
    }

    func validate() throws {
        // The flag names the path that is none; a file has its line for that.
        for path in rateLimits.flatMap(\.paths) where !Setting.isEndpoint(path) {
            throw ValidationError("--rate-limit names \(path), which is not an endpoint; GET / lists them.")
        }
        try Setting.validate(Setting.Flags(service: self))
    }
}

extension TLSFiles.ClientAuth: ExpressibleByArgument {}

/// The flags that name a store and the file of the configuration.
struct StoreOptions: ParsableArguments, Sendable {
    @Option(name: .setting("store"), help: .setting("store")) var store: String?
    @Option(name: .setting("keys"), help: .setting("keys")) var keys: String?

    @Option(
        help: ArgumentHelp(
            "The file of the configuration. (default: $PROFILED_CONFIG, or \(ConfigurationSource.usualPath))",
            valueName: "file"))
    var config: String?

    func validate() throws {
        if config?.isEmpty == true { throw ValidationError("--config must not be empty.") }
        try Setting.validate(Setting.Flags(store: self))
    }

    /// The store of a command that serves nothing, as the configuration says.
    func place() throws -> StorePlace {
        try ConfigurationSource(Setting.Flags(store: self)).read().settings.place
    }
}

/// The place of a store and of its keys.
struct StorePlace: Sendable {
    let path: String
    /// The file of the keys, if it was named.
    let keys: String?

    var keyFile: KeyFile { KeyFile(path: keys ?? path + "/keys.json") }

    /// The keys; nil if the store has no file of keys. Throws if `--keys` names no file, or the store is not a folder.
    func presentKeys() throws -> [StoredKey]? {
        var isFolder: ObjCBool = true
        if keys == nil, FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue {
            throw StorageError.unreachable(path: path, code: ENOTDIR)
        }
        if let present = try keyFile.read() { return present }
        guard let keys else { return nil }
        throw StartError(
            "There is no file of keys \(keys).",
            remedy: "Check --keys; `profiled keys add` makes the file, with its first key.")
    }

    /// As ``presentKeys()``. Throws also if there is no store.
    func knownKeys() throws -> [StoredKey]? {
        if let present = try presentKeys() { return present }
        let folder = try StoreFolder(path: path)
        if folder == .store { return nil }
        if folder == .foreign { throw StorageError.notAStore(path: path) }
        throw StartError(
            StorageError.noStore(path: path).description,
            remedy: "Check --store or PROFILELOG_STORE; `profiled keys add` makes a store, with its first key.")
    }
}
