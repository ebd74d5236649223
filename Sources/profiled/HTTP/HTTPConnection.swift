internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes

/// A connection as Hummingbird serves it, with a ``RequestDecoder`` in place of NIO's and a ``ConnectionHandler`` in
/// its pipeline, and on the event loop of its channel.
struct HTTPConnection: ServerChildChannel {
    let responder: HTTPChannelHandler.Responder
    let connections: Connections
    let live: LiveSettings
    let speaksTLS: Bool

    /// With the settings of this moment.
    private var http1: HTTP1Channel {
        let timeout = TimeAmount(live.current.idleTimeout.duration)
        return HTTP1Channel(responder: responder, configuration: HTTP1Channel.Configuration(idleTimeout: timeout))
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        http1.setup(channel: channel, logger: logger).flatMap { value in
            let pipeline = channel.pipeline.syncOperations
            do {
                let nioDecoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
                let decoder = RequestDecoder(Self.limits)
                let patience = TimeAmount(live.current.bodyTimeout.duration)
                let handler = ConnectionHandler(connections, decoder, patience: patience, speaksTLS: speaksTLS)
                // Right after the decoder: at the end of the pipeline requests no longer have their version.
                try pipeline.addHandlers([ByteToMessageHandler(decoder), handler], position: .after(nioDecoder))
                return pipeline.removeHandler(nioDecoder).map { value }
            } catch {
                return channel.eventLoop.makeFailedFuture(error)
            }
        }
    }

    /// The most bytes of headers: beyond it the answer is 400 and the connection ends.
    private static let limits: NIOHTTPDecoderLimitConfiguration = {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 16 << 10
        limits.maxHeaderListSize = 32 << 10
        limits.maxHeaderFieldCount = 100
        return limits
    }()

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await withTaskExecutorPreference(LoopExecutor(value.channel.eventLoop)) {
            await http1.handle(value: value, logger: logger)
        }
    }
}

/// Runs the tasks of a connection on its event loop, so that a short request changes thread only for its commit. Slow
/// or blocking work must go elsewhere (`withTaskExecutorPreference`): it would delay the loop's other connections.
final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

struct ConnectionContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    var isOpen: Bool { channel.isActive }

    /// The address of this service that the client connected to, as a URL. Not what the client calls the service.
    func localURL(scheme: String) -> String {
        guard let address = channel.localAddress, let ip = address.ipAddress, let port = address.port else { return "" }
        return ip.contains(":") ? "\(scheme)://[\(ip)]:\(port)" : "\(scheme)://\(ip):\(port)"
    }

    /// Lets the connection end from now on when its client closes its side: a reader of events has left.
    func endWithInput() { channel.pipeline.fireUserInboundEventTriggered(ConnectionHandler.EndWithInput()) }

    /// Sends nothing more. The connection is gone when the client has seen that.
    func endOutput() async { try? await channel.close(mode: .output).get() }

    /// Asks a client for its body that waits for that (`Expect: 100-continue`); curl would wait a second.
    func inviteBody() async {
        try? await channel.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .continue))).get()
    }
}

/// Reads requests as NIO's decoder does, with two differences.
///
/// It goes on after a request for another protocol (`Upgrade: h2c`, which Java's HttpClient sends with every request)
/// or for a tunnel (`CONNECT`): we ignore the wish (RFC 9110, 7.8), and a new decoder reads what NIO's would leave. It
/// bounds chunk sizes, chunk extensions and trailers, which NIO's decoder reads without end.
final class RequestDecoder: ByteToMessageDecoder {
    typealias InboundOut = HTTPServerRequestPart

    private static let maxFramingBytes = 16 << 10

    private let limits: NIOHTTPDecoderLimitConfiguration
    private var decoder: HTTPRequestDecoder
    /// Tells whether NIO's decoder stops after the request that it reads. Set by ``ConnectionHandler``.
    var stopsAfterRequest = false
    private var hasStopped = false
    /// Tells whether a request's head has been read and not its end. Set by ``ConnectionHandler``.
    var isInBody = false
    /// Set by ``ConnectionHandler`` when a piece of a body has been read.
    var hasReadBody = false
    /// Bytes of chunk sizes, extensions and trailers since the last piece of a body.
    private var framingBytes = 0

    init(_ limits: NIOHTTPDecoderLimitConfiguration) {
        self.limits = limits
        decoder = HTTPRequestDecoder(limitConfiguration: limits)
    }

    func requestEnded() {
        hasStopped = stopsAfterRequest
        isInBody = false
    }

    func decoderAdded(context: ChannelHandlerContext) { decoder.decoderAdded(context: context) }
    func decoderRemoved(context: ChannelHandlerContext) { decoder.decoderRemoved(context: context) }

    func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        let (wasInBody, bytesBefore) = (isInBody, buffer.readableBytes)
        hasReadBody = false
        let state = try decoder.decode(context: context, buffer: &buffer)
        framingBytes = wasInBody && isInBody && !hasReadBody ? framingBytes + bytesBefore - buffer.readableBytes : 0
        if framingBytes > Self.maxFramingBytes { throw HTTPParserError.invalidChunkSize }
        guard hasStopped else { return state }
        hasStopped = false
        decoder.decoderRemoved(context: context)
        decoder = HTTPRequestDecoder(limitConfiguration: limits)
        decoder.decoderAdded(context: context)
        return buffer.readableBytes > 0 ? .continue : .needMoreData
    }

    func decodeLast(
        context: ChannelHandlerContext, buffer: inout ByteBuffer, seenEOF: Bool
    ) throws -> DecodingState {
        while buffer.readableBytes > 0, try decode(context: context, buffer: &buffer) == .continue {}
        return try decoder.decodeLast(context: context, buffer: &buffer, seenEOF: seenEOF)
    }
}
