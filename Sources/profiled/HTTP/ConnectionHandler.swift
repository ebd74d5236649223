internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL
internal import NIOTLS
internal import ProfileLogRequests
internal import SwiftASN1
internal import X509

/// Decides when a connection ends, and tells ``Connections`` when it works.
///
/// A connection ends:
/// - after a request with `Connection: close` (which the handler writes as Hummingbird wants it), or of HTTP/1.0, where
///   an answer of unknown length can only end with its connection.
/// - when a request takes too long to arrive, before or after its answer, or too much arrives after its answer.
/// - when its client reads nothing of what was written.
/// - when its client says that it sends nothing more, if the answer is a stream of events or takes long.
/// - when it gives way to a new connection.
/// - when its TLS handshake takes longer than ``handshakePatience``.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Has the connection end when its client sends nothing more.
    struct EndWithInput {}

    private let connections: Connections
    private let decoder: RequestDecoder
    private let patience: TimeAmount
    private let speaksTLS: Bool
    private static let handshakePatience = TimeAmount.seconds(10)
    private static let maxBytesAfterAnswer = 2 * APIRouter.maxBodyBytes
    /// The number that `connections` gave.
    private var id: Int?
    private var unanswered = 0
    private var unfinished = 0
    private var isInRequest = false
    /// The time at which the request that is arriving is given up.
    private var requestDeadline: NIODeadline?
    /// Looks at `requestDeadline`; a task for each request would cost more than most requests.
    private var requestWatch: Scheduled<Void>?
    private var bytesAfterAnswer = 0
    /// The version of the last request, once that has begun.
    private var last: HTTPVersion?
    private var isLastRead = false
    /// Ends the connection if its client reads nothing of what was written.
    private var readDeadline: Scheduled<Void>?
    /// Tells whether the client has said that it sends nothing more.
    private var isInputClosed = false
    private var endsWithInput = false
    private var givesWay = false
    /// Ends the connection if its TLS handshake is not done then.
    private var handshakeDeadline: Scheduled<Void>?

    /// Gives a request `patience` to arrive, and a client as long to read what waits for it.
    init(_ connections: Connections, _ decoder: RequestDecoder, patience: TimeAmount, speaksTLS: Bool) {
        (self.connections, self.decoder, self.patience) = (connections, decoder, patience)
        self.speaksTLS = speaksTLS
    }

    /// Tells whether a whole request is not yet answered to its end.
    private var isWorking: Bool { unfinished > (isInRequest ? 1 : 0) }

    // MARK: - Begin and end

    func channelActive(context: ChannelHandlerContext) {
        id = connections.add(context.channel, isInHandshake: speaksTLS)
        if speaksTLS {
            let channel = context.channel
            handshakeDeadline = channel.eventLoop.scheduleTask(in: Self.handshakePatience) {
                channel.close(promise: nil)
            }
        }
        context.fireChannelActive()
        if id == nil { refuse(context) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let id { connections.remove(id) }
        requestWatch?.cancel()
        readDeadline?.cancel()
        handshakeDeadline?.cancel()
        context.fireChannelInactive()
    }

    /// Answers that the client's address has too many connections, before a request has come.
    private func refuse(_ context: ChannelHandlerContext) {
        isLastRead = true
        let answer = APIError.tooManyConnections.answer
        let headers: HTTPHeaders = [
            "Content-Type": answer.mediaType, "Content-Length": "\(answer.body.count)", "Connection": "close",
            "Retry-After": "1",
        ]
        let head = HTTPResponseHead(version: .http1_1, status: .serviceUnavailable, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
        let channel = context.channel
        // To close at once could reset the connection before the client reads the answer.
        let written = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        written.whenComplete { _ in channel.close(mode: .output, promise: nil) }
        readDeadline = channel.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(promise: nil) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is Connections.GiveWay:
            givesWay = true
            if !isWorking { closeAtOnce(context) }
        case TLSUserEvent.handshakeCompleted:
            handshakeDeadline?.cancel()
            if let id { connections.endHandshake(id, clientNames: Self.clientNames(context)) }
            context.fireUserInboundEventTriggered(event)
        case is EndWithInput:
            endsWithInput = true
            if isInputClosed { context.close(promise: nil) }
        case ChannelEvent.inputClosed:
            isInputClosed = true
            if endsWithInput { return context.close(promise: nil) }
            context.fireUserInboundEventTriggered(event)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    private static func clientNames(_ context: ChannelHandlerContext) -> [String] {
        guard let sent = try? context.pipeline.syncOperations.nioSSL_peerCertificate(),
            let certificate = try? Certificate(derEncoded: sent.toDERBytes())
        else { return [] }
        return ServedCertificate.clientNames(certificate)
    }

    /// Closes without a wait for the client's part of the end of TLS: the connection does not count any more, so its
    /// file must be free.
    private func closeAtOnce(_ context: ChannelHandlerContext) {
        let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
        // Says that this is the end.
        context.close(promise: nil)
        tls?.close(promise: nil)
    }

    // MARK: - Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Bytes after the last request are not read.
        if isLastRead { return }
        switch unwrapInboundIn(data) {
        case .head(var head):
            decoder.stopsAfterRequest = head.method == .CONNECT || head.asksForUpgrade
            if head.version == .http1_1, head.headers["Host"].count != 1 {
                // RFC 9112, 3.2: answered like any other bad HTTP.
                isLastRead = true
                return context.fireErrorCaught(HTTPParserError.invalidHeaderToken)
            }
            unanswered += 1
            unfinished += 1
            isInRequest = true
            decoder.isInBody = true
            if !head.isKeepAlive || head.version == .http1_0 {
                last = head.version
                head.headers.replaceOrAdd(name: "Connection", value: "close")
                return context.fireChannelRead(wrapInboundOut(.head(head)))
            }
        case .body(let part):
            decoder.hasReadBody = true
            guard unanswered == 0 else { break }
            bytesAfterAnswer += part.readableBytes
            if bytesAfterAnswer > Self.maxBytesAfterAnswer { return context.close(promise: nil) }
        case .end:
            decoder.requestEnded()
            isInRequest = false
            isLastRead = last != nil
            requestDeadline = nil
            bytesAfterAnswer = 0
            if let id, isWorking { connections.begin(id) }
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if isInRequest, requestDeadline == nil {
            requestDeadline = .now() + patience
            watch(context)
        }
        context.fireChannelReadComplete()
    }

    private func watch(_ context: ChannelHandlerContext) {
        guard requestWatch == nil, let deadline = requestDeadline else { return }
        requestWatch = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [self] in
            requestWatch = nil
            guard let deadline = requestDeadline else { return }
            if deadline > .now() { return watch(context) }
            // The body's reader fails; an answer can still be written.
            if unanswered > 0 { context.fireErrorCaught(BodyTooSlow()) } else { context.close(promise: nil) }
        }
    }

    // MARK: - Answers

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            guard head.status.code >= 200 else {
                // HTTP/1.0 has no answer before the answer.
                if last == .http1_0 { promise?.succeed() } else { context.write(data, promise: promise) }
                return
            }
            unanswered -= 1
            guard let last, unanswered == 0 else { break }
            head.headers.replaceOrAdd(name: "Connection", value: "close")
            // Else an answer of unknown length would come in chunks, which HTTP/1.0 does not have.
            if last == .http1_0 { head.version = .http1_0 }
            return context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: break
        case .end:
            unfinished -= 1
            endsWithInput = false
            if !isWorking, let id, connections.finish(id) { givesWay = true }
            guard givesWay, !isWorking else { break }
            isLastRead = true
            let written = promise ?? context.eventLoop.makePromise()
            let channel = context.channel
            let deadline = channel.eventLoop.scheduleTask(in: patience) { channel.close(promise: nil) }
            written.futureResult.whenComplete { _ in
                deadline.cancel()
                channel.close(promise: nil)
            }
            return context.writeAndFlush(data, promise: written)
        }
        context.write(data, promise: promise)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        readDeadline?.cancel()
        let channel = context.channel
        readDeadline =
            channel.isWritable ? nil : channel.eventLoop.scheduleTask(in: patience) { channel.close(promise: nil) }
        context.fireChannelWritabilityChanged()
    }
}

struct BodyTooSlow: Error {}

extension HTTPRequestHead {
    /// Tells whether it asks for another protocol, as NIO's parser reads it: with tabs before a word, and none after
    /// it.
    fileprivate var asksForUpgrade: Bool {
        headers["Upgrade"].contains { !$0.isEmpty }
            && headers["Connection"].flatMap { $0.lowercased().split(separator: ",") }.contains { word in
                let word = word.drop { $0 == " " || $0 == "\t" }
                return word.hasPrefix("upgrade") && word.dropFirst("upgrade".count).allSatisfy { $0 == " " }
            }
    }
}
