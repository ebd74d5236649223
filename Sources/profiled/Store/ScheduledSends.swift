internal import Logging
internal import ProfileLog
internal import ProfileLogBrazeAPI
internal import ServiceLifecycle

/// Sends the scheduled requests of the store when their time comes, until the service ends. Removes old exports on the
/// way.
struct ScheduledSends: Service {
    let store: LiveStore
    /// The node of a cluster that this service is; nil for a store of its own. Each request is sent by one node.
    let cluster: ClusterNode?
    let logger: Logger

    /// The longest sleep. A request may become due earlier than what it knew of: another process of the store may
    /// schedule one, or a test replace the store.
    private static let longestSleep = Duration.seconds(1)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: await look())
            }
        }
    }

    /// Sends what is due, and returns how long to sleep before the next look.
    private func look() async -> Duration {
        let api = store.api
        api.braze.removeOldExports()
        guard cluster?.isWriter != false else { return Self.longestSleep }
        do {
            if let due = try api.braze.nextDue(), due <= api.log.options.now() {
                let sent = try await api.braze.sendDue()
                logger.info("sent scheduled requests", metadata: ["requests": .stringConvertible(sent)])
            }
            guard let next = try api.braze.nextDue() else { return Self.longestSleep }
            let wait = Duration.microseconds(next.rawValue - api.log.options.now().rawValue)
            return min(max(wait, .milliseconds(10)), Self.longestSleep)
        } catch {
            // Endpoints say why the store does not work, and metrics too.
            logger.debug("scheduled requests wait", metadata: ["error": "\(type(of: error))"])
            return Self.longestSleep
        }
    }
}
