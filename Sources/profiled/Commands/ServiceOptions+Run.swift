internal import ArgumentParser
internal import Foundation
internal import Logging

/// Steps that the commands share that serve a store.
extension ServiceOptions {
    /// Runs `serve` with a logger as the options ask for. A failure is printed, and ends the process with 1.
    func run(_ serve: (Logger) async throws -> Void) async throws {
        LoggingSystem.bootstrap { [isJSON = logFormat == .json] label -> any LogHandler in
            isJSON
                ? JSONLogHandler(label: label) : PrintableLogHandler(StreamLogHandler.standardError(label: label))
        }
        var logger = Logger(label: "profiled")
        logger.logLevel = level
        // They are no reason to end: tools that rotate logs send one of them. `Server` logs SIGHUP.
        for number in [SIGHUP, SIGUSR1, SIGUSR2] { signal(number, SIG_IGN) }
        do {
            try await serve(logger)
        } catch {
            let failure = StartError(error, host: host, port: port)
            failure.report()
            ServiceManager.status(failure.sentence)
            throw ExitCode.failure
        }
    }

    /// Makes room for the connections, and returns for how many there is.
    func reserveConnections(_ logger: Logger) throws(StartError) -> Int {
        let reserved = try ProcessLimits.reserveFiles(forConnections: maxConnections)
        if reserved < maxConnections {
            logger.notice(
                "RLIMIT_NOFILE allows fewer connections than --max-connections",
                metadata: ["connections": .stringConvertible(reserved)])
        }
        return reserved
    }
}
