/// SHA-256 of what a store is restored from: tables `log`, `names` and `meta`, without the row of histories, which a
/// restore adds to.
///
/// Equal digests mean that two stores have the same rows. A digest of the profiles, as `replay` gives it, depends on
/// what the rows mean.
package struct TruthDigest {
    private var records = RowHash()
    private var names = RowHash()
    private var meta = RowHash()

    package init() {}

    /// Adds the next record of the log.
    package mutating func add(record: UnsafeRawBufferPointer) { records.add(record) }

    /// Adds the next row of table `names`.
    package mutating func add(name: UnsafeRawBufferPointer) { names.add(name) }

    /// As `add(record:)`, for bytes in an array.
    package mutating func add(record: [UInt8]) { record.withUnsafeBytes { records.add($0) } }

    /// As `add(name:)`, for bytes in an array.
    package mutating func add(name: [UInt8]) { name.withUnsafeBytes { names.add($0) } }

    /// Adds rows of table `meta`, in any order.
    package mutating func add(meta rows: [CommitBatch.MetaRow]) {
        meta.add(rows.filter { $0.name != LogHistories.row })
    }

    /// The digest, in hexadecimal digits.
    package var text: String {
        Hexadecimal.text(SHA256.hash(records.digest + names.digest + meta.digest))
    }
}

extension EventLog {
    /// The digest of the store's rows. Reads all of them in one transaction.
    package func truthDigest() throws -> String {
        var digest = TruthDigest()
        try environment.withReadTransaction { transaction in
            let tables = environment.tables
            digest.add(meta: try CommitBatch.meta(tables, transaction))
            try transaction.withCursor(tables.names) { cursor in
                var row = try cursor.first()
                while let found = row {
                    digest.add(name: found.value)
                    row = try cursor.next()
                }
            }
            try transaction.withCursor(tables.log) { cursor in
                var row = try cursor.first()
                while let found = row {
                    digest.add(record: found.value)
                    row = try cursor.next()
                }
            }
        }
        return digest.text
    }
}
