/// The proof that states are what the log says: each has the same bytes as a fold of its events from the first one on,
/// which uses nothing that is stored.
///
/// It keeps its last fold, and goes on from there at a later version of the same user. One proof is for one view.
package struct StateProof<P: Projection> {
    /// A state that differs from the log.
    package struct Difference {
        package let version: UInt64
        /// The state as it is read, from a snapshot and the events after it.
        package let read: P.State
        /// The state as the events give it.
        package let fresh: P.State
    }

    private let states: StateStore
    private var fold: (user: UInt64, version: UInt64, state: P.State)?

    package init(_ states: StateStore) { self.states = states }

    /// Returns the states of `user` that differ, of those that `view` reads at `versions`, ascending.
    package mutating func differences(
        of user: UInt64, at versions: [UInt64], in view: LogView
    ) throws -> [Difference] {
        try versions.compactMap { version in
            try difference(of: user, at: version, from: fresh(of: user, at: version, in: view), in: view)
        }
    }

    /// Describes the difference of the state that `view` reads from `fresh`, which was folded before; nil if it does
    /// not.
    package func difference(
        of user: UInt64, at version: UInt64, from fresh: P.State, in view: LogView
    ) throws -> Difference? {
        let read = try states.state(P.self, user, version: version, view)
        if P.encode(read).withUnsafeBytes({ Self.isEqual($0, fresh) }) { return nil }
        return Difference(version: version, read: read, fresh: fresh)
    }

    /// Tells whether `stored` are the bytes of the state of `user` at `version`.
    mutating func holds(
        _ stored: UnsafeRawBufferPointer, of user: UInt64, at version: UInt64, in view: LogView
    ) throws -> Bool {
        Self.isEqual(stored, try fresh(of: user, at: version, in: view))
    }

    /// Tells whether `stored` are the bytes of the state of the whole store at `position`.
    func holds(
        _ stored: UnsafeRawBufferPointer, at position: UInt64, in view: LogView, progress: (UInt64) -> Void
    ) throws -> Bool {
        Self.isEqual(stored, try states.freshState(overStore: P.self, at: position, view, progress: progress))
    }

    /// The state of `user` at `version`, folded only from their events.
    mutating func fresh(of user: UInt64, at version: UInt64, in view: LogView) throws -> P.State {
        let known = fold.flatMap { $0.user == user && $0.version <= version ? $0 : nil }
        // After damage it begins again.
        fold = nil
        var state = known?.state ?? P.initial
        let positions = try view.positions(of: user, from: (known?.version ?? 0) + 1, to: version)
        if try !states.fold(P.self, positions, into: &state, isFromStart: known == nil, view) {
            state = try states.freshState(P.self, user, version: version, view)
        }
        fold = (user, version, state)
        return state
    }

    /// Compares the memory at once: in a debug build a loop over the bytes takes longer than both folds.
    private static func isEqual(_ bytes: UnsafeRawBufferPointer, _ fresh: P.State) -> Bool {
        P.encode(fresh).withUnsafeBytes { $0.hasSameBytes(as: bytes) }
    }
}

extension LogView {
    /// Compares the entries of a user's history, from version 1 on, with their records.
    ///
    /// - Returns: the versions whose entry is not of the user and that version, and those of launches and flushes.
    package func entries(
        of user: UInt64, at positions: some Sequence<UInt64>
    ) throws -> (wrong: [UInt64], launches: [UInt64]) {
        var (wrong, launches): ([UInt64], [UInt64]) = ([], [])
        var version: UInt64 = 0
        for position in positions {
            version += 1
            let header = try header(at: position)
            if header.user != user || header.version != version { wrong.append(version) }
            if header.kind == .appLaunched || header.kind == .pendingFlushed { launches.append(version) }
        }
        return (wrong, launches)
    }
}
