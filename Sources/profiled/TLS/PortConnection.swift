internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOSSL

/// A connection of a port that speaks either HTTP or, with certificates, HTTPS.
struct PortConnection: ServerChildChannel {
    let http: HTTPConnection
    let certificates: TLSCertificates?
    let wrongProtocols: WrongProtocols

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(FirstByte(speaksTLS: certificates != nil, wrongProtocols))
            // As Hummingbird's TLSChannel does it, whose certificate stays the same for ever.
            if let context = certificates?.context { try pipeline.addHandler(NIOSSLServerHandler(context: context)) }
        }.flatMap { http.setup(channel: channel, logger: logger) }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async { await http.handle(value: value, logger: logger) }
}
