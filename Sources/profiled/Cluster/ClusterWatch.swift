internal import Logging
internal import ProfileLogNativeAPI
internal import ProfileLogReplication
internal import ServiceLifecycle

/// Tells the log when the node stops writing and why, when it writes again, and what else changes in the cluster: one
/// line for each, however often the words of the reason change.
struct ClusterWatch: Service {
    let cluster: ClusterNode
    let logger: Logger

    private static let interval = Duration.seconds(1)

    /// The changes that the log was told of.
    private struct Told {
        /// The reason why the node takes no writes, and since when.
        var refusal: (error: StreamError, since: ContinuousClock.Instant)?
        /// Since when brokers do not answer, which may pass in a moment.
        var silentSince: ContinuousClock.Instant?
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
            for line in cluster.newLines(status) { tell(line) }
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
                    "seconds": .stringConvertible(((now - before.since) / .milliseconds(100)).rounded() / 10),
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

    private func tell(_ line: ClusterNews.Line) {
        let level: Logger.Level =
            switch line.level {
            case .info: .info
            case .notice: .notice
            case .warning: .warning
            }
        let facts: Logger.Metadata = line.facts.mapValues { "\($0)" }
        logger.log(level: level, "\(line.text)", metadata: facts)
    }
}
