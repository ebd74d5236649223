internal import NIOCore
internal import NIOHTTP1

/// Reads requests as NIO's decoder does, and goes on behind one that asks for another protocol (`Upgrade: h2c`), or for a tunnel (`CONNECT`).
///
/// NIO's decoder reads nothing more behind such a request: it leaves the connection to whoever speaks the other protocol. Nobody does here, so
/// the wish is passed over (RFC 9110, 7.8), and another decoder reads what follows. Java's HttpClient sends the wish with every request.
final class RequestDecoder: ByteToMessageDecoder {
    typealias InboundOut = HTTPServerRequestPart

    private let limits: NIOHTTPDecoderLimitConfiguration
    private var decoder: HTTPRequestDecoder
    /// Whether the decoder has read a request behind which it reads nothing.
    fileprivate var hasStopped = false

    init(_ limits: NIOHTTPDecoderLimitConfiguration) {
        self.limits = limits
        decoder = HTTPRequestDecoder(limitConfiguration: limits)
    }

    /// The handlers that turn bytes into requests, in their order.
    static func handlers(_ limits: NIOHTTPDecoderLimitConfiguration) -> [any ChannelHandler] {
        let decoder = RequestDecoder(limits)
        return [ByteToMessageHandler(decoder), StopWatch(decoder)]
    }

    func decoderAdded(context: ChannelHandlerContext) { decoder.decoderAdded(context: context) }

    func decoderRemoved(context: ChannelHandlerContext) { decoder.decoderRemoved(context: context) }

    func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        let state = try decoder.decode(context: context, buffer: &buffer)
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

/// Sees behind which requests NIO's decoder stops, for it tells nobody.
private final class StopWatch: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private let decoder: RequestDecoder
    private var isLast = false

    init(_ decoder: RequestDecoder) { self.decoder = decoder }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): isLast = head.method == .CONNECT || head.asksForUpgrade
        case .body: break
        case .end: decoder.hasStopped = isLast
        }
        context.fireChannelRead(data)
    }
}

extension HTTPRequestHead {
    /// Whether it names another protocol, and `Connection` says so: as NIO's parser sees it, which passes over tabs before a word and not
    /// behind it.
    fileprivate var asksForUpgrade: Bool {
        headers["Upgrade"].contains { !$0.isEmpty }
            && headers["Connection"].contains { value in
                value.split(separator: ",").contains { word in
                    let begun = word.drop { $0 == " " || $0 == "\t" }
                    return begun.prefix(upgrade.count).lowercased() == upgrade
                        && begun.dropFirst(upgrade.count).allSatisfy { $0 == " " }
                }
            }
    }
}

private let upgrade = "upgrade"
