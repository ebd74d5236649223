internal import NIOCore
internal import NIOHTTP1

/// Reads requests as NIO's decoder does, with two differences.
///
/// It goes on after a request for another protocol (`Upgrade: h2c`) or for a tunnel (`CONNECT`). NIO's decoder leaves
/// the rest of the connection to the other protocol. We speak none, so the wish is ignored (RFC 9110, 7.8) and a new
/// decoder reads what follows. Java's HttpClient sends such a wish with every request.
///
/// It bounds what is neither head nor body: NIO's decoder reads a chunk's size of endless zeros, an endless chunk
/// extension and endless trailers without a word.
final class RequestDecoder: ByteToMessageDecoder {
    typealias InboundOut = HTTPServerRequestPart

    private static let maxFramingBytes = 16 << 10

    private let limits: NIOHTTPDecoderLimitConfiguration
    private var decoder: HTTPRequestDecoder
    /// Whether NIO's decoder stops after the request that it reads. Set by ``ConnectionHandler``, as the decoder does
    /// not tell.
    var stopsAfterRequest = false
    /// Whether NIO's decoder has stopped.
    private var hasStopped = false
    /// Whether a request's head has been read and not its end. Set by ``ConnectionHandler``.
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
