internal import Logging
internal import ProfileLogNativeAPI
internal import ServiceLifecycle

/// Tells the log when the node stops writing and why, when it writes again, and who the preferred writer is.
struct ClusterWatch: Service {
    let cluster: ClusterNode
    let logger: Logger

    private static let interval = Duration.seconds(1)

    func run() async throws {
        await cancelWhenGracefulShutdown { await watch() }
        // The group ends with the first task that returns.
        try? await gracefulShutdown()
    }

    private func watch() async {
        var reason: String?
        var writer: String?
        while !Task.isCancelled {
            let report = cluster.report
            if let refusal = report.refusal, refusal.error != reason {
                logger.warning(
                    "the node takes no writes",
                    metadata: ["reason": "\(refusal.error)", "remedy": "\(refusal.remedy)"])
            } else if reason != nil, report.refusal == nil {
                logger.notice("the node takes writes again")
            }
            reason = report.refusal?.error
            if report.preferred != writer, let preferred = report.preferred {
                logger.info("the preferred writer changed", metadata: ["node": "\(preferred)"])
            }
            writer = report.preferred
            try? await Task.sleep(for: Self.interval)
        }
    }
}
