import Synchronization

/// Lets so many in at once; who comes beyond that waits in line.
final class Gate: Sendable {
    /// Stores for tests that hold one open while others run: each maps 1 TB of addresses, and a process has 128.
    static let stores = Gate(places: 48)

    private let state: Mutex<State>

    private struct State {
        /// Free ones: none while a caller waits.
        var places: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    init(places: Int) { state = Mutex(State(places: places)) }

    func enter() async {
        await withCheckedContinuation { continuation in
            let isIn = state.withLock { state in
                guard state.places > 0 else {
                    state.waiting.append(continuation)
                    return false
                }
                state.places -= 1
                return true
            }
            if isIn { continuation.resume() }
        }
    }

    /// Gives the place to who waits longest.
    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.places += 1
            return nil
        }
        next?.resume()
    }
}
