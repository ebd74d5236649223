internal import NIOCore
internal import NIOHTTP1

/// Decides when a connection ends: behind the last request, if the rest of a request does not come that was answered before it, if nobody
/// takes what is answered, and when a reader has left to whom answers are told for as long as they stay.
///
/// A request is the last one if its client said `Connection: close`, or speaks HTTP/1.0. Hummingbird ends a connection behind a request
/// whose header `Connection` is `close` in just these letters, so this is how the handler writes it, and the answer gets it too. The
/// keep-alive of HTTP/1.0 is not offered: no answer of unknown length could end there.
///
/// Who is answered before all of the request has come may send the rest, which Hummingbird passes over. It has the time that a body has.
final class ConnectionEndHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let patience: TimeAmount
    private let mostBytesBehindAnswer: Int
    /// Requests whose answer has not begun.
    private var unanswered = 0
    /// Whether a request has begun and not ended.
    private var isInRequest = false
    /// The version of the last request, once it is there.
    private var last: HTTPVersion?
    private var isLastRead = false
    /// Ends the connection if the rest of an answered request takes too long.
    private var deadline: Scheduled<Void>?
    /// How much of it has come.
    private var bytesBehindAnswer = 0
    /// Ends the connection if its client goes on taking nothing of what was written.
    private var readDeadline: Scheduled<Void>?
    /// Whether the client has said that it sends nothing more.
    private(set) var isInputClosed = false
    private var endsWithInput = false

    /// Gives what comes behind its own answer `patience` to arrive, and so many bytes; and a client as long to take what waits for it.
    init(patience: TimeAmount, mostBytesBehindAnswer: Int) {
        self.patience = patience
        self.mostBytesBehindAnswer = mostBytesBehindAnswer
    }

    /// Has the connection end when its client sends nothing more, also if that is so already.
    func endWithInput(of channel: any Channel) {
        endsWithInput = true
        if isInputClosed { channel.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // What is sent behind the last request is for nobody.
        if isLastRead { return }
        switch unwrapInboundIn(data) {
        case .head(var head):
            if head.version == .http1_1, head.headers["Host"].count != 1 {
                // Answered as what is no HTTP (RFC 9112, 3.2).
                isLastRead = true
                return context.fireErrorCaught(HTTPParserError.invalidHost)
            }
            unanswered += 1
            isInRequest = true
            if !head.isKeepAlive || head.version == .http1_0 {
                last = head.version
                head.headers.replaceOrAdd(name: "Connection", value: "close")
                return context.fireChannelRead(wrapInboundOut(.head(head)))
            }
        case .body(let part):
            guard deadline != nil else { break }
            bytesBehindAnswer += part.readableBytes
            if bytesBehindAnswer > mostBytesBehindAnswer { return context.close(promise: nil) }
        case .end:
            isInRequest = false
            isLastRead = last != nil
            forgetDeadline()
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        guard head.status.code >= 200 else {
            // HTTP/1.0 knows no answer before the answer.
            if last == .http1_0 { promise?.succeed() } else { context.write(data, promise: promise) }
            return
        }
        unanswered -= 1
        if unanswered == 0, isInRequest { awaitRest(of: context.channel) }
        guard let last, unanswered == 0 else { return context.write(data, promise: promise) }
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        // Else an answer of unknown length would come in chunks, which HTTP/1.0 does not know.
        if last == .http1_0 { head.version = .http1_0 }
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed {
            isInputClosed = true
            if endsWithInput { return context.close(promise: nil) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        readDeadline?.cancel()
        let channel = context.channel
        readDeadline =
            channel.isWritable ? nil : channel.eventLoop.scheduleTask(in: patience) { channel.close(promise: nil) }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        forgetDeadline()
        readDeadline?.cancel()
        context.fireChannelInactive()
    }

    private func awaitRest(of channel: any Channel) {
        deadline = channel.eventLoop.scheduleTask(in: patience) { channel.close(promise: nil) }
    }

    private func forgetDeadline() {
        deadline?.cancel()
        deadline = nil
        bytesBehindAnswer = 0
    }
}
