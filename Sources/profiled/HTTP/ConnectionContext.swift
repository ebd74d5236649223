internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import NIOHTTPTypes

/// What a request knows of the connection that it came by.
struct ConnectionContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    private let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// Has whoever reads the request's body fail with `BodyTooSlow`. A response can still be written.
    func giveUpBody() { channel.pipeline.fireErrorCaught(BodyTooSlow()) }

    /// Whether the connection is there.
    var isOpen: Bool { channel.isActive }

    /// From now on the connection ends when its client says that it sends nothing more: nothing else tells a reader who has left from one
    /// who is silent.
    func endWithInput() {
        channel.eventLoop.execute { [channel] in
            let handler = try? channel.pipeline.syncOperations.handler(type: ConnectionEndHandler.self)
            handler?.endWithInput(of: channel)
        }
    }

    /// Sends nothing more. The connection is gone when the client has seen that.
    func endOutput() async { try? await channel.close(mode: .output).get() }

    /// Tells a client that asks first (`Expect: 100-continue`, as curl does with a large body) that its body is wanted; else it would
    /// wait a second.
    func inviteBody() async {
        try? await channel.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .continue))).get()
    }
}
