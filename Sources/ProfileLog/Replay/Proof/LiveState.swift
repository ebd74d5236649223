internal import Synchronization

/// The state of a projection over the whole store, kept in memory: `catchUp` folds in only the new events.
///
/// Any thread may read it; one at a time catches up. The first read, and the first after an erasure or a void, reads
/// the stored state and folds what follows. A caller who must not wait for that uses ``catchUpIfNear()``.
package final class LiveState<P: StoreProjection>: Sendable {
    private let log: EventLog
    private let reached = Guarded<(state: P.State, position: Position)?>(nil)
    /// Held during a fold from the beginning, so that it is done once. Others can read at the same time.
    private let beginning = Mutex<Void>(())

    /// Events that are folded in at once; readers wait for them.
    private static var eventsAtOnce: UInt64 { 10_000 }

    /// A live state of `log`; nothing is read yet.
    package init(_ log: EventLog) { self.log = log }

    /// Folds in everything acknowledged before the call, and returns the position of the state. Folds from the
    /// beginning once at most, however many erasures come.
    @discardableResult
    package func catchUp() throws -> Position {
        let last = try log.lastPosition()
        if let position = reached.withReading({ $0?.position }), position >= last { return position }
        while true {
            while let position = try advance() {
                if position >= last { return position }
            }
            let begun = try beginning.withLock { _ -> Position? in
                if reached.withReading({ $0 != nil }) { return nil }
                let fold = try log.reader.state(overStore: P.self)
                reached.withWriting { $0 = fold }
                return fold.position
            }
            if let begun { return begun }
        }
    }

    /// Catches up if that takes only milliseconds, and returns whether it did.
    package func catchUpIfNear() throws -> Bool {
        let last = try log.lastPosition()
        guard let position = reached.withReading({ $0?.position }) else { return false }
        if position >= last { return true }
        return try last.rawValue - position.rawValue <= Self.eventsAtOnce && advance() != nil
    }

    /// Folds in some new events. Nil if the fold must start again: there is no state, one of its users was erased, or
    /// an event was voided or unvoided.
    private func advance() throws -> Position? {
        try reached.withWriting { reached throws(any Error) in
            // Taken out, to be changed in place. If that fails, the next call begins with the stored state.
            guard var now = reached.take(),
                let position = try advance(&now.state, from: now.position)
            else { return nil }
            now.position = position
            reached = now
            return position
        }
    }

    /// Folds what follows `position` into `state`, which has reached it, and returns its new position. Nil if a user
    /// was erased after it, as the state may hold erased values, or an event voided, which it may have.
    private func advance(_ state: inout P.State, from position: Position) throws -> Position? {
        try log.withView { view in
            guard position.rawValue <= view.last else { return position }
            var isWhole = true
            let end = min(view.last, position.rawValue + Self.eventsAtOnce)
            let isUsable = try log.states.advance(P.self, &state, from: position.rawValue, to: end, view) { _, header in
                isWhole = header.kind != .userErased
                return isWhole
            }
            return isWhole && isUsable ? Position(rawValue: end) : nil
        }
    }

    /// The state as of the view of `reader`. It is kept, so the next call folds only what follows.
    package func state(in reader: LogReader) throws -> P.State {
        try reader.withView { view in
            let end = Position(rawValue: view.last)
            let state = try stateGoneOn(to: end, view) ?? log.states.state(overStore: P.self, view).state
            reached.withWriting { reached in
                if reached.map({ $0.position < end }) ?? true { reached = (state, end) }
            }
            return state
        }
    }

    /// The state that was reached, with what follows it up to `end`. Nil if there is none, or none that can go on.
    private func stateGoneOn(to end: Position, _ view: LogView) throws -> P.State? {
        guard var now = reached.withReading({ $0 }), now.position <= end else { return nil }
        var isWhole = true
        let isUsable = try log.states.advance(
            P.self, &now.state, from: now.position.rawValue, to: end.rawValue, view
        ) { _, header in
            isWhole = header.kind != .userErased
            return isWhole
        }
        return isWhole && isUsable ? now.state : nil
    }

    /// Lends the state as of the last `catchUp`. Others wait to catch up, so `body` should be short.
    ///
    /// If there is none, or an erasure has removed it, it catches up first. A caller who must not wait for that uses
    /// ``withStateIfThere(_:)``.
    package func withState<Result>(_ body: (P.State) throws -> Result) throws -> Result {
        if let result = try withStateIfThere(body) { return result }
        try catchUp()
        return try withStateIfThere(body) ?? body(log.reader.state(overStore: P.self).state)
    }

    /// As ``withState(_:)``; nil if there is no state.
    package func withStateIfThere<Result>(_ body: (P.State) throws -> Result) throws -> Result? {
        try reached.withReading { reached throws(any Error) -> Result? in
            try reached.map { try body($0.state) }
        }
    }
}
