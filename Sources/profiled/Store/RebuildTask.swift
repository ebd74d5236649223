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
        var (isAnnounced, isSwapped) = (false, false)
        var known: String?
        while !Task.isCancelled {
            let (begin, log) = (ContinuousClock.now, store.api.log)
            do {
                switch try await SlowPath.run({ [isSwapped] in try Self.step(log, isSwapped) }) {
                case nil: return
                case .work? where !isAnnounced:
                    logger.notice("states of an older program are folded again; until then reads fold whole histories")
                    isAnnounced = true
                case .work?: break
                case .swap?:
                    logger.notice("the states of an older program were folded again")
                    isSwapped = true
                }
                try? await Task.sleep(for: (ContinuousClock.now - begin) * Self.rest)
            } catch {
                // An error of the shadow names projections and numbers of users, and no value.
                let text = "\(error)"
                if text != known {
                    let remedy = (error as? AppendError)?.remedy ?? (error as? StorageError)?.remedy
                    logger.warning(
                        "states of an older program cannot be folded again now",
                        metadata: ["error": "\(text)", "remedy": "\(remedy ?? "The service tries again.")"])
                    known = text
                }
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    private enum Step { case work, swap }

    /// Folds one slice of users, swaps after the last one, or removes a part of the rows that are no longer read; nil
    /// if there is nothing to do.
    private static func step(_ log: EventLog, _ isSwapped: Bool) throws -> Step? {
        if isSwapped { return try log.shadow.removeUnused() ? .work : nil }
        // A shadow of before a restart is finished: only some of the states are looked at.
        guard try log.shadow.isBegun() || !log.shadow.projections(withStatesOf: .olderPrograms).isEmpty else {
            return nil
        }
        if try log.shadow.removeUnused() { return .work }
        guard try log.replayIntoShadow(progress: { _ in false }).isComplete else { return .work }
        _ = try log.shadow.swap()
        return .swap
    }
}
