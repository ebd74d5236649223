internal import Logging
internal import ProfileLogReplication
internal import ServiceLifecycle

/// Tells the log when the node stops writing and why, when it writes again, and when another node becomes the preferred
/// writer, and once that a node of another store is there: one line for each, however often the words of the reason change.
struct ClusterWatch: Service {
    let cluster: ClusterNode
    let logger: Logger

    private static let interval = Duration.seconds(1)
    /// Between two lines about the writer: nodes that cannot reach each other may take turns.
    private static let writerInterval = Duration.seconds(10)

    /// What the log was told.
    private struct Told {
        /// Why the node takes no writes, and since when.
        var refusal: (error: StreamError, since: ContinuousClock.Instant)?
        /// Since when brokers do not answer, which may pass in a moment.
        var silentSince: ContinuousClock.Instant?
        var writer: (name: String, at: ContinuousClock.Instant)?
        var hasStranger = false
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { await watch() }
        // The group ends with the first task that returns.
        try? await gracefulShutdown()
    }

    private func watch() async {
        var told = Told()
        while !Task.isCancelled {
            let status = cluster.replica.status
            tell(status.refusal, at: status.node.broker, &told)
            tell(writer: status.preferred, &told)
            if let stranger = status.stranger, !told.hasStranger {
                told.hasStranger = true
                logger.warning(
                    "a node of another store uses this cluster's name",
                    metadata: ["reason": "\(stranger.sentence)", "remedy": "\(stranger.remedy)"])
            }
            try? await Task.sleep(for: Self.interval)
        }
    }

    private func tell(_ refusal: StreamError?, at broker: String?, _ told: inout Told) {
        let now = ContinuousClock.now
        guard let refusal else {
            told.silentSince = nil
            guard let before = told.refusal else { return }
            told.refusal = nil
            logger.notice(
                "the node takes writes again",
                metadata: [
                    "broker": "\(broker ?? "none")",
                    "seconds": .stringConvertible((now - before.since) / .seconds(1)),
                ])
            return
        }
        let isPassing = refusal.kind == .unreachable
        let silentSince = told.silentSince ?? now
        told.silentSince = isPassing ? silentSince : nil
        if let before = told.refusal?.error, Self.isSame(before, refusal) { return }
        if isPassing, now - silentSince < Self.interval { return }
        told.refusal = (refusal, told.refusal?.since ?? silentSince)
        logger.log(
            level: isPassing ? .warning : .error, "the node takes no writes",
            metadata: ["reason": "\(refusal.sentence)", "remedy": "\(refusal.remedy)"])
    }

    /// Tells whether an operator knows of it already: brokers that do not answer do that in many words, and numbers in a
    /// sentence may change with each look.
    private static func isSame(_ before: StreamError, _ now: StreamError) -> Bool {
        func words(_ error: StreamError) -> String { error.sentence.filter { !$0.isNumber } }
        return before.kind == now.kind && (now.kind == .unreachable || words(before) == words(now))
    }

    private func tell(writer: String?, _ told: inout Told) {
        guard let writer, writer != told.writer?.name else { return }
        let now = ContinuousClock.now
        if let before = told.writer {
            if now - before.at < Self.writerInterval { return }
            logger.notice(
                "the preferred writer changed", metadata: ["from": "\(before.name)", "to": "\(writer)"])
        } else {
            logger.info("the preferred writer is known", metadata: ["node": "\(writer)"])
        }
        told.writer = (writer, now)
    }
}
