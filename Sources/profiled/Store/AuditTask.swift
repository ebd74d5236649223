internal import Logging
internal import ProfileLog
internal import ProfileLogRequests
internal import ServiceLifecycle

/// Audits the store while the service runs: a few milliseconds of work, then a long rest.
struct AuditTask: Service {
    let store: LiveStore
    let logger: Logger

    private static let budget = Duration.milliseconds(2)
    /// The rest takes so many times as long as the work: 2 % of a core, less while events come.
    private static let rest = 49
    private static let restUnderLoad = 199
    /// The time between two looks for new events after a complete round.
    private static let interval = Duration.seconds(5)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var position: UInt64?
            var known: Set<UserNumber> = []
            while !Task.isCancelled {
                let (begin, auditor) = (ContinuousClock.now, store.api.store.auditor)
                // A failed store is reported by its requests; the audit tries again.
                let hasWorked =
                    await withTaskExecutorPreference(globalConcurrentExecutor) { () async -> Bool in
                        do { return try auditor.step(budget: Self.budget) } catch {
                            KnownDamage.note(error)
                            return false
                        }
                    }
                let worked = ContinuousClock.now - begin
                // Without the field, whose name a client gave.
                for difference in auditor.report.differences where known.insert(difference.user).inserted {
                    logger.error(
                        "a state is not what the log says; GET /v1/status names the field",
                        metadata: ["user_number": .stringConvertible(difference.user.rawValue)])
                }
                let last = store.lastPosition
                let rest = hasWorked ? worked * (last == position ? Self.rest : Self.restUnderLoad) : Self.interval
                position = last
                try? await Task.sleep(for: rest)
            }
        }
    }
}
