/// The rows of table `meta` of a store that is of a cluster: its place there, and a format of writers that an older
/// program refuses, as it would write past the cluster.
extension CommitBatch {
    /// The rows of a store whose last batch of the cluster's log is at `position`.
    package static func joinedMeta(_ position: ReplicaPosition) -> [MetaRow] {
        [
            MetaRow(name: ReplicaPosition.row, value: position.bytes),
            MetaRow(name: writerRow, value: NameRow.key(nodeFormat)),
        ]
    }

    /// `rows`, as a store has them that is of no cluster.
    package static func aloneMeta(_ rows: [MetaRow]) -> [MetaRow] {
        guard rows.contains(where: { $0.name == ReplicaPosition.row }) else { return rows }
        return rows.compactMap { row in
            switch row.name {
            case ReplicaPosition.row: nil
            case writerRow: MetaRow(name: writerRow, value: NameRow.key(storeFormat))
            default: row
            }
        }
    }
}

/// The transport of a store that another one fills, as a compaction and a restore do: it may be of a cluster, and takes
/// no commits of its own.
package struct CopyTransport: CommitTransport {
    package init() {}

    package var mostBytes: Int { .max }
    package var isReplicated: Bool { true }
    package func prepare() throws(AppendError) { throw .closed }
    package func deliver(_ batch: CommitBatch, after last: ReplicaPosition?) throws -> ReplicaPosition? {
        throw AppendError.closed
    }
    package func settle(_ batch: UndecidedBatch) throws(AppendError) -> SettledBatch { throw .closed }
    package func catchUp() throws(AppendError) -> Bool { false }
}

// MARK: - Who writes

extension OpenStore {
    private static let replicaKey = Array(ReplicaPosition.row.utf8)

    /// Refuses writes from now on, and returns the reason, if the store is of a cluster and this program is not its
    /// node. Nil if it may write.
    ///
    /// Each commit asks, as the store may have joined after this program opened it. It is one look-up in table `meta`,
    /// whose page the transaction has read already.
    func clusterRefusal(_ transaction: borrowing some Reading & ~Copyable) throws -> StorageError? {
        if options.transport.isReplicated { return nil }
        guard try transaction.get(environment.tables.meta, Self.replicaKey) != nil else { return nil }
        environment.refuseWrites(.inCluster)
        return .inCluster
    }
}

// MARK: - Leaving

extension EventLog {
    /// Takes the store in the folder `path` out of its cluster: it takes writes from every program again. Returns the
    /// place that it had; nil if it was of no cluster.
    ///
    /// Throws `inUse` if a program has it open.
    ///
    /// ```swift
    /// let place = try EventLog.leaveCluster(path: "/var/lib/profilelog")
    /// ```
    package static func leaveCluster(path: String) throws -> ReplicaPosition? {
        var options = LogOptions()
        options.transport = CopyTransport()
        let store = try OpenStore(
            path: path, create: false, options: options, projections: [], creation: nil, alone: true)
        defer { store.close() }
        return try store.leaveCluster()
    }
}

extension OpenStore {
    fileprivate func leaveCluster() throws -> ReplicaPosition? {
        let tables = environment.tables
        let place = try environment.withReadTransaction { try CommitBatch.replicaPosition(tables, $0) }
        guard let place else { return nil }
        try write { transaction in
            let writer = CommitBatch.MetaRow(name: CommitBatch.writerRow, value: NameRow.key(CommitBatch.storeFormat))
            // The other nodes may go on, with other events at the next positions.
            let last = Position(rawValue: try Self.last(transaction, tables))
            let histories = try CommitBatch.histories(tables, transaction).restored(to: last, at: options.now())
            let history = CommitBatch.MetaRow(name: LogHistories.row, value: histories.bytes)
            try CommitBatch(meta: [writer, history]).apply(to: transaction, tables, leaving: true)
        }
        return place
    }
}
