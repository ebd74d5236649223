extension OpenStore {
    /// Tells whether a service needed keys for this store, or for the one that it is a copy of: every copy of
    /// `data.mdb` knows it, while the keys are in a file of their own.
    package func hadKeys() throws -> Bool {
        try environment.withReadTransaction { try $0.get(environment.tables.meta, Array(Self.keysRow.utf8)) != nil }
    }

    /// Notes that requests for this store need a key.
    package func noteKeys() throws {
        if try hadKeys() { return }
        let batch = CommitBatch(meta: [.init(name: Self.keysRow, value: [1])])
        try write { transaction in
            try options.transport.deliver(batch)
            try batch.apply(to: transaction, environment.tables)
        }
    }

    /// The row of table `meta`.
    private static let keysRow = "keys"
}
