internal import Foundation
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import ProfileLog
internal import ProfileLogRequests
internal import ServiceLifecycle
internal import UnixSignals

/// The HTTP server, and the end of the store after it.
struct Server {
    let options: ServiceOptions
    let keys: KeyRing
    let metrics: Metrics
    /// What makes the service degraded; parts of it register what they know.
    var health = HealthReasons()
    let maxConnections: Int
    let logger: Logger
    /// The lines that standard output gets when the service is ready, by its URL; nil for the usual one.
    var welcome: (@Sendable (_ url: String) -> [String])?

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
        health.register(.audit) { _ in
            HealthReason.audit(differences: store.api.store.auditor.report.differences.count)
        }
        let requests = RequestAdaptor(
            store, connections, keys: keys, metrics: metrics, health: health, options: options, logger: logger)
        let http1 = HTTP1Channel.Configuration(idleTimeout: .seconds(Int64(options.idleTimeoutSeconds)))
        let application = Application(
            responder: CallbackResponder<ConnectionContext> { request, connection in
                try await requests.respond(to: request, connection)
            },
            server: HTTPServerBuilder { responder in
                HTTPConnection(
                    http1: HTTP1Channel(responder: responder, configuration: http1), connections: connections,
                    patience: .seconds(options.bodyTimeoutSeconds))
            },
            configuration: ApplicationConfiguration(
                address: .hostname(options.host, port: options.port), serverName: "profiled",
                availableConnectionsDelegate: connections),
            onServerRunning: { channel in
                do throws(StartError) { try announce(channel, store.api.log, portFile) } catch { failed.yield(error) }
            },
            logger: quiet)
        var configuration = ServiceGroupConfiguration(
            services: [
                StartCheck(failures: failures), ScheduledSends(store: store, logger: logger),
                AuditTask(store: store, logger: logger), RebuildTask(store: store, logger: logger),
                HangUp(logger: logger), application,
            ],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet)
        configuration.maximumGracefulShutdownDuration = Self.patience
        let end: Result<Void, any Error>
        do { end = .success(try await ServiceGroup(configuration: configuration).run()) } catch {
            end = .failure(error)
        }
        // After the server, also when a request was cut off: what was accepted is stored.
        await store.close()
        try end.get()
        let position = store.lastPosition.map { ["last_position": Logger.MetadataValue.stringConvertible($0)] }
        logger.notice("stopped", metadata: position)
    }

    private func announce(_ channel: any Channel, _ log: EventLog, _ portFile: PortFile?) throws(StartError) {
        let port = channel.localAddress?.port ?? options.port
        try portFile?.write(port)
        let address = options.host.contains(":") ? "[\(options.host)]" : options.host
        let url = "http://\(address):\(port)/"
        for line in welcome?(url) ?? ["profiled: \(url) serves the store \(log.path)"] { try? Console.print(line) }
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

/// Fails, and so ends the group, if the announcement failed.
private struct StartCheck: Service {
    let failures: AsyncStream<StartError>

    func run() async throws { for await failure in failures.cancelOnGracefulShutdown() { throw failure } }
}

/// SIGHUP, as of a terminal that closes or of a rotation of logs, is not the end of the service.
private struct HangUp: Service {
    let logger: Logger

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            logger.notice("SIGHUP: nothing to read again: a change of keys.json holds at once, other files at a start")
        }
        // The group ends with the first task that returns.
        try? await gracefulShutdown()
    }
}
