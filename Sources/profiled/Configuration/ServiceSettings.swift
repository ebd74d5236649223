internal import Foundation
internal import Logging

/// The settings of a service. The values here are the defaults; ``Setting`` declares the rest of each.
struct ServiceSettings: Sendable {
    var store = "./profilelog"
    /// The file of the keys; nil for `keys.json` in the store's folder.
    var keys: String?
    var host = "127.0.0.1"
    var port = 8080
    var portFile: String?
    var baseURL: ServiceOptions.BaseURL?
    /// The origins whose pages may read and write here by script.
    var crossOrigins: [WebOrigin] = []
    /// The file of a unix socket; nil for none.
    var socket: String?
    /// The port for health and metrics alone; nil for none.
    var adminPort: Int?
    var adminHost = "127.0.0.1"
    /// Tells whether a store must be there at the start.
    var expectsStore = false
    var isEphemeral = false
    var fixtures: String?
    var console: String?
    var workspace: String?
    var tlsCertificate: String?
    var tlsKey: String?
    var tlsClientCA: String?
    var tlsClientAuth = TLSFiles.ClientAuth.required
    /// The authorities of the other nodes' certificates; nil for those of the system.
    var nodeCA: String?
    var backupFolder: String?
    /// Tells whether a backup must be in its folder: then none is begun there.
    var expectsBackup = false
    var backupEvery: Seconds = 60
    var backupVerifyEvery: Seconds = 86_400
    /// The brokers of the cluster; nil for a store that this service has alone.
    var brokers: BrokerList?
    var nodeName: String?
    var nodeURL: ServiceOptions.BaseURL?
    var clusterName = "profilelog"
    /// The node whose store a new node begins with.
    var joinURL: ServiceOptions.BaseURL?
    var joinKeyFile: String?
    var replicas = 3
    var streamMaxAge: Seconds?
    /// The lag beyond which reads are refused; nil for none.
    var maxLag: Seconds?
    var brokerMonitors: URLList?
    var brokerUser: String?
    var brokerPasswordFile: String?
    var brokerCredentials: String?
    var brokerSeed: String?
    var brokerTLSCA: String?
    var brokerTLSCertificate: String?
    var brokerTLSKey: String?
    /// Tells whether brokers older than the oldest that was tested will do.
    var takesAnyBroker = false
    var rateLimits: [RateLimit] = []
    var maxConnections = 1024
    var maxConnectionsPerAddress = 512
    var maxStreams = 64
    var bodyMemoryMebibytes = 256
    var heartbeat: Seconds = 15
    var bodyTimeout: Seconds = 30
    var idleTimeout: Seconds = 60
    var readTimeout: Seconds = 60
    var logLevel = Logger.Level.notice.rawValue
    var logFormat = ServiceOptions.LogFormat.text
    /// The time of a request that is logged as slow; 0 for none.
    var slowRequestMilliseconds = 1_000

    var level: Logger.Level { Logger.Level(rawValue: logLevel) ?? .notice }

    /// The backup that the service writes; nil for none. A temporary store needs none.
    var backupPlan: BackupPlan? {
        guard let backupFolder, !isEphemeral else { return nil }
        return BackupPlan(folder: backupFolder, keys: place.keyFile.path, workspace: workspace)
    }

    var place: StorePlace { StorePlace(path: store, keys: keys) }

    /// The files of TLS; nil for plain HTTP.
    var tlsFiles: TLSFiles? {
        guard let tlsCertificate, let tlsKey else { return nil }
        return TLSFiles(
            certificate: tlsCertificate, key: tlsKey, clientCA: tlsClientCA, clientAuth: tlsClientAuth,
            isOfNode: brokers != nil)
    }

    var scheme: String { tlsFiles == nil ? "http" : "https" }

    /// Tells whether there is a TCP port: `none` as the host leaves the unix socket alone.
    var hasPort: Bool { host != "none" }

    /// Tells whether only this machine can reach the service.
    var isLoopback: Bool { !hasPort || Self.isLoopback(host) }

    /// Tells whether only this machine can reach the address. A name like `127.example.com` is no such address.
    static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" { return true }
        var address = in_addr()
        if inet_pton(AF_INET, host, &address) == 1 { return UInt32(bigEndian: address.s_addr) >> 24 == 127 }
        var address6 = in6_addr()
        guard inet_pton(AF_INET6, host, &address6) == 1 else { return false }
        return withUnsafeBytes(of: &address6) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
    }
}
