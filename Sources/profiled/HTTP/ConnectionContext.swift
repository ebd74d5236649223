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

    /// Whether the connection is there.
    var isOpen: Bool { channel.isActive }

    /// The address of this service by which the client came, as a URL. Not what the client calls the service.
    var localURL: String {
        guard let address = channel.localAddress, let ip = address.ipAddress, let port = address.port else { return "" }
        return ip.contains(":") ? "http://[\(ip)]:\(port)" : "http://\(ip):\(port)"
    }

    /// From now on the connection ends when its client says that it sends nothing more: only this tells a reader who
    /// has left from one who is silent.
    func endWithInput() { channel.pipeline.fireUserInboundEventTriggered(ConnectionHandler.EndWithInput()) }

    /// Sends nothing more. The connection is gone when the client has seen that.
    func endOutput() async { try? await channel.close(mode: .output).get() }

    /// Tells a client that asks first (`Expect: 100-continue`, as curl does with a large body) that its body is wanted;
    /// else it would wait a second.
    func inviteBody() async {
        try? await channel.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .continue))).get()
    }
}
