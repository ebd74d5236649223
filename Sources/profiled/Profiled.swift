internal import ArgumentParser
internal import Foundation
internal import Logging
internal import ProfileLog

/// The service: the native JSON API of one store, over HTTP.
@main
struct Profiled: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profiled",
        abstract: "Serves a ProfileLog store over HTTP.",
        discussion: """
            Opens the store, which is made if there is none, and answers until SIGTERM or SIGINT: then it takes no new \
            requests, finishes those that it has, writes what waits and exits with 0.

            Messages and the log of requests go to standard error; standard output gets one line when it is ready. \
            Anyone who can reach the port can read and write the store.

            EXAMPLES
              profiled                            ./profilelog on port 8080
              profiled --store profiles --port 9000
              profiled --port 0 --port-file port  any free port, named in the file
              curl http://127.0.0.1:8080/         what is where
            """)

    @Option(help: "The folder of the store. (default: $PROFILELOG_STORE, or ./profilelog)")
    var store: String?

    @Option(help: "The TCP port; 0 takes any that is free.")
    var port = 8080

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: ArgumentHelp("A file to write the port into when the service is ready.", valueName: "file"))
    var portFile: String?

    @Option(help: "trace, debug, info (each request), notice, warning, error or critical.")
    var logLevel = "notice"

    private var level: Logger.Level? { Logger.Level(rawValue: logLevel) }

    /// `--store`, or the environment, or the default.
    private var storePath: String {
        if let store { return store }
        let inEnvironment = ProcessInfo.processInfo.environment["PROFILELOG_STORE"] ?? ""
        return inEnvironment.isEmpty ? "./profilelog" : inEnvironment
    }

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be from 0 to 65535.") }
        guard level != nil else {
            let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--log-level must be one of \(levels).")
        }
        if host.isEmpty { throw ValidationError("--host must not be empty.") }
        if store?.isEmpty == true { throw ValidationError("--store must not be empty.") }
    }

    func run() async throws {
        LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
        var logger = Logger(label: "profiled")
        logger.logLevel = level ?? .notice
        do {
            let log = try EventLog(path: storePath, create: true)
            let portFile = try portFile.map { try PortFile(path: $0) }
            defer { portFile?.remove() }
            try await Server(host: host, port: port, logger: logger).run(log, portFile: portFile)
        } catch {
            let failure = StartFailure(error, host: host, port: port)
            try? FileHandle.standardError.write(contentsOf: Data("\(failure)\n".utf8))
            throw ExitCode.failure
        }
    }
}
