internal import ProfileLog
internal import Synchronization

/// Where a request is decided, and by which states over the whole store; the same states however often it is decided.
struct DecisionBasis: Sendable {
    let catalogue: DecisionState<CatalogueProjection>
    let pushTokens: DecisionState<PushTokenProjection>
    private(set) var place = Place.connection

    /// A thread, by who waits for it.
    enum Place {
        /// Other connections wait: nothing may be done that grows with the store.
        case connection
        /// Everybody who writes waits: no state may be folded.
        case writer
        /// Nobody waits.
        case ownThread
    }

    init(_ api: API) {
        catalogue = DecisionState(api.catalogue)
        pushTokens = DecisionState(api.pushTokens)
    }

    /// The same, decided elsewhere.
    func at(_ place: Place) -> Self {
        var basis = self
        basis.place = place
        return basis
    }
}

/// A decision would keep others waiting where it is made.
struct TakesLong: Error {}

/// A live state as one request is decided by it: that of all, or a copy if people are erased again and again. So it is folded from the beginning
/// a few times at most, however many they are.
final class DecisionState<P: Projection>: Sendable {
    private let state: Mutex<(live: LiveState<P>, wasFar: Bool)>

    init(_ live: LiveState<P>) { state = Mutex((live, false)) }

    /// Folds in what was acknowledged before the call.
    func catchUp(at place: DecisionBasis.Place) throws {
        let (live, wasFar) = state.withLock { $0 }
        if try live.catchUpIfNear() { return }
        guard place == .ownThread else { throw TakesLong() }
        if !wasFar {
            // Not a copy at once: while there is one, the next who catches up copies the whole state.
            state.withLock { $0.wasFar = true }
            try live.catchUp()
            if try live.catchUpIfNear() { return }
        }
        let copy = try live.copyForRequest()
        state.withLock { $0.live = copy }
    }

    /// Lends the state as it was when it last caught up, or later.
    func withState<Result>(at place: DecisionBasis.Place, _ body: (P.State) throws -> Result) throws -> Result {
        while true {
            let live = state.withLock { $0.live }
            if let result = try live.withStateIfThere(body) { return result }
            try catchUp(at: place)
        }
    }
}
