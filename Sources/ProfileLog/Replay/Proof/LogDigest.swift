/// SHA-256 over rows, each as its length and its bytes: a chain of hashes, of 64 KiB or a little more each.
package struct RowHash {
    private var waiting = [UInt8](repeating: 0, count: 32)

    package init() {}

    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        waiting.appendBigEndian(UInt32(bytes.count))
        waiting.append(contentsOf: bytes)
        if waiting.count >= 1 << 16 { waiting = digest }
    }

    /// Adds rows of table `meta`, in any order.
    package mutating func add(_ rows: [CommitBatch.MetaRow]) {
        for row in rows.sorted(by: { $0.name < $1.name }) {
            for bytes in [Array(row.name.utf8), row.value] { bytes.withUnsafeBytes { add($0) } }
        }
    }

    package var digest: [UInt8] { SHA256.hash(waiting) }
}

/// Hashes of a store's truth, to compare the nodes of a cluster while writes go on. All of it is of one moment.
///
/// Of two nodes, `log` and `names` of the same positions are equal, and so is `meta`, if the same erasures were applied
/// to both (`rewrites`, `nameErasures`). At one sequence `place` is equal too.
package struct LogDigest: Hashable, Sendable {
    /// The last batch of the cluster's log that the store has; nil if it is of no cluster.
    package let place: ReplicaPosition?
    /// The position of the last event.
    package let last: Position
    /// The hash of the records.
    package let log: [UInt8]
    /// The number of the last name that these records use, and the hash of the names up to it: they are numbered in the
    /// order of their first use.
    package let nameCount: UInt32
    package let names: [UInt8]
    /// The hash of the rows of table `meta`, without the place, which changes with each batch.
    package let meta: [UInt8]
    /// The number of erasures that rewrote records, and of those that emptied names.
    package let rewrites, nameErasures: UInt32
}

extension LogReader {
    /// The digest of the records from `first` to `last`, both included, of which the log has all. Reads each of them.
    package func digest(from first: Position, to last: Position) throws -> LogDigest {
        try withView { view in
            let tables = view.tables
            var (log, names, meta) = (RowHash(), RowHash(), RowHash())
            var used: UInt32 = 0
            try OpenStore.scanRecords(tables, from: first.rawValue, to: last.rawValue, view) { position, record in
                try view.budget?.check(at: position)
                let header = try RecordHeader(record, at: position)
                RecordBody(header.body)?.forEachName(header.kind) { used = max(used, $0) }
                log.add(record)
                return true
            }
            try view.withCursor(tables.names) { cursor in
                var row = try cursor.first()
                for number in 0..<used {
                    guard let found = row else {
                        throw StorageError.damaged(place: "row \(number + 1) of table names is missing")
                    }
                    names.add(found.value)
                    row = try cursor.next()
                }
            }
            meta.add(try CommitBatch.meta(tables, view).filter { $0.name != ReplicaPosition.row })
            return LogDigest(
                place: try CommitBatch.replicaPosition(tables, view), last: Position(rawValue: view.last),
                log: log.digest, nameCount: used, names: names.digest, meta: meta.digest,
                rewrites: try CommitBatch.rewrites(tables, view),
                nameErasures: try CommitBatch.nameErasures(tables, view))
        }
    }
}
