internal import ArgumentParser
internal import Foundation
internal import Logging
internal import ProfileLog
internal import ProfileLogBrazeAPI
internal import ProfileLogReplication

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve a store over HTTP until a signal comes.",
        discussion: """
            Opens the store, or makes one, and answers until SIGTERM or SIGINT. Then it takes no new requests, \
            finishes those that it has, writes what waits and exits with 0.

            Settings come from flags, the environment and a file: docs/configuration.md, and `profiled config show`. \
            SIGHUP reads the file again.

            Messages and the log of requests go to standard error; standard output gets one line when it is ready. \
            Without keys, anyone who can reach the port can read and write the store, so it listens on this machine \
            alone.
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var options: ServiceOptions

    func validate() throws {
        if options.isEphemeral, options.expectsStore {
            throw ValidationError("--ephemeral makes a store of its own, so --expect-store has no meaning with it.")
        }
        if options.isEphemeral, store.store != nil {
            throw ValidationError("--ephemeral makes a store of its own, so --store has no meaning with it.")
        }
        if options.isEphemeral, options.backupFolder != nil {
            throw ValidationError("--ephemeral removes its store at the end, so --backup has no meaning with it.")
        }
    }

    func run() async throws {
        let source = ConfigurationSource(Setting.Flags(store: store, service: options))
        let configuration: Configuration
        do throws(ConfigurationErrors) { configuration = try source.read() } catch {
            let failure = StartError(error, host: "", port: 0)
            failure.report()
            ServiceManager.status(failure.sentence)
            throw ExitCode.failure
        }
        try await configuration.settings.run { logger in
            if let file = configuration.file {
                logger.info("the configuration was read", metadata: ["file": "\(file)"])
            }
            for note in configuration.notes { logger.warning("\(note)") }
            try await serve(configuration, from: source, logger)
        }
    }

    private func serve(
        _ configuration: Configuration, from source: ConfigurationSource, _ logger: Logger
    ) async throws {
        let (options, store) = (configuration.settings, configuration.settings.place)
        try options.refuseBackupOfEphemeral()
        try options.refuseHalfCluster()
        try options.refuseHalfTLS()
        try options.refuseHalfPlace()
        let maxConnections = try options.reserveConnections(logger)
        // First, so that an old file is not read as this service's port.
        let portFile = try options.portFile.map { try PortFile(path: $0) }
        defer { portFile?.remove() }
        try ConsoleFiles(folder: options.console).check()
        let certificates = try options.tlsFiles.map { try TLSCertificates($0, logger: logger) }
        // Keys may come with the copy.
        try await Joining.run(options, showing: certificates, logger: logger)
        let fixtures = try options.fixtures.map { try Fixtures(path: $0) }
        let workspace = try options.workspace.map { try Workspace(path: $0) } ?? Workspace()
        // A temporary store has no folder with keys: those must be named.
        let hasKeyFile = !options.isEphemeral || store.keys != nil
        let present = hasKeyFile ? try store.presentKeys() : nil
        try options.refuseOpenDoor(keys: present)
        let keys = KeyRing(hasKeyFile ? store.keyFile : nil, isClosed: !options.isLoopback || present != nil)
        let metrics = Metrics()
        var server = Server(
            options: options, configured: (source, configuration), keys: keys, metrics: metrics,
            maxConnections: maxConnections, certificates: certificates, logger: logger)
        server.backup = options.backupPlan
        if options.isEphemeral {
            let stores = try EphemeralStores(fixtures: fixtures, workspace: workspace, metrics: metrics)
            defer { stores.remove() }
            try await server.run(stores.start(), portFile: portFile)
        } else {
            var logOptions = LogOptions()
            logOptions.onCommit = { metrics.record($0) }
            if options.expectsStore { try options.refuseMissingStore() }
            let cluster = try joinCluster(options, logger)
            if let replica = cluster?.replica { logOptions.transport = replica }
            ServiceManager.status("Opening the store \(store.path).")
            let log = try ServiceManager.extendingStart {
                try EventLog(
                    path: store.path, create: !options.expectsStore, options: logOptions,
                    projections: RequestStore.projections, creation: cluster?.replica.creation)
            }
            try cluster?.start(log)
            try refuseLostKeys(of: log, options, areClosed: keys.isClosed, logger)
            log.preload()
            let writes: [StartWrites.Work] = [
                { [areClosed = keys.isClosed] log in if areClosed { try Self.noteKeys(in: log) } },
                { log in try fixtures?.load(into: log) }, { log in try workspace.declare(in: log) },
            ]
            if let cluster {
                server.cluster = cluster
                server.startWrites = writes
                server.forwarder = try WriteForwarder(
                    cluster.replica, authorities: options.nodeCA, showing: certificates, counts: metrics.forwarding,
                    logger: logger)
            } else {
                for write in writes { try write(log) }
            }
            for unseen in try log.reader.occurrences.unseenNames(of: workspace.traits) {
                // Without the guess, which a client named.
                logger.notice(
                    "a trait reads a name that this store has never seen",
                    metadata: [
                        "trait": .string(unseen.trait.text), unseen.what: .string(unseen.name.text),
                    ])
            }
            let copies = StoreCopies(keys: store.keyFile.path, workspace: options.workspace)
            try await server.run(
                LiveStore(LogWriter(log), workspace, cluster: cluster, copies: copies), portFile: portFile)
        }
    }
}

extension ServeCommand {
    /// Joins the cluster that the settings name; nil without one.
    private func joinCluster(_ options: ServiceSettings, _ logger: Logger) throws -> ClusterNode? {
        guard options.brokers != nil else { return nil }
        if options.brokerMonitors == nil {
            logger.warning(
                """
                without --broker-monitor it cannot be seen whether the brokers sync each message to the disk \
                (sync_interval: always); if they do not, a power cut may lose acknowledged writes
                """)
        }
        ServiceManager.status("Joining the cluster \(options.clusterName).")
        return try ClusterNode.open(options)
    }

    /// Notes in the store that it is served with keys.
    private static func noteKeys(in log: EventLog) throws {
        do { try log.noteKeys() } catch let error as AppendError where error.mayPass {
            throw error
        } catch {
            // A store that takes no writes can still be read.
        }
    }

    /// A copy of a store that was served with keys is, without keys, for this machine only.
    private func refuseLostKeys(
        of log: EventLog, _ options: ServiceSettings, areClosed: Bool, _ logger: Logger
    ) throws {
        guard !areClosed, try log.store.hadKeys() else { return }
        let fact = "requests for this store, or for the one that it is a copy of, needed keys; here it has none"
        let remedy = "Put the file keys.json of the other store into \(options.store), or make a key with "
        if options.baseURL != nil {
            throw StartError(
                "With --base-url other machines could reach the service, but \(fact).",
                remedy: remedy + "`profiled keys add --name NAME`.")
        }
        logger.warning("\(fact)", metadata: ["remedy": .string(remedy + "`profiled keys add`.")])
    }
}

extension Workspace {
    /// Reads the file that `--workspace` names; if it cannot be used, the start fails.
    init(path: String) throws(StartError) {
        guard let file = FileHandle(forReadingAtPath: path),
            let data = try? file.read(upToCount: Workspace.maxBytes + 1) ?? Data()
        else {
            throw StartError(
                unreadable: "The workspace file", path,
                remedy: "Check the path; docs/workspace.md describes the file.")
        }
        guard let yaml = String(data: data, encoding: .utf8) else {
            throw StartError("The workspace file \(path) is not UTF-8.", remedy: "Save it as UTF-8.")
        }
        do throws(YAMLFileError) {
            self = try Workspace(yaml: yaml)
        } catch {
            throw StartError("The workspace file \(path), \(error)", remedy: error.remedy)
        }
    }
}
