extension OpenStore {
    /// Tells whether a service needed keys for this store, or for the one that it is a copy of: every copy of
    /// `data.mdb` knows it, while the keys are in a file of their own.
    package func hadKeys() throws -> Bool {
        try environment.withReadTransaction { try $0.get(environment.tables.meta, Array(Self.keysRow.utf8)) != nil }
    }

    /// The row of table `meta`.
    fileprivate static let keysRow = "keys"
}

extension EventLog {
    /// Notes that requests for this store need a key.
    package func noteKeys() throws {
        if try store.hadKeys() { return }
        try committer.commit(CommitBatch(meta: [.init(name: OpenStore.keysRow, value: [1])]))
    }
}
