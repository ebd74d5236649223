internal import ArgumentParser
internal import Foundation
internal import Logging
internal import ProfileLog
internal import ProfileLogAPI

/// `profiled serve`, which is also what `profiled` alone does.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve a store over HTTP until a signal comes.",
        discussion: """
            Opens the store, which is made if there is none, and answers until SIGTERM or SIGINT: then it takes no new \
            requests, finishes those that it has, writes what waits and exits with 0.

            Messages and the log of requests go to standard error; standard output gets one line when it is ready. \
            Without keys, anyone who can reach the port can read and write the store, so it listens on this machine alone.
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var options: ServiceOptions

    func validate() throws {
        if options.isEphemeral, store.store != nil {
            throw ValidationError("--ephemeral makes a store of its own, so --store has no meaning beside it.")
        }
    }

    func run() async throws {
        switch options.logFormat {
        case .text: LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
        case .json: LoggingSystem.bootstrap { JSONLogHandler(label: $0) }
        }
        var logger = Logger(label: "profiled")
        logger.logLevel = options.level
        do {
            try await serve(logger)
        } catch {
            let failure = StartFailure(error, host: options.host, port: options.port)
            try? FileHandle.standardError.write(contentsOf: Data("\(failure)\n".utf8))
            throw ExitCode.failure
        }
    }

    private func serve(_ logger: Logger) async throws {
        let fixtures = try options.fixtures.map { try Fixtures(path: $0) }
        let workspace = try options.workspace.map { try WorkspaceFile.read($0) } ?? Workspace()
        // A temporary store has no folder in which somebody could have put keys: those must be named.
        let keyFile = options.isEphemeral && store.keys == nil ? nil : store.keyFile
        guard try options.isLoopback || keyFile?.read()?.isEmpty == false else { throw withoutKeys }
        let keys = try KeyRing(keyFile, isClosed: !options.isLoopback)
        let metrics = ServiceMetrics()
        if options.isEphemeral {
            let stores = try EphemeralStores(fixtures: fixtures, workspace: workspace, metrics: metrics)
            defer { stores.remove() }
            try await serve(stores.start(), keys, metrics, logger)
        } else {
            var logOptions = LogOptions()
            logOptions.onCommit = { metrics.record($0) }
            let log = try EventLog(
                path: store.path, create: true, options: logOptions, projections: API.projections)
            try fixtures?.load(into: log)
            try await serve(LiveStore(LogWriter(log), workspace), keys, metrics, logger)
        }
    }

    private func serve(
        _ store: LiveStore, _ keys: KeyRing, _ metrics: ServiceMetrics, _ logger: Logger
    ) async throws {
        let portFile = try options.portFile.map { try PortFile(path: $0) }
        defer { portFile?.remove() }
        try await Server(options: options, keys: keys, metrics: metrics, logger: logger).run(store, portFile: portFile)
    }

    private var withoutKeys: StartFailure {
        StartFailure(
            "Others could reach \(options.host), and there are no keys.",
            remedy:
                "Make one with `profiled keys add --name NAME`, or listen on this machine alone with --host 127.0.0.1.")
    }
}
