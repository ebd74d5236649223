internal import ArgumentParser
internal import Foundation
internal import Logging
internal import ProfileLog
internal import ProfileLogRequests

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Serve a made-up store to look at in a browser.",
        discussion: """
            The store holds a story of eight days: Ana, whose phone still holds something, bo, who was not shown a \
            message, and 50 simulated devices. It is temporary: Ctrl-C ends the demo and removes it. No key is \
            needed, and only this machine can reach it.

            EXAMPLES
              profiled demo
              profiled demo --port 9000
            """)

    private static let usualPort = 8080

    @Option(help: "The TCP port; 0 takes any that is free. (default: 8080, or a free one if that is in use)")
    var port: Int?

    @Option(help: ArgumentHelp("A file to write the port into when the service is ready.", valueName: "file"))
    var portFile: String?

    @Option(
        help: ArgumentHelp(
            "Serve the console from this folder, for work on its files, instead of those in the program.",
            valueName: "folder"))
    var console: String?

    @Option(help: "trace, debug, info (each request), notice, warning, error or critical.") var logLevel = "warning"

    func validate() throws {
        do { _ = try options(port: port ?? 0) } catch { throw ValidationError(ServiceOptions.message(for: error)) }
    }

    func run() async throws {
        let isMoved = port == nil && !Self.isFree(Self.usualPort)
        let options = try settings(port: port ?? (isMoved ? 0 : Self.usualPort))
        try await options.run { logger in
            let maxConnections = try options.reserveConnections(logger)
            // First, so that an old file is not read as this service's port.
            let portFile = try options.portFile.map { try PortFile(path: $0) }
            defer { portFile?.remove() }
            try ConsoleFiles(folder: options.console).check()
            let metrics = Metrics()
            let server = Server(
                options: options, keys: KeyRing(nil, isClosed: false), metrics: metrics,
                maxConnections: maxConnections, logger: logger,
                welcome: { url in Self.welcome(url, isMoved: isMoved) })
            let stores = try EphemeralStores(
                fixtures: nil, workspace: DemoStory.workspace(), metrics: metrics,
                in: ScratchFolder.inMemory(prefix: "profiled-demo-"))
            defer { stores.remove() }
            let store = try stores.start()
            do { try await DemoStory(endingAt: .now()).play(on: store.api) } catch {
                await store.close()
                throw error
            }
            try await server.run(store, portFile: portFile)
        }
    }

    /// The settings of a service for tests, which reads no configuration.
    private func settings(port: Int) throws -> ServiceSettings {
        let source = ConfigurationSource(Setting.Flags(service: try options(port: port)), environment: [:])
        return try source.read().settings
    }

    private func options(port: Int) throws -> ServiceOptions {
        var words = ["--ephemeral", "--port=\(port)", "--log-level=\(logLevel)"]
        if let portFile { words.append("--port-file=\(portFile)") }
        if let console { words.append("--console=\(console)") }
        return try ServiceOptions.parse(words)
    }

    /// Lines for standard output when the service at `url` is ready.
    private static func welcome(_ url: String, isMoved: Bool) -> [String] {
        (isMoved ? ["Port \(usualPort) is in use, so the demo took another one."] : []) + [
            "Open \(url)console/ and ask:",
            "  ana  Her phone had made her level 7: why is it 2, and what would it be without the event that came late?",
            "       What did the phone hold before launch 1, and what does it hold now?",
            "  bo   Why was the message spring not shown to him, and who else did not see it?",
            "Everything is made up. Ctrl-C ends the demo and removes its store.",
        ]
    }

    /// Tells whether a service of this machine could listen on `port`.
    private static func isFree(_ port: Int) -> Bool {
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        let descriptor = socket(AF_INET, kind, 0)
        // The server says better what is wrong.
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        // As the server: connections that have ended do not count.
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        return withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
