internal import Synchronization

/// The states by which callers decided last (``EventLog/update(_:_:context:idempotencyKey:_:)``): the next decision
/// about a user folds only what followed.
///
/// The state as of a version is a fold of events that never change, so an entry is right whatever was appended since.
/// An erased user has no ID by which they could be asked for.
final class RecentStates: Sendable {
    private struct Key: Hashable {
        let projection: ObjectIdentifier
        let user: UInt64
    }

    private struct Entry {
        var version: UInt64
        var state: any Sendable
        /// The size of its encoded form at the version at which it was measured.
        var bytes: Int
        var measured: UInt64
    }

    private struct Content {
        var entries: [Key: Entry] = [:]
        var bytes = 0
    }

    private let content = Mutex(Content())

    /// Bytes of encoded states, and of what an entry takes besides. Beyond, all are dropped.
    private static let (mostBytes, entryBytes) = (16 << 20, 256)
    /// The size of a state is measured again after so many versions.
    private static let measureInterval: UInt64 = 64

    /// The kept state of `user`, if it is of `version` or an earlier one.
    func state(
        of projection: any Projection.Type, _ user: UInt64, upTo version: UInt64
    ) -> (version: UInt64, state: any Sendable)? {
        let key = Key(projection: ObjectIdentifier(projection), user: user)
        guard let entry = content.withLock({ $0.entries[key] }), entry.version <= version else { return nil }
        return (entry.version, entry.state)
    }

    /// Keeps the state of `user` after `version` events, unless a later one is kept.
    func keep<P: UserProjection>(_: P.Type, _ state: P.State, of user: UInt64, at version: UInt64) {
        let key = Key(projection: ObjectIdentifier(P.self), user: user)
        let isKept = content.withLock { content in
            guard let index = content.entries.index(forKey: key) else { return false }
            let (known, measured) = (content.entries.values[index].version, content.entries.values[index].measured)
            if known >= version { return true }
            if version - measured >= Self.measureInterval { return false }
            content.entries.values[index].version = version
            content.entries.values[index].state = state
            return true
        }
        if isKept { return }
        let bytes = P.encode(state).count + Self.entryBytes
        content.withLock { content in
            if content.bytes + bytes > Self.mostBytes { content = Content() }
            if bytes > Self.mostBytes { return }
            let entry = Entry(version: version, state: state, bytes: bytes, measured: version)
            let replaced = content.entries.updateValue(entry, forKey: key)
            content.bytes += bytes - (replaced?.bytes ?? 0)
        }
    }

    /// Drops all: a person was erased.
    func removeAll() { content.withLock { $0 = Content() } }
}

extension StateStore {
    /// The state of `user` after `version` of their events, for a caller who decides by it, and soon again.
    func recentState<P: UserProjection>(
        _: P.Type, of user: UInt64, version: UInt64, _ view: LogView
    ) throws -> P.State {
        let recent = store.recentStates
        let state: P.State
        // The name of one that is kept was checked.
        if let known = recent.state(of: P.self, user, upTo: version), let earlier = known.state as? P.State {
            if known.version == version { return earlier }
            let positions = try view.positions(of: user, from: known.version + 1, to: version)
            state = try foldedState(
                P.self, user, version: version, from: (known.version, earlier), positions, view
            ).state
        } else {
            try P.checkName()
            state = try self.state(P.self, user, version: version, view)
        }
        recent.keep(P.self, state, of: user, at: version)
        return state
    }
}
