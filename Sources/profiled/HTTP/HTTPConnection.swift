internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import ProfileLogAPI

/// A connection as Hummingbird serves it, with a ``RequestDecoder`` in place of NIO's and a ``ConnectionEndHandler`` in its pipeline, and on the
/// event loop of its channel.
struct HTTPConnection: ServerChildChannel {
    let http1: HTTP1Channel
    /// How long the rest of a request may take that was answered before it had come.
    let patience: Duration

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        http1.setup(channel: channel, logger: logger).flatMap { value in
            let pipeline = channel.pipeline.syncOperations
            do {
                let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
                let end = ConnectionEndHandler(
                    patience: TimeAmount(patience), mostBytesBehindAnswer: 2 * API.maxBodyBytes)
                // Behind the decoder and not at the end, where Hummingbird's own handlers go: there no request knows its version any more.
                try pipeline.addHandlers(RequestDecoder.handlers(limits) + [end], position: .after(decoder))
                return pipeline.removeHandler(decoder).map { value }
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
