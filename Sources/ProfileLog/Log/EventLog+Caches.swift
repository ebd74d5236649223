internal import Synchronization

extension EventLog {
    /// Drops every cache and writes it anew from the log. The log, the names and what they say are untouched.
    ///
    /// Holds the store's write lock for the length of it: some microseconds for each event of the log. Drops nothing if the log is
    /// damaged: the caches then know of records that cannot be indexed again.
    public func rebuildCaches() throws {
        try dropCaches()
        try writeIndex()
    }

    /// Empties the tables that can be made from the log.
    func dropCaches() throws {
        try writing.withLock { _ in
            let fresh = try environment.withWriteTransaction { transaction in
                if let damage = names.damage { throw damage }
                try transaction.clearCaches(environment.tables)
                let fresh = try freshTail(transaction)
                if let damage = fresh.damage.first { throw damage.error }
                return Guarded(fresh)
            }
            replaceTail(fresh)
        }
    }

    /// Caches with a checkpoint that cannot be used, as another revision of this program leaves it, are made anew.
    func rebuildUnusableCaches() throws {
        let isUnusable = try environment.withReadTransaction { transaction in
            let tables = environment.tables
            guard try transaction.get(tables.checkpoints, IndexCheckpoint.key) != nil else { return false }
            return try IndexCheckpoint.read(tables, transaction, last: Self.last(transaction, tables)) == nil
        }
        guard isUnusable else { return }
        do {
            try rebuildCaches()
        } catch StorageError.damaged {
            // The tail is the whole log then, and reads need no cache. Who writes is told what is damaged.
        }
    }
}

extension WriteTransaction {
    /// Empties the tables that follow from the others.
    func clearCaches(_ tables: Tables) throws {
        for name in Table.Name.caches { try clear(tables[name]) }
    }
}

extension Table.Name {
    /// The tables that follow from the others.
    static let caches = allCases.filter { !$0.isTruth }
}
