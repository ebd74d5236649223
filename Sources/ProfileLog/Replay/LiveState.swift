/// The state of a projection over the whole store, kept in memory: each catching up folds in only what is new since the last one.
///
/// Any thread may look; one at a time catches up. The first look reads the stored state and folds what follows it.
public final class LiveState<P: Projection>: Sendable {
    private let log: EventLog
    private let reached = Guarded<(state: P.State, position: Position)?>(nil)

    /// A live state of `log`; nothing is read yet.
    public init(_ log: EventLog) { self.log = log }

    /// Folds in what was acknowledged before the call, and tells how far the state reaches now.
    @discardableResult
    public func catchUp() throws -> Position {
        let last = try log.lastPosition()
        if let position = reached.withReading({ $0?.position }), position >= last { return position }
        return try reached.withWriting { reached throws(any Error) in
            // Taken out, so that it is changed in place; if that fails, the next one begins with the stored state.
            var now = try reached.take() ?? log.state(overStore: P.self)
            if let position = try log.advance(P.self, &now.state, from: now.position) {
                now.position = position
            } else {
                now = try log.state(overStore: P.self)
            }
            reached = now
            return now.position
        }
    }

    /// Lends the state as the last catching up left it. Nobody catches up meanwhile, so `body` should be short.
    public func withState<Result>(_ body: (P.State) throws -> Result) throws -> Result {
        let result = try reached.withReading { reached throws(any Error) -> Result? in
            try reached.map { try body($0.state) }
        }
        if let result { return result }
        try catchUp()
        return try withState(body)
    }
}

extension EventLog {
    /// Folds all that follows `position` into `state`, which has reached it, and tells how far it reaches now. Nil if somebody was erased
    /// behind it: the state holds what the log does not say any more.
    func advance<P: Projection>(
        _: P.Type, _ state: inout P.State, from position: Position
    ) throws -> Position? {
        try withView { view, transaction in
            guard position.rawValue <= view.last else { return position }
            var isWhole = true
            try Self.scan(view.tables, from: position.rawValue + 1, to: view.last, transaction) { place, header in
                P.apply(EventView(header: header, position: Position(rawValue: place), names: names), to: &state)
                isWhole = header.kind != .userErased
                return isWhole
            }
            return isWhole ? Position(rawValue: view.last) : nil
        }
    }
}
