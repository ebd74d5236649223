internal import Foundation
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import ProfileLog
internal import ProfileLogAPI
internal import ServiceLifecycle
internal import UnixSignals

/// The service group: the HTTP server, and behind it the writer, which ends last.
struct Server {
    let host: String
    let port: Int
    let logger: Logger

    /// Connections that are open at once; further ones wait in the system's queue.
    private static let mostConnections = 512
    /// Requests that take longer than this after the signal are cut off.
    private static let patience = Duration.seconds(10)

    /// Serves `log` until a signal comes, and returns when everything that was accepted is on the disk.
    func run(_ log: EventLog, portFile: PortFile?) async throws {
        let writer = LogWriter(log)
        // What Hummingbird and the service group say about an error, `StartFailure` says better.
        var quiet = logger
        if logger.logLevel > .debug { quiet.logLevel = .critical }
        let (failures, failed) = AsyncStream<StartFailure>.makeStream()
        let requests = RequestAdaptor(api: API(writer: writer), storePath: log.path, logger: logger)
        let application = Application(
            responder: CallbackResponder<BasicRequestContext> { request, _ in await requests.respond(to: request) },
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port), serverName: "profiled",
                availableConnectionsDelegate: .maximum(Self.mostConnections, logger: quiet)),
            onServerRunning: { channel in
                do throws(StartFailure) { try announce(channel, log, portFile) } catch { failed.yield(error) }
            },
            logger: quiet)
        var configuration = ServiceGroupConfiguration(
            services: [WriterService(writer: writer), StartCheck(failures: failures), application],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet)
        configuration.maximumGracefulShutdownDuration = Self.patience
        do {
            try await ServiceGroup(configuration: configuration).run()
        } catch {
            await writer.close()
            throw error
        }
        // Also when a request was cut off: nothing that was accepted stays behind.
        await writer.close()
        logger.notice("stopped", metadata: ["last_position": "\((try? log.lastPosition().rawValue) ?? 0)"])
    }

    /// Tells the world, once the port is open.
    private func announce(_ channel: any Channel, _ log: EventLog, _ portFile: PortFile?) throws(StartFailure) {
        let port = channel.localAddress?.port ?? port
        try portFile?.write(port)
        let address = host.contains(":") ? "[\(host)]" : host
        let line = "profiled: http://\(address):\(port)/ serves the store \(log.path)\n"
        try? FileHandle.standardOutput.write(contentsOf: Data(line.utf8))
        if !["127.0.0.1", "::1", "localhost"].contains(host) {
            logger.warning("anyone who can reach this port can read and write the store", metadata: ["host": "\(host)"])
        }
    }
}

/// Ends the writer after the server: services end in the reverse order of their start.
private struct WriterService: Service {
    let writer: LogWriter

    func run() async throws {
        try? await gracefulShutdown()
        await writer.close()
    }
}

/// Fails, and so ends the group, if the announcement failed.
private struct StartCheck: Service {
    let failures: AsyncStream<StartFailure>

    func run() async throws {
        for await failure in failures.cancelOnGracefulShutdown() { throw failure }
    }
}
