internal import Logging
internal import ProfileLog
internal import ProfileLogRequests
internal import ServiceLifecycle

/// Folds the stored states of an older program again while the service runs (`StateRebuild`).
struct RebuildTask: Service {
    let store: LiveStore
    let logger: Logger

    /// The rest after a step takes so many times as long as the step: 5 % of a core.
    private static let rest = 19
    /// The pause after a failure, or while there is a shadow of other work.
    private static let pause = Duration.seconds(60)

    func run() async throws {
        await cancelWhenGracefulShutdown { await rebuild() }
        // The group ends with the first task that returns.
        try? await gracefulShutdown()
    }

    private func rebuild() async {
        var rebuild = StateRebuild()
        while !Task.isCancelled {
            let (begin, log) = (ContinuousClock.now, store.api.log)
            let work = { @Sendable [rebuild] in
                var rebuild = rebuild
                let step = rebuild.step(log)
                return (rebuild, step)
            }
            guard let (next, step) = try? await SlowPath.run(work) else { return }
            rebuild = next
            step.news.map(say)
            if step.isDone { return }
            try? await Task.sleep(for: step.isFailure ? Self.pause : (ContinuousClock.now - begin) * Self.rest)
        }
    }

    private func say(_ news: StateRebuild.News) {
        switch news {
        case .begun:
            logger.notice("states of an older program are folded again; until then reads fold whole histories")
        case .swapped: logger.notice("the states of an older program were folded again")
        case .endedElsewhere:
            logger.notice("another program on this store has ended the fold of the states of an older program")
        case .failed(let failure):
            let remedy = (failure.error as? any LogError)?.commandRemedy ?? "The service tries again."
            // An error of the shadow names projections and numbers of users, and no value.
            logger.warning(
                "states of an older program cannot be folded again now",
                metadata: ["error": "\(failure.error)", "remedy": "\(remedy)"])
        }
    }
}
