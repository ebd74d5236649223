internal import Logging
internal import ProfileLog
internal import ProfileLogRequests
internal import ServiceLifecycle

/// Folds the stored states of an older program again while the service runs, and swaps them in. Until then reads fold
/// whole histories (docs/decisions/0010).
///
/// States of a newer program stay: two services with different programs on one store would swap without end.
struct RebuildTask: Service {
    let store: LiveStore
    let logger: Logger

    /// The rest after a slice of users takes so many times as long as the slice: 5 % of a core.
    private static let rest = 19
    /// After a failure, or while there is a shadow of other work.
    private static let pause = Duration.seconds(60)

    func run() async throws {
        await cancelWhenGracefulShutdown { await rebuild() }
        // The group ends with the first task that returns.
        try? await gracefulShutdown()
    }

    private func rebuild() async {
        var isAnnounced = false
        while !Task.isCancelled {
            let (begin, log) = (ContinuousClock.now, store.api.log)
            do {
                guard let report = try await SlowPath.run({ try Self.step(log) }) else { return }
                if report.isComplete { return logger.notice("the states of an older program were folded again") }
                if !isAnnounced {
                    logger.notice("states of an older program are folded again; until then reads fold whole histories")
                }
                isAnnounced = true
                try? await Task.sleep(for: (ContinuousClock.now - begin) * Self.rest)
            } catch {
                // An error of the shadow names projections and numbers of users, and no value.
                logger.info("states of an older program cannot be folded again now", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    /// Folds one slice of users, and swaps after the last one; nil if there are no states of an older program.
    private static func step(_ log: EventLog) throws -> ShadowReport? {
        if try log.shadow.outdated(<).isEmpty { return nil }
        let report = try log.replayIntoShadow { _ in false }
        if report.isComplete { try log.swapShadow() }
        return report
    }
}
