internal import Synchronization

extension EventLog {
    /// As `state(_:of:asOf:)`; where much was to fold, the state is kept as a snapshot, so that the next reader is spared it.
    ///
    /// For projections that other programs write the store without: a long history may have no snapshots of them. Who folds more than
    /// 1,024 events that the index holds waits for the writer and a sync.
    package func keptState<P: Projection>(
        _: P.Type, of user: UserNumber, asOf version: Version = Version(rawValue: .max)
    ) throws -> P.State {
        try P.check(scope: .user)
        let (fold, seen) = try withView { view, transaction in
            let now = try view.version(of: user.rawValue, transaction)
            let version = min(now, version.rawValue)
            return (try foldedState(P.self, user.rawValue, version: version, view, transaction), view.last)
        }
        if options.snapshotInterval > 0, fold.indexed > Self.keptSnapshotInterval {
            // A read is right whether or not the next one is cheaper.
            try? keep(P.self, fold, of: user, seen: seen)
        }
        return fold.state
    }

    /// Stores a state that was folded from what a view saw that ended at `seen`; not if somebody was erased since, for it may hold what the
    /// log does not say any more.
    func keep<P: Projection>(_: P.Type, _ fold: UserFold<P>, of user: UserNumber, seen: UInt64) throws {
        try writing.withLock { _ in
            try environment.withWriteTransaction { transaction in
                guard try isNobodyErased(since: seen, transaction) else { return }
                let key = KeyCoding.snapshot(P.name, user: user.rawValue, version: fold.version)
                let row = SnapshotRow.bytes(revision: P.revision, state: P.encode(fold.state))
                try transaction.put(environment.tables.snapshots, key, row)
            }
        }
    }
}
