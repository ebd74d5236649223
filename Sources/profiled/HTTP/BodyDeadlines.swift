internal import Synchronization

/// Gives up bodies that take too long to arrive. One task looks after all of them, and ends when there are none: a timer for each would
/// cost more than most bodies.
final class BodyDeadlines: Sendable {
    private struct Body {
        let deadline: ContinuousClock.Instant
        let connection: ConnectionContext
    }

    private struct State {
        var bodies: [UInt64: Body] = [:]
        var lastID: UInt64 = 0
        var isWatched = false
    }

    private let patience: Duration
    private let interval: Duration
    private let state = Mutex(State())

    /// Gives each body `patience`, and up to a tenth of that, or a second, more.
    init(patience: Duration) {
        self.patience = patience
        interval = min(patience / 10, .seconds(1))
    }

    /// Runs `read`, which reads a body that comes by `connection`; has it fail with `BodyTooSlow` if it takes too long.
    func watch<Result>(_ connection: ConnectionContext, _ read: () async -> Result) async -> Result {
        let body = Body(deadline: .now + patience, connection: connection)
        let (id, mustBegin) = state.withLock { state in
            state.lastID += 1
            state.bodies[state.lastID] = body
            defer { state.isWatched = true }
            return (state.lastID, !state.isWatched)
        }
        defer { state.withLock { $0.bodies[id] = nil } }
        if mustBegin { Task.detached { await self.giveUpLateOnes() } }
        return await read()
    }

    private func giveUpLateOnes() async {
        var isNeeded = true
        while isNeeded {
            try? await Task.sleep(for: interval)
            let now = ContinuousClock.now
            let (late, others) = state.withLock { state in
                let late = state.bodies.filter { $0.value.deadline <= now }
                for id in late.keys { state.bodies[id] = nil }
                state.isWatched = !state.bodies.isEmpty
                return (late.values.map(\.connection), state.isWatched)
            }
            for connection in late { connection.giveUpBody() }
            isNeeded = others
        }
    }
}

/// A body did not arrive in time.
struct BodyTooSlow: Error {}
