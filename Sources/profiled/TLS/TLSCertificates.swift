internal import Logging
internal import NIOSSL
internal import ProfileLog
internal import ServiceLifecycle
internal import Synchronization

/// The certificate that is served now. Its files are read again when one of them has changed, and by ``reload()``. What
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

    /// Reads the files. Throws if they cannot be used: then the start fails.
    init(_ files: TLSFiles, logger: Logger) throws(StartError) {
        let stamps = files.stamps
        let content = try files.read()
        self.files = files
        self.logger = logger
        state = Mutex(State(content: content, attempted: stamps))
        note("TLS certificate", content)
    }

    /// The context that a handshake uses which begins now.
    var context: NIOSSLContext { state.withLock { $0.content.context } }

    /// The pair for a handshake with another node that begins now, if it asks for a certificate. One that has ended is
    /// refused, where none may do.
    var shown: NIOSSLContextConfigurationOverride {
        state.withLock { $0.content.certificate.end > .now() ? $0.content.shown : nil } ?? .noChanges
    }

    var report: Report {
        state.withLock { Report(served: $0.content.certificate, reloads: $0.reloads, failures: $0.failures) }
    }

    /// Reads the files again, and serves what they hold. What cannot be used changes nothing. Connections that are open
    /// keep their certificate.
    func reload() {
        guard let serve = try? prepare() else { return }
        serve()
    }

    /// Reads the files again; the closure serves what they hold. Throws if they cannot be used, which the log and the
    /// counts then say.
    func prepare() throws(StartError) -> @Sendable () -> Void {
        let stamps = files.stamps
        let content: TLSFiles.Content
        do throws(StartError) { content = try files.read() } catch {
            refuse(error, stamps)
            throw error
        }
        return { [self] in
            state.withLock { state in
                (state.content, state.attempted) = (content, stamps)
                state.reloads += 1
            }
            note("TLS certificate, read again", content)
        }
    }

    /// The part of TLS in a reload of the whole configuration.
    var reloadHook: ReloadHook { ReloadHook { [self] _, _ in try prepare() } }

    private func refuse(_ error: StartError, _ stamps: [FileStamp?]) {
        let served = state.withLock { state in
            state.attempted = stamps
            state.failures += 1
            return state.content.certificate
        }
        logger.warning(
            "the TLS files cannot be used, and the old certificate is served on: \(error.sentence)",
            metadata: Self.metadata(served).merging(["remedy": .string(error.remedy)]) { $1 })
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
