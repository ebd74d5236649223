internal import Foundation
internal import Logging
internal import NIOCore
internal import ProfileLog
internal import ProfileLogRequests
internal import ServiceLifecycle
internal import Synchronization
internal import UnixSignals

/// The HTTP server, and the end of the store after it.
struct Server {
    let options: ServiceSettings
    /// The source of the settings, to read them again; nil for a service that does not.
    var configured: (source: ConfigurationSource, configuration: Configuration)?
    let keys: KeyRing
    let metrics: Metrics
    /// The reasons for which the service is degraded; its parts register what they know.
    var health = HealthReasons()
    let maxConnections: Int
    /// The certificates of TLS; nil for plain HTTP.
    var certificates: TLSCertificates?
    let logger: Logger
    /// The lines that standard output gets when the service is ready, by its URL; nil for the usual one.
    var welcome: (@Sendable (_ url: String) -> [String])?
    /// The backup that it writes while it runs; nil for none.
    var backup: BackupPlan?
    /// The node of a cluster that it is; nil for a store that it has alone.
    var cluster: ClusterNode?
    /// The writes of a start that a node does as soon as it can.
    var startWrites: [StartWrites.Work] = []
    /// Hands writes to the node of the cluster that writes; nil without a cluster.
    var forwarder: WriteForwarder?

    /// Requests that take longer than this after the signal are cut off.
    private static let patience = Duration.seconds(10)

    /// Serves `store` until a signal comes, and returns when everything that was accepted is on the disk.
    func run(_ store: LiveStore, portFile: PortFile?) async throws {
        // `StartError` says better what Hummingbird and the service group say about an error.
        let quiet =
            logger.logLevel > .debug
            ? Logger(label: "profiled", factory: { _ in SwiftLogNoOpLogHandler() }) : logger
        let (failures, failed) = AsyncStream<StartError>.makeStream()
        let connections = Connections(limit: maxConnections, limitPerAddress: options.maxConnectionsPerAddress)
        let live = LiveSettings(options, file: configured?.configuration.content ?? [])
        registerReasons(store, live)
        let requests = RequestAdaptor(
            store, connections, certificates, cluster, keys: keys, metrics: metrics, health: health, live: live,
            forwarder: forwarder, logger: logger)
        let reloader = configured.map { source, configuration in
            Reloader(
                source, after: configuration, live: live,
                hooks: [requests.reloadHook, limitsHook(connections), Self.levelHook]
                    + [certificates?.reloadHook].compactMap(\.self), metrics: metrics, logger: logger)
        }
        let listeners = self.listeners(requests, connections, live, quiet) { port in
            do throws(StartError) { try announce(port, store.api.log, portFile) } catch { failed.yield(error) }
        }
        var services: [any Service] = [
            StartCheck(failures: failures), ScheduledSends(store: store, cluster: cluster, logger: logger),
            AuditTask(store: store, logger: logger), RebuildTask(store: store, logger: logger),
            BackupTask(plan: backup, live: live, store: store, metrics: metrics.backups, logger: logger),
            HangUp(reloader: reloader, logger: logger), listeners,
        ]
        if let certificates { services.append(certificates) }
        if let cluster { services.append(ClusterWatch(cluster: cluster, logger: logger)) }
        if !startWrites.isEmpty { services.append(StartWrites(works: startWrites, store: store, logger: logger)) }
        services.append(StopNotice())
        var configuration = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet)
        configuration.maximumGracefulShutdownDuration = Self.patience
        let end: Result<Void, any Error>
        do { end = .success(try await ServiceGroup(configuration: configuration).run()) } catch {
            end = .failure(error)
        }
        await forwarder?.close()
        cluster?.willStop()
        // After the server, also when a request was cut off: what was accepted is stored.
        await store.close()
        // After the last write, and before the log is closed.
        await cluster?.stop()
        try end.get()
        let position = store.lastPosition.map { ["last_position": Logger.MetadataValue.stringConvertible($0)] }
        logger.notice("stopped", metadata: position)
    }

    /// The places to listen on. When all of them take connections, `isReady` is called with the port, nil without one.
    private func listeners(
        _ requests: RequestAdaptor, _ connections: Connections, _ live: LiveSettings, _ quiet: Logger,
        isReady: @escaping @Sendable (_ port: Int?) -> Void
    ) -> Listeners {
        var places: [Listener.Place] = []
        if options.hasPort { places.append(.port(host: options.host, port: options.port)) }
        if let socket = options.socket { places.append(.socket(path: socket)) }
        if let port = options.adminPort { places.append(.admin(host: options.adminHost, port: port)) }
        // A look at the health of a busy service does not wait for its other clients.
        let operators = Connections(limit: Self.adminConnections, limitPerAddress: Self.adminConnections)
        let arrivals = Arrivals(of: places.count)
        let wrongProtocols = WrongProtocols(logger)
        let all = places.map { place in
            Listener(
                place: place, requests: requests, connections: place.isAdmin ? operators : connections,
                certificates: place.isPort ? certificates : nil, live: live, wrongProtocols: wrongProtocols,
                isReady: { [logger] channel in
                    let port = channel.localAddress?.port
                    switch place {
                    case .port: break
                    case .socket(let path): logger.notice("listens on a unix socket", metadata: ["file": "\(path)"])
                    case .admin(let host, let asked):
                        let url = Self.url("http", host, port ?? asked)
                        logger.notice("health and metrics have a port of their own", metadata: ["url": "\(url)"])
                    }
                    if arrivals.add(place.isPort ? port : nil) { isReady(arrivals.port) }
                }, logger: quiet)
        }
        return Listeners(all: all)
    }

    /// Connections of the port for operators.
    static let adminConnections = 16

    /// Takes another number of connections, and opens room for their files.
    private func limitsHook(_ connections: Connections) -> ReloadHook {
        ReloadHook { [logger] old, new in
            // The start may have found room for fewer than the setting says, and has told so.
            let isSame = old.maxConnections == new.maxConnections
            let limit = try isSame ? connections.limit : new.reserveConnections(logger)
            return { connections.setLimit(limit, perAddress: new.maxConnectionsPerAddress) }
        }
    }

    private static let levelHook = ReloadHook { _, new in
        return { LeveledLogHandler.setLevel(new.level) }
    }

    /// Registers the reasons for which `/health` is degraded.
    private func registerReasons(_ store: LiveStore, _ live: LiveSettings) {
        health.register(.audit) { _ in
            HealthReason.audit(differences: store.api.store.auditor.report.differences.count)
        }
        if let certificates {
            health.register(.certificate) { now in
                certificates.report.served.concern(at: now).map {
                    HealthReason(.certificate, error: $0.error, remedy: $0.remedy)
                }
            }
        }
        if let cluster { health.register(.cluster) { _ in cluster.healthReason } }
        guard backup != nil else { return }
        let (backups, start) = (metrics.backups, Timestamp.now())
        health.register(.backup) { now in
            HealthReason.backup(
                lastSuccess: backups.counts?.succeeded, since: start, every: live.current.backupEvery.duration,
                now: now)
        }
        health.register(.damagedBackup) { _ in HealthReason.damagedBackup(backups.counts?.isDamaged == true) }
    }

    private static func url(_ scheme: String, _ host: String, _ port: Int) -> String {
        "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)/"
    }

    /// `port` is nil if there is a unix socket alone.
    private func announce(_ port: Int?, _ log: EventLog, _ portFile: PortFile?) throws(StartError) {
        try portFile?.write(port ?? 0)
        let url = port.map { Self.url(options.scheme, options.host, $0) } ?? "unix:\(options.socket ?? "")"
        for line in welcome?(url) ?? ["profiled: \(url) serves the store \(log.path)"] { try? Console.print(line) }
        ServiceManager.ready("\(url) serves the store \(log.path).")
        options.noteOpenNetwork(logger)
        if !keys.isClosed {
            logger.notice("there are no keys: any bearer token, or none, is accepted; `profiled keys add` makes a key")
        }
        // If they cannot be looked at, the first request that reads them says so.
        if let outdated = try? log.shadow.projections(withStatesOf: .newerPrograms), !outdated.isEmpty {
            logger.notice(
                "states of a newer program are not used; `profilecli replay --shadow --swap` folds them again",
                metadata: ["projections": .string(outdated.joined(separator: ", "))])
        }
    }
}

