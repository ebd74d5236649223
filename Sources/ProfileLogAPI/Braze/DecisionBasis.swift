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
        /// Everybody who writes waits: no state may be folded that is far behind. All who share an address are looked at all the same.
        case writer
        /// Nobody waits.
        case ownThread
    }

    init(_ api: API) {
        catalogue = DecisionState(api.log, api.catalogue)
        pushTokens = DecisionState(api.log, api.pushTokens)
    }

    /// Whether nobody has one of `tokens`, as is known on the writer's thread.
    func isFree(_ tokens: Set<PushToken>) throws -> Bool {
        try pushTokens.catchUp(at: .writer)
        return try pushTokens.withState(at: .writer) { state in !tokens.contains { state.holds($0) } }
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

/// A live state as one request is decided by it: that of all, or a fold of its own if that was far twice. So it is decided in the end, however
/// many are erased meanwhile.
final class DecisionState<P: Projection>: Sendable {
    private let log: EventLog
    private let live: LiveState<P>
    private let own = Mutex(Own())

    private struct Own {
        /// How often the state of all was far, but for a connection.
        var timesFar = 0
        /// Goes past erasures: the request is as if it came before those who are erased while it is under way.
        var replayer: Replayer<P>?
    }

    init(_ log: EventLog, _ live: LiveState<P>) {
        self.log = log
        self.live = live
    }

    /// Folds in what was acknowledged before the call.
    func catchUp(at place: DecisionBasis.Place) throws {
        try own.withLock { own in
            if own.timesFar > 1, place == .ownThread, own.replayer == nil { own.replayer = Replayer(log) }
            if let replayer = own.replayer {
                // On the writer's thread this is what was stored since the request was on its own.
                try replayer.run()
                return
            }
            if try live.catchUpIfNear() { return }
            if place != .connection { own.timesFar += 1 }
            guard place == .ownThread else { throw TakesLong() }
            try live.catchUp()
        }
    }

    /// Lends the state as it was when it last caught up, or later.
    func withState<Result>(at place: DecisionBasis.Place, _ body: (P.State) throws -> Result) throws -> Result {
        while true {
            if let state = own.withLock({ $0.replayer?.state }) { return try body(state) }
            if let result = try live.withStateIfThere(body) { return result }
            try catchUp(at: place)
        }
    }
}
