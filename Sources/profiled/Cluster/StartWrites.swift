internal import Logging
internal import ProfileLog
internal import ProfileLogRequests
internal import ServiceLifecycle

/// The writes of a start to its log: fixtures, what the workspace declares, the note that there are keys.
///
/// A service that has its store alone does them before it serves. A node may not be able to write when it starts, and
/// serves reads all the same: then this task tries until all is stored. Each of them can be done twice without harm.
struct StartWrites: Service {
    typealias Work = @Sendable (EventLog) throws -> Void

    let works: [Work]
    let store: LiveStore
    let logger: Logger

    private static let pause = Duration.seconds(1)

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            for work in works where !Task.isCancelled { try await finish(work) }
        }
        // The group ends with the first task that returns.
        try? await gracefulShutdown()
    }

    /// Tries until `work` is done, or until the service ends. Throws what no later try would mend.
    private func finish(_ work: @escaping Work) async throws {
        var hasTold = false
        while !Task.isCancelled {
            do {
                return try await store.api.store.performSlowly { log in try work(log) }
            } catch let error as AppendError where error.mayPass {
                if !hasTold {
                    logger.notice(
                        "what the start stores waits until this node can write",
                        metadata: ["reason": "\(error.description)", "remedy": "\(error.commandRemedy)"])
                }
                hasTold = true
                try? await Task.sleep(for: Self.pause)
            }
        }
    }
}

extension AppendError {
    /// Tells whether the same append may be stored later, by this node or as it was sent.
    var mayPass: Bool {
        switch self {
        case .unavailable, .outcomePending, .overloaded, .conflict: true
        default: false
        }
    }
}