/// Counts the places that take connections.
private final class Arrivals: Sendable {
    private struct State {
        var left: Int
        var port: Int?
    }

    private let state: Mutex<State>

    init(of count: Int) { state = Mutex(State(left: count)) }

    /// The main port; nil if there is none, or if it takes no connections yet.
    var port: Int? { state.withLock { $0.port } }

    /// Adds a place, with its port if it is the main one. True if it is the last.
    func add(_ port: Int?) -> Bool {
        state.withLock { state in
            state.port = state.port ?? port
            state.left -= 1
            return state.left == 0
        }
    }
}

/// Fails, and so ends the group, if the announcement failed.
private struct StartCheck: Service {
    let failures: AsyncStream<StartError>

    func run() async throws { for await failure in failures.cancelOnGracefulShutdown() { throw failure } }
}

/// Tells the service manager that the stop has begun. It is the last of the group, which stops them from the last one
/// on.
private struct StopNotice: Service {
    func run() async throws {
        try? await gracefulShutdown()
        ServiceManager.stopping()
    }
}

/// Reads the configuration again at each SIGHUP. It may also come of a terminal that closes or of a rotation of logs.
private struct HangUp: Service {
    /// The reader of the configuration; nil for a service that has nothing to read again.
    let reloader: Reloader?
    let logger: Logger

    func run() async throws {
        for await _ in HangUps.all.cancelOnGracefulShutdown() {
            ServiceManager.reloading()
            if let reloader {
                ServiceManager.ready(reloader.reload())
            } else {
                logger.notice("SIGHUP: there is nothing to read again")
                ServiceManager.ready("SIGHUP: there was nothing to read again.")
            }
        }
        // The group ends with the first task that returns.
        try? await gracefulShutdown()
    }
}
