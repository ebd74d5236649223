internal import Foundation
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import ProfileLog
internal import ProfileLogAPI
internal import ServiceLifecycle
internal import UnixSignals

/// The service group: the HTTP server, and behind it the writer, which ends last.
struct Server {
    let options: ServiceOptions
    let keys: KeyRing
    let metrics: ServiceMetrics
    let logger: Logger

    private var host: String { options.host }
    private var port: Int { options.port }

    /// Connections that are open at once; further ones wait in the system's queue.
    private static let mostConnections = 512
    /// Requests that take longer than this after the signal are cut off.
    private static let patience = Duration.seconds(10)

    /// Bytes of one header, and of all headers of a request; of more, the connection is closed with 400.
    private static let mostHeaderBytes = 16 << 10
    private static let mostHeadersBytes = 32 << 10
    private static let mostHeaders = 100

    /// Serves `store` until a signal comes, and returns when everything that was accepted is on the disk.
    func run(_ store: LiveStore, portFile: PortFile?) async throws {
        // What Hummingbird and the service group say about an error, `StartFailure` says better.
        let quiet =
            logger.logLevel > .debug
            ? Logger(label: "profiled", factory: { _ in SwiftLogNoOpLogHandler() }) : logger
        let (failures, failed) = AsyncStream<StartFailure>.makeStream()
        let requests = RequestAdaptor(store, keys: keys, metrics: metrics, options: options, logger: logger)
        let connections = HTTP1Channel.Configuration(
            idleTimeout: .seconds(Int64(options.idleTimeoutSeconds)),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: Self.mostHeaderBytes, maxHeaderListSize: Self.mostHeadersBytes,
                maxHeaderFieldCount: Self.mostHeaders))
        let application = Application(
            responder: CallbackResponder<ConnectionContext> { request, connection in
                try await requests.respond(to: request, connection)
            },
            server: HTTPServerBuilder { responder in
                HTTPConnection(
                    http1: HTTP1Channel(responder: responder, configuration: connections),
                    patience: .seconds(options.bodyTimeoutSeconds))
            },
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port), serverName: "profiled",
                availableConnectionsDelegate: .maximum(Self.mostConnections, logger: quiet)),
            onServerRunning: { channel in
                do throws(StartFailure) { try announce(channel, store.api.log, portFile) } catch { failed.yield(error) }
            },
            logger: quiet)
        var configuration = ServiceGroupConfiguration(
            services: [WriterService(store: store), StartCheck(failures: failures), application],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet)
        configuration.maximumGracefulShutdownDuration = Self.patience
        do {
            try await ServiceGroup(configuration: configuration).run()
        } catch {
            await store.close()
            throw error
        }
        // Also when a request was cut off: nothing that was accepted stays behind.
        await store.close()
        logger.notice("stopped", metadata: ["last_position": "\((try? store.api.log.lastPosition().rawValue) ?? 0)"])
    }

    /// Tells the world, once the port is open.
    private func announce(_ channel: any Channel, _ log: EventLog, _ portFile: PortFile?) throws(StartFailure) {
        let port = channel.localAddress?.port ?? port
        try portFile?.write(port)
        let address = host.contains(":") ? "[\(host)]" : host
        let line = "profiled: http://\(address):\(port)/ serves the store \(log.path)\n"
        try? FileHandle.standardOutput.write(contentsOf: Data(line.utf8))
        if !keys.isClosed {
            logger.notice("there are no keys: any bearer token, or none, is accepted; `profiled keys add` makes a key")
        }
    }
}

/// Ends the writer after the server: services end in the reverse order of their start.
private struct WriterService: Service {
    let store: LiveStore

    func run() async throws {
        try? await gracefulShutdown()
        await store.close()
    }
}

/// Fails, and so ends the group, if the announcement failed.
private struct StartCheck: Service {
    let failures: AsyncStream<StartFailure>

    func run() async throws {
        for await failure in failures.cancelOnGracefulShutdown() { throw failure }
    }
}
