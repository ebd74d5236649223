import ArgumentParser
import Foundation
import Hummingbird
import Logging
import ProfileLog

/// The cost of HTTP and the parser alone: a service that is set up as `profiled` is, reads and parses each body, and
/// stores nothing.
@main
struct Baseline: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "profilelog-baseline")

    @Option(help: "A file to write the port into when the service is ready.")
    var portFile: String

    private static let mostBodyBytes = 4 << 20
    private static let success = Array(#"{"message":"success"}"#.utf8)
    private static let failure = Array(#"{"message":"failure"}"#.utf8)

    func run() async throws {
        let logger = Logger(label: "baseline", factory: { _ in SwiftLogNoOpLogHandler() })
        let application = Application(
            responder: CallbackResponder<BasicRequestContext> { request, _ in
                var request = request
                let body = try await request.collectBody(upTo: Self.mostBodyBytes)
                let isJSON =
                    (try? Array(body.readableBytesView).withUnsafeBytes { try AttributeValue(json: $0) }) != nil
                return Response(
                    status: isJSON ? .created : .badRequest,
                    headers: [.contentType: "application/json", .cacheControl: "no-store"],
                    body: ResponseBody(byteBuffer: ByteBuffer(bytes: isJSON ? Self.success : Self.failure)))
            },
            server: .http1(configuration: .init(idleTimeout: .seconds(60))),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0), serverName: "baseline"),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? 0
                try? Data("\(port)\n".utf8).write(to: URL(fileURLWithPath: portFile), options: .atomic)
            },
            logger: logger)
        try await application.runService()
    }
}
