internal import Logging
internal import NIOSSL
internal import ProfileLog
internal import ServiceLifecycle
internal import Synchronization

/// The certificate that is served now. Its files are read again when one of them has changed, and at ``reload()``. What
/// cannot be used changes nothing: the old certificate stays.
final class TLSCertificates: Service, Sendable {
    struct Report: Sendable {
        let served: ServedCertificate
        let reloads: Int
        let failures: Int
    }

    private struct State {
        var content: TLSFiles.Content
        /// The versions of the files at the last attempt to read them.
        var attempted: [FileStamp?]
        var reloads = 0
        var failures = 0
    }

    private static let interval = Duration.seconds(2)

    let files: TLSFiles
    private let logger: Logger
    private let state: Mutex<State>
    /// Lets one reload be done after the other.
    private let turn = Mutex(())

    /// Reads the files. Throws if they cannot be used: then the start fails.
    init(_ files: TLSFiles, logger: Logger) throws(StartError) {
        let stamps = files.stamps
        let content = try files.read()
        self.files = files
        self.logger = logger
        state = Mutex(State(content: content, attempted: stamps))
        note("TLS certificate", content)
    }

    /// What a handshake that begins now uses.
    var context: NIOSSLContext { state.withLock { $0.content.context } }

    var report: Report {
        state.withLock { Report(served: $0.content.certificate, reloads: $0.reloads, failures: $0.failures) }
    }

    /// Reads the files again, and serves what they hold. Returns the reason if they cannot be used; the log has it too.
    /// Connections that are open keep their certificate.
    @discardableResult
    func reload() -> StartError? {
        turn.withLock { _ in
            do throws(StartError) {
                let (content, stamps) = try read()
                serve(content, stamps)
                return nil
            } catch {
                return error
            }
        }
    }

    /// Reads the files with the configuration, and serves what they hold when all of that is good.
    var reloadHook: ReloadHook {
        ReloadHook { [self] _, _ in
            let (content, stamps) = try read()
            return { self.serve(content, stamps) }
        }
    }

    /// Reads the files. What cannot be used is logged and counted.
    private func read() throws(StartError) -> (TLSFiles.Content, [FileStamp?]) {
        let stamps = files.stamps
        do throws(StartError) { return (try files.read(), stamps) } catch {
            let served = state.withLock { state in
                state.attempted = stamps
                state.failures += 1
                return state.content.certificate
            }
            logger.warning(
                "the TLS files cannot be used, and the old certificate is served on: \(error.sentence)",
                metadata: Self.metadata(served).merging(["remedy": .string(error.remedy)]) { $1 })
            throw error
        }
    }

    private func serve(_ content: TLSFiles.Content, _ stamps: [FileStamp?]) {
        state.withLock { state in
            (state.content, state.attempted) = (content, stamps)
            state.reloads += 1
        }
        note("TLS certificate, read again", content)
    }

    /// Looks at the files now and then, until the service stops.
    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            var last = self.attempted
            while true {
                try await Task.sleep(for: Self.interval)
                let now = self.files.stamps
                // Two looks must agree: a certificate and its key are replaced one after the other.
                if now == last, now != self.attempted { self.reload() }
                last = now
            }
        }
    }

    private var attempted: [FileStamp?] { state.withLock { $0.attempted } }

    private func note(_ message: Logger.Message, _ content: TLSFiles.Content) {
        logger.notice(message, metadata: Self.metadata(content.certificate))
        for warning in content.warnings { logger.warning("\(warning)") }
    }

    private static func metadata(_ served: ServedCertificate) -> Logger.Metadata {
        [
            "serial": .string(served.serial), "names": .string(served.names.joined(separator: ", ")),
            "not_after": .string(served.end.rfc3339()),
        ]
    }
}
