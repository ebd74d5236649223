internal import ArgumentParser
internal import Logging

/// Steps that the commands share that serve a store.
extension ServiceSettings {
    /// Runs `serve` with a logger as the settings ask for. A failure is printed, and ends the process with 1.
    func run(_ serve: (Logger) async throws -> Void) async throws {
        LoggingSystem.bootstrap { [isJSON = logFormat == .json] label -> any LogHandler in
            LeveledLogHandler(
                isJSON
                    ? JSONLogHandler(label: label) : PrintableLogHandler(StreamLogHandler.standardError(label: label)))
        }
        LeveledLogHandler.setLevel(level)
        let logger = Logger(label: "profiled")
        do {
            try await serve(logger)
        } catch {
            let failure = StartError(error, host: host, port: port)
            failure.report()
            ServiceManager.status(failure.sentence)
            throw failure.isUsage ? ExitCode.validationFailure : ExitCode.failure
        }
    }

    /// Makes room for the connections, and returns for how many there is.
    func reserveConnections(_ logger: Logger) throws(StartError) -> Int {
        let operators = adminPort == nil ? 0 : Server.adminConnections
        let reserved = max(1, try ProcessLimits.reserveFiles(forConnections: maxConnections + operators) - operators)
        if reserved < maxConnections {
            logger.notice(
                "RLIMIT_NOFILE allows fewer connections than --max-connections",
                metadata: ["connections": .stringConvertible(reserved)])
        }
        return reserved
    }
}

extension ServiceSettings {
    /// Says that keys can be read on their way. An https address of clients means that a proxy speaks TLS.
    func noteOpenNetwork(_ logger: Logger) {
        if adminPort != nil, !Self.isLoopback(adminHost) {
            logger.notice(
                "other machines can read the metrics without a key: --admin-host is not of this machine alone")
        }
        if isLoopback || tlsFiles != nil || baseURL?.isSecure == true { return }
        logger.notice(
            """
            other machines reach the service without TLS, so keys and profiles travel in the clear unless a proxy \
            speaks TLS; --tls-certificate and --tls-key turn it on, and an https --base-url says that a proxy does
            """)
    }
}
