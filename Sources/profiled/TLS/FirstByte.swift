internal import Logging
internal import NIOCore
internal import ProfileLogRequests
internal import Synchronization

/// Looks at the first byte of a connection, and then leaves. Who speaks TLS to a plain port, or HTTP to one of TLS, is
/// told so once in the language that they speak: else they would see no more than a closed connection.
final class FirstByte: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let speaksTLS: Bool
    private let wrongProtocols: WrongProtocols
    private var isRefused = false

    init(speaksTLS: Bool, _ wrongProtocols: WrongProtocols) {
        (self.speaksTLS, self.wrongProtocols) = (speaksTLS, wrongProtocols)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isRefused { return }
        guard let first = unwrapInboundIn(data).readableBytesView.first else { return context.fireChannelRead(data) }
        if speaksTLS, Self.isLetter(first) { return refuse(context, Self.plainAnswer) }
        if !speaksTLS, first == Self.handshakeRecord { return refuse(context, Self.alert) }
        context.fireChannelRead(data)
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    private func refuse(_ context: ChannelHandlerContext, _ answer: [UInt8]) {
        isRefused = true
        wrongProtocols.note(speaksTLS: speaksTLS)
        let channel = context.channel
        // Past the handlers of TLS and HTTP, which are after this one. To close at once could reset the connection
        // before the client reads the answer.
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: answer)), promise: nil)
        context.close(mode: .output, promise: nil)
        channel.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(promise: nil) }
    }

    /// A method of HTTP begins with one, and no record of TLS.
    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & ~0x20)
    }

    /// The first byte of a client that speaks TLS (RFC 8446, 5.1).
    private static let handshakeRecord: UInt8 = 0x16

    /// A record of TLS: a fatal alert, `protocol_version` (70).
    private static let alert: [UInt8] = [0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 70]

    private static let plainAnswer: [UInt8] = {
        let answer = APIError(
            status: 400, code: "https_only", error: "This port speaks HTTPS, and the request came without TLS.",
            remedy: "Ask with https:// instead of http://."
        ).answer
        let head =
            "HTTP/1.1 400 Bad Request\r\nContent-Type: \(answer.mediaType)\r\nContent-Length: \(answer.body.count)\r\n"
            + "Connection: close\r\n\r\n"
        return Array(head.utf8) + answer.body
    }()
}

/// Logs that clients speak the wrong protocol: at once, and then at most once a minute, with how many there were.
final class WrongProtocols: Sendable {
    private struct State {
        var next = NIODeadline.uptimeNanoseconds(0)
        var count = 0
    }

    private let logger: Logger
    private let state = Mutex(State())

    init(_ logger: Logger) { self.logger = logger }

    func note(speaksTLS: Bool) {
        let now = NIODeadline.now()
        let count = state.withLock { state -> Int? in
            state.count += 1
            guard now >= state.next else { return nil }
            defer { (state.next, state.count) = (now + .minutes(1), 0) }
            return state.count
        }
        guard let count else { return }
        let message: Logger.Message =
            speaksTLS
            ? "a client spoke HTTP without TLS to this port of HTTPS: its URL must begin with https://"
            : "a client spoke TLS to this port of plain HTTP: its URL must begin with http://"
        logger.notice(message, metadata: ["connections": .stringConvertible(count)])
    }
}
