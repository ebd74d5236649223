internal import Synchronization

/// States over the whole store: kept in table `checkpoints` with the position that they reach.
///
/// No commit waits for a fold of the log. When the caches are written, the stored states follow them to the log's end: some events behind each
/// commit, without the write lock, by whoever writes the caches. Who reads a state and has more to fold, as after an erasure, which removes
/// them, writes it for the next one.
extension EventLog {
    /// The state of a projection over the whole store, and the position that it has reached: the stored state, and a fold of what
    /// follows. Sees everything that was acknowledged before the call.
    ///
    /// Its cost is that of the events behind the stored state: if the log was opened with the projection, some as many as the caches may be
    /// behind (`LogOptions.indexLag`).
    public func state<P: Projection>(overStore _: P.Type) throws -> (state: P.State, position: Position) {
        try P.check(scope: .store)
        let fold = try withView { view, transaction in try storeState(P.self, view, transaction) }
        // A read is right whether or not the next one is cheaper.
        if fold.count > mostFoldedAtOnce { _ = try? keep(P.self, fold.state, at: fold.position, seen: fold.seen) }
        return (fold.state, Position(rawValue: fold.position))
    }

    /// How many events are folded into a stored state at once.
    private var mostFoldedAtOnce: UInt64 { 2 * UInt64(options.indexLag) }

    /// How many are folded behind one commit, so that the next one hardly waits. Commits that bring more for long are caught up with behind
    /// smaller ones, or when the log is closed.
    private var mostFoldedBehindCommit: UInt64 { max(1, UInt64(options.indexLag) / 4) }

    /// Brings the stored state of a projection up to the log's end.
    func keepState<P: Projection>(_: P.Type) throws {
        let fold = try withView { view, transaction in try storeState(P.self, view, transaction) }
        if fold.count > 0 { _ = try keep(P.self, fold.state, at: fold.position, seen: fold.seen) }
    }

    /// Brings the stored states up to the log's end if they are no further from it than caches are.
    func keepStates() throws {
        let parts = 1 + 2 * options.greatestLag / mostFoldedAtOnce
        for projection in projections where projection.scope == .store {
            for _ in 0..<parts { if try !keepStateInPart(projection, of: mostFoldedAtOnce) { break } }
        }
    }

    /// Brings the stored states nearer to the log's end, if the caches were written and they are behind.
    func keepStatesIfDue() throws {
        let isDue = areStatesDue.withLock { isDue in
            defer { isDue = false }
            return isDue
        }
        guard isDue else { return }
        var isLeft = false
        for projection in projections where projection.scope == .store {
            if try keepStateInPart(projection, of: mostFoldedBehindCommit) { isLeft = true }
        }
        if isLeft { areStatesDue.withLock { $0 = true } }
    }

    /// Folds the next events, `limit` at most, into the stored state, and answers whether more are left.
    private func keepStateInPart<P: Projection>(_: P.Type, of limit: UInt64) throws -> Bool {
        let fold = try withView { view, transaction in try storeState(P.self, view, transaction, limit: limit) }
        if fold.count == 0 { return false }
        return try keep(P.self, fold.state, at: fold.position, seen: fold.seen) && fold.position < fold.seen
    }

    /// Stores `state`, which has reached `position` and was folded from what a view saw that ended at `seen`, and answers whether it did: not
    /// if somebody was erased since, for it holds what the log does not say any more.
    func keep<P: Projection>(_: P.Type, _ state: P.State, at position: UInt64, seen: UInt64) throws -> Bool {
        let key = Array(P.name.utf8)
        let row = StoreStateRow.bytes(revision: P.revision, position: position, state: P.encode(state))
        let tables = environment.tables
        return try writing.withLock { _ in
            try environment.withWriteTransaction { transaction in
                if let stored = try transaction.get(tables.checkpoints, key).flatMap({
                    StoreStateRow.read($0, revision: P.revision)
                }), stored.position >= position {
                    return false
                }
                guard try isNobodyErased(since: seen, transaction) else { return false }
                try transaction.put(tables.checkpoints, key, row)
                return true
            }
        }
    }

    /// Whether nobody was erased behind position `seen`. False as well if more stands there than is worth a look.
    func isNobodyErased(since seen: UInt64, _ transaction: borrowing WriteTransaction) throws -> Bool {
        let last = try Self.last(transaction, environment.tables)
        guard last >= seen, last - seen <= mostFoldedAtOnce else { return false }
        var isNobody = true
        try Self.scan(environment.tables, from: seen + 1, to: last, transaction) { _, header in
            isNobody = header.kind != .userErased
            return isNobody
        }
        return isNobody
    }

    /// The stored state with the position that it has reached; nil if there is none that the view can use.
    private func storedState<P: Projection>(
        _: P.Type, _ view: LogView, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> (position: UInt64, state: P.State)? {
        guard let row = try transaction.get(view.tables.checkpoints, Array(P.name.utf8)),
            let stored = StoreStateRow.read(row, revision: P.revision), stored.position <= view.last,
            let state = P.decode(stored.state)
        else { return nil }
        return (stored.position, state)
    }

    /// The stored state and what follows it in the view, of which at most `limit` events are folded.
    private func storeState<P: Projection>(
        _: P.Type, _ view: LogView, _ transaction: borrowing some Reading & ~Copyable, limit: UInt64 = .max
    ) throws -> StoreFold<P> {
        let stored = try storedState(P.self, view, transaction)
        let reached = stored?.position ?? 0
        let count = min(limit, view.last - reached)
        var fold = StoreFold<P>(
            state: stored?.state ?? P.initial, position: reached + count, seen: view.last, count: count)
        try Self.scan(view.tables, from: reached + 1, to: fold.position, transaction) { position, header in
            P.apply(EventView(header: header, position: Position(rawValue: position), names: names), to: &fold.state)
            return true
        }
        return fold
    }
}

/// A state over the whole store, folded from one view.
private struct StoreFold<P: Projection> {
    var state: P.State
    /// How far it reaches.
    let position: UInt64
    /// Where the view ended.
    let seen: UInt64
    /// How many events were folded into the stored state.
    let count: UInt64
}

/// A row of table `checkpoints` with a state: revision uint32 BE, position uint64 BE, the state, CRC-32C uint32 LE.
enum StoreStateRow {
    static func bytes(revision: UInt32, position: UInt64, state: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendBigEndian(revision)
        bytes.appendBigEndian(position)
        bytes += state
        let checksum = bytes.withUnsafeBytes { crc32c($0) }
        withUnsafeBytes(of: checksum.littleEndian) { bytes.append(contentsOf: $0) }
        return bytes
    }

    /// Nil if the row is of another revision, or damaged.
    static func read(
        _ row: UnsafeRawBufferPointer, revision: UInt32
    ) -> (position: UInt64, state: UnsafeRawBufferPointer)? {
        guard row.count >= 16, RecordHeader.hasRightChecksum(row), row.bigEndian32() == revision else { return nil }
        return (row.bigEndian64(at: 4), row.slice(12..<(row.count - 4)))
    }
}
