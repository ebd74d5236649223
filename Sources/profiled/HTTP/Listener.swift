internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import ServiceLifecycle

/// Serves the requests that come to several places, until one of these fails. All of them stop at once.
struct Listeners: Service {
    let all: [Listener]

    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for listener in all { group.addTask { try await listener.run() } }
        }
    }
}

/// Serves the requests that come to one place.
struct Listener: Sendable {
    /// A place to listen on.
    enum Place: Sendable {
        case port(host: String, port: Int)
        case socket(path: String)
        /// A port for operators.
        case admin(host: String, port: Int)

        var isPort: Bool { if case .port = self { true } else { false } }
        var isAdmin: Bool { if case .admin = self { true } else { false } }
    }

    let place: Place
    let requests: RequestAdaptor
    let connections: Connections
    /// The certificates; nil for a place without TLS.
    let certificates: TLSCertificates?
    let live: LiveSettings
    let wrongProtocols: WrongProtocols
    /// Called with the server's channel when the place takes connections.
    let isReady: @Sendable (any Channel) -> Void
    let logger: Logger

    func run() async throws {
        switch place {
        case .port(let host, let port):
            do { try await serve(.hostname(host, port: port)) } catch let error where Self.isOfPlace(error) {
                throw StartError(error, host: host, port: port)
            }
        case .admin(let host, let port):
            do { try await serve(.hostname(host, port: port)) } catch let error where Self.isOfPlace(error) {
                throw StartError(error, host: host, port: port, flags: "admin-")
            }
        case .socket(let path):
            let socket = try UnixSocket(path: path)
            defer { socket.remove() }
            do {
                try await serve(.unixDomainSocket(path: socket.firstPath), socket)
            } catch let error where Self.isOfPlace(error) {
                throw UnixSocket.failure(path, (error as? IOError)?.errnoCode)
            }
        }
    }

    /// Tells whether the place is at fault.
    private static func isOfPlace(_ error: any Error) -> Bool {
        error is IOError || error is SocketAddressError || error is SocketAddressError.UnknownHost
    }

    private func serve(_ address: BindAddress, _ socket: UnixSocket? = nil) async throws {
        let (published, publishing) = AsyncStream<StartError>.makeStream()
        let application = Application(
            responder: CallbackResponder<ConnectionContext> { [requests, isAdmin = place.isAdmin] request, connection in
                try await requests.respond(to: request, connection, isAdmin: isAdmin)
            },
            server: HTTPServerBuilder { [connections, certificates, live, wrongProtocols] responder in
                PortConnection(
                    http: HTTPConnection(
                        responder: responder, connections: connections, live: live, speaksTLS: certificates != nil),
                    certificates: certificates, wrongProtocols: wrongProtocols)
            },
            configuration: ApplicationConfiguration(
                address: address, serverName: "profiled", availableConnectionsDelegate: connections),
            services: [Publication(failures: published)],
            onServerRunning: { [isReady] channel in
                do throws(StartError) {
                    try socket?.publish()
                    isReady(channel)
                } catch {
                    publishing.yield(error)
                }
            },
            logger: logger)
        try await application.run()
    }
}

/// Fails, and so ends the application, if its socket got no name.
private struct Publication: Service {
    let failures: AsyncStream<StartError>

    func run() async throws { for await failure in failures.cancelOnGracefulShutdown() { throw failure } }
}
