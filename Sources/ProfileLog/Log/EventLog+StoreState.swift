/// States over the whole store: kept in table `checkpoints` with the position that they reach.
extension EventLog {
    /// The state of a projection over the whole store, and the position that it has reached: the stored state, and a fold of what
    /// follows. Sees everything that was acknowledged before the call.
    ///
    /// Its cost is that of the events behind the stored state, at most some `options.indexLag` if the log was opened with the projection.
    public func state<P: Projection>(overStore _: P.Type) throws -> (state: P.State, position: Position) {
        try withView { view, transaction in
            let state = try storeState(P.self, view, transaction)
            return (state, Position(rawValue: view.last))
        }
    }

    /// Writes the states of the projections over the whole store up to the view's end; for the writer of the index.
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
        let state = try storeState(P.self, whole, transaction)
        let row = StoreStateRow.bytes(revision: P.revision, position: whole.last, state: P.encode(state))
        try transaction.put(view.tables.checkpoints, Array(P.name.utf8), row)
    }

    private func storeState<P: Projection>(
        _: P.Type, _ view: LogView, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> P.State {
        var state = P.initial
        var reached: UInt64 = 0
        if let row = try transaction.get(view.tables.checkpoints, Array(P.name.utf8)),
            let stored = StoreStateRow.read(row, revision: P.revision), stored.position <= view.last,
            let decoded = P.decode(stored.state)
        {
            state = decoded
            reached = stored.position
        }
        try Self.scan(view.tables, from: reached + 1, to: view.last, transaction) { position, header in
            P.apply(EventView(header: header, position: Position(rawValue: position), names: names), to: &state)
            return true
        }
        return state
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
