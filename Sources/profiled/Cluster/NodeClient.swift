internal import AsyncHTTPClient
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL
internal import ProfileLogRequests
internal import Synchronization

/// The connections to the other nodes of a cluster, by HTTP or HTTPS. They are kept open for the next request.
final class NodeClient: NodeConnections {
    /// Less than the time after which a node closes idle connections (`--idle-timeout`): a request must not meet that.
    private static let idleTime = TimeAmount.seconds(5)
    /// The most connections to one node.
    static let mostConnections = 256
    /// The longest wait for an answer of a node that sends notes: its own write waits 10 s for the brokers.
    private static let patience = TimeAmount.seconds(30)
    /// The most bytes of an answer to a write.
    private static let mostBytes = 64 << 20

    private let client: HTTPClient
    private let logger: Logger

    /// As ``tls(authorities:showing:)``.
    init(authorities: String?, showing own: TLSCertificates?, logger: Logger) throws(StartError) {
        var configuration = HTTPClient.Configuration()
        configuration.tlsConfiguration = try Self.tls(authorities: authorities, showing: own)
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = .seconds(1)
        configuration.timeout.read = Self.patience
        configuration.connectionPool.idleTimeout = Self.idleTime
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = Self.mostConnections
        // A node that refuses connections has ended: the write is done here at once.
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(configuration: configuration)
        self.logger = logger
    }

    /// The TLS of a node that asks another one. It trusts the certificates that those in `authorities` have signed, a file
    /// in PEM; without one, those that the system trusts. A service that asks for a certificate is shown the one of `own`
    /// that is served at that moment.
    static func tls(authorities: String?, showing own: TLSCertificates?) throws(StartError) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        if let authorities { tls.trustRoots = .certificates(try certificates(in: authorities)) }
        if let own { tls.sslContextCallback = { _, promise in promise.succeed(own.shown) } }
        return tls
    }

    /// The certificates of a file in PEM.
    static func certificates(in file: String) throws(StartError) -> [NIOSSLCertificate] {
        do { return try NIOSSLCertificate.fromPEMFile(file) } catch {
            throw StartError(
                unreadable: "The file of the nodes' authorities", file,
                remedy: "Name a PEM file with --node-ca: it begins with -----BEGIN CERTIFICATE-----.")
        }
    }

    deinit {
        // It must be closed, also if the service never ran.
        client.shutdown { _ in }
    }

    func close() async { try? await client.shutdown() }

    func send(_ write: ForwardedWrite, to node: WritingNode) async -> NodeAnswer {
        let root = node.url.hasSuffix("/") ? String(node.url.dropLast()) : node.url
        var request = HTTPClientRequest(url: root + write.target)
        request.method = .POST
        for header in write.headers { request.headers.add(name: header.name, value: header.value) }
        let body = WatchedBody(write.body)
        // Without bytes it is sent in chunks, so that its end too follows the look at the body.
        request.body = .stream(body, length: write.body.isEmpty ? .unknown : .known(Int64(write.body.count)))
        do {
            let response = try await client.execute(request, deadline: .now() + Self.patience)
            let bytes = try await response.body.collect(upTo: Self.mostBytes)
            let headers = response.headers.map { (name: $0.name, value: $0.value) }
            return .answered(
                NodeReply(
                    status: Int(response.status.code), headers: headers, body: Array(bytes.readableBytesView)))
        } catch {
            let wasSent = body.wasTaken
            // Names no path, which may hold a user.
            logger.debug(
                "a write got no answer of another node",
                metadata: ["node": "\(node.name)", "sent": "\(wasSent)", "error": "\(type(of: error))"])
            return wasSent ? .noAnswer : .notSent
        }
    }
}

/// The body of a request in one piece, and whether the client library has asked for it.
///
/// The library asks when a connection has been made and the head is on it. A node reads a whole body before it does
/// anything, so until then it has stored nothing, whatever the error is.
private struct WatchedBody: AsyncSequence, Sendable {
    private let bytes: ByteBuffer
    private let watch = Watch()

    private final class Watch: Sendable {
        let wasTaken = Atomic<Bool>(false)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var rest: ByteBuffer?
        fileprivate let take: @Sendable () -> Void

        mutating func next() async -> ByteBuffer? {
            take()
            defer { rest = nil }
            return rest
        }
    }

    init(_ body: [UInt8]) { bytes = ByteBuffer(bytes: body) }

    var wasTaken: Bool { watch.wasTaken.load(ordering: .acquiring) }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(rest: bytes.readableBytes > 0 ? bytes : nil) { [watch] in
            watch.wasTaken.store(true, ordering: .releasing)
        }
    }
}
