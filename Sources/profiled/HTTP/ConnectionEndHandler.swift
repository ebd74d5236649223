internal import NIOCore
internal import NIOHTTP1

/// Makes a request the last one of its connection if its client expects that: it said `Connection: close`, or speaks HTTP/1.0.
///
/// Hummingbird ends a connection behind a request whose header `Connection` is `close` in just these letters, so this is how the handler
/// writes it, and the answer gets it too. The keep-alive of HTTP/1.0 is not offered: no answer of unknown length could end there.
final class LastRequestHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Requests whose answer has not begun.
    private var unanswered = 0
    /// The version of the last request, once it is there.
    private var last: HTTPVersion?
    private var isLastRead = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // What is sent behind the last request is for nobody.
        if isLastRead { return }
        switch unwrapInboundIn(data) {
        case .head(var head):
            unanswered += 1
            if !head.isKeepAlive || head.version == .http1_0 {
                last = head.version
                head.headers.replaceOrAdd(name: "Connection", value: "close")
                return context.fireChannelRead(wrapInboundOut(.head(head)))
            }
        case .body: break
        case .end: isLastRead = last != nil
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data), head.status.code >= 200 else {
            return context.write(data, promise: promise)
        }
        unanswered -= 1
        guard let last, unanswered == 0 else { return context.write(data, promise: promise) }
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        // Else an answer of unknown length would come in chunks, which HTTP/1.0 does not know.
        if last == .http1_0 { head.version = .http1_0 }
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
}
