internal import Synchronization

/// States over the whole store: kept in table `checkpoints` with the position that they reach.
///
/// No commit waits for a fold of the log: the flush of the index, under the write lock, folds in the last events alone. Who reads a state and
/// has more to fold (nobody kept it, as after an erasure, or the flush left too many out) writes it for the next one.
extension EventLog {
    /// The state of a projection over the whole store, and the position that it has reached: the stored state, and a fold of what
    /// follows. Sees everything that was acknowledged before the call.
    ///
    /// Its cost is that of the events behind the stored state, at most some `options.indexLag` if the log was opened with the projection.
    public func state<P: Projection>(overStore _: P.Type) throws -> (state: P.State, position: Position) {
        let (state, reached, folded) = try withView { view, transaction in try storeState(P.self, view, transaction) }
        // A read is right whether or not the next one is cheaper.
        if folded > mostFoldedByFlush { try? keep(P.self, state, at: reached) }
        return (state, Position(rawValue: reached))
    }

    /// How many events the writer of the index folds into a state at most.
    private var mostFoldedByFlush: UInt64 { 2 * UInt64(options.indexLag) }

    /// Brings the stored state of a projection up to the log's end.
    func keepState<P: Projection>(_: P.Type) throws {
        let (state, reached, folded) = try withView { view, transaction in try storeState(P.self, view, transaction) }
        if folded > 0 { try keep(P.self, state, at: reached) }
    }

    /// Stores `state`, which a view saw at `position`, its end; not if somebody was erased since: it holds what the log does not say any more.
    func keep<P: Projection>(_: P.Type, _ state: P.State, at position: UInt64) throws {
        let key = Array(P.name.utf8)
        let row = StoreStateRow.bytes(revision: P.revision, position: position, state: P.encode(state))
        let tables = environment.tables
        try writing.withLock { _ in
            try environment.withWriteTransaction { transaction in
                if let stored = try transaction.get(tables.checkpoints, key).flatMap({
                    StoreStateRow.read($0, revision: P.revision)
                }), stored.position >= position {
                    return
                }
                let last = try Self.last(transaction, tables)
                guard last >= position, last - position <= mostFoldedByFlush else { return }
                var isWhole = true
                try Self.scan(tables, from: position + 1, to: last, transaction) { _, header in
                    isWhole = header.kind != .userErased
                    return isWhole
                }
                if isWhole { try transaction.put(tables.checkpoints, key, row) }
            }
        }
    }

    /// Writes the states of the projections over the whole store up to the log's end, as far as they are not too far behind it; for the writer
    /// of the index.
    func writeStoreStates(_ view: LogView, _ transaction: borrowing WriteTransaction) throws {
        for projection in projections where projection.scope == .store {
            try writeStoreState(projection, view, transaction)
        }
    }

    private func writeStoreState<P: Projection>(
        _: P.Type, _ view: LogView, _ transaction: borrowing WriteTransaction
    ) throws {
        var whole = view
        whole.last = try Self.last(transaction, view.tables)
        let reached = try storedState(P.self, whole, transaction)?.position ?? 0
        if whole.last - reached > mostFoldedByFlush { return }
        let state = try storeState(P.self, whole, transaction).state
        let row = StoreStateRow.bytes(revision: P.revision, position: whole.last, state: P.encode(state))
        try transaction.put(view.tables.checkpoints, Array(P.name.utf8), row)
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

    /// The state at the view's end, and how many events had to be folded for it.
    private func storeState<P: Projection>(
        _: P.Type, _ view: LogView, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> (state: P.State, position: UInt64, folded: UInt64) {
        let stored = try storedState(P.self, view, transaction)
        let reached = stored?.position ?? 0
        var state = stored?.state ?? P.initial
        try Self.scan(view.tables, from: reached + 1, to: view.last, transaction) { position, header in
            P.apply(EventView(header: header, position: Position(rawValue: position), names: names), to: &state)
            return true
        }
        return (state, view.last, view.last - reached)
    }
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
