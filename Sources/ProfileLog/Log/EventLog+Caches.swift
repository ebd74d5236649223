internal import Synchronization

extension EventLog {
    /// Drops every cache and writes it anew from the log. The log, the names and what they say are untouched.
    ///
    /// Holds the store's write lock for the length of it: some microseconds for each event of the log.
    public func rebuildCaches() throws {
        try dropCaches()
        try environment.withReadTransaction { try rebuildTail($0) }
        try writeIndex()
    }

    /// Empties the tables that can be made from the log.
    func dropCaches() throws {
        let tables = environment.tables
        try writing.withLock { _ in
            try environment.withWriteTransaction { transaction in
                for name in Table.Name.caches { try transaction.clear(tables[name]) }
            }
            try environment.withReadTransaction { try rebuildTail($0) }
        }
    }

    /// Caches that another revision of this program laid out otherwise are made anew.
    func rebuildCachesOfOtherRevisions() throws {
        let checkpoint = try environment.withReadTransaction { try IndexCheckpoint.read(environment.tables, $0) }
        if let checkpoint, checkpoint.revision != IndexCheckpoint.currentRevision { try rebuildCaches() }
    }
}

extension Table.Name {
    /// The tables that follow from the others.
    static let caches: [Table.Name] = [
        .users, .identifiers, .streams, .keys, .devices, .pending, .snapshots, .checkpoints,
    ]
}
