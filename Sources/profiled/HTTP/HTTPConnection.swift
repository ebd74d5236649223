internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import ProfileLogRequests

/// A connection as Hummingbird serves it, with a ``RequestDecoder`` in place of NIO's and a ``ConnectionHandler`` in
/// its pipeline, and on the event loop of its channel.
struct HTTPConnection: ServerChildChannel {
    let http1: HTTP1Channel
    let connections: Connections
    /// How long a request may take to arrive.
    let patience: Duration

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        http1.setup(channel: channel, logger: logger).flatMap { value in
            let pipeline = channel.pipeline.syncOperations
            do {
                let nioDecoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
                let decoder = RequestDecoder(limits)
                let handler = ConnectionHandler(
                    connections, decoder, patience: TimeAmount(patience),
                    maxBytesAfterAnswer: 2 * APIRouter.maxBodyBytes)
                // Right after the decoder: at the end of the pipeline requests no longer have their version.
                try pipeline.addHandlers([ByteToMessageHandler(decoder), handler], position: .after(nioDecoder))
                return pipeline.removeHandler(nioDecoder).map { value }
            } catch {
                return channel.eventLoop.makeFailedFuture(error)
            }
        }
    }

    private var limits: NIOHTTPDecoderLimitConfiguration {
        let configured = http1.configuration.httpDecoder
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = configured.maxHeaderFieldSize
        limits.maxHeaderListSize = configured.maxHeaderListSize
        limits.maxHeaderFieldCount = configured.maxHeaderFieldCount
        return limits
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await withTaskExecutorPreference(LoopExecutor(value.channel.eventLoop)) {
            await http1.handle(value: value, logger: logger)
        }
    }
}
