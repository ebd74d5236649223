/// A bounded look at a store: how full it is, how far its caches are, and whether a sample of its records is sound.
///
/// Changes nothing in the store and writes no caches, so it is for a store of which nothing is known yet. Takes the
/// same time and memory for a store of any size.
package struct StoreLook: Sendable {
    /// Position of the last event; 0 in an empty log.
    package private(set) var last: UInt64 = 0
    /// The time at which the last event was recorded; nil in an empty log.
    package private(set) var recordedAt: Timestamp?
    /// The position up to which usable caches reach.
    package private(set) var indexed: UInt64 = 0
    /// The number of users by the caches, and so without those of the last events.
    package private(set) var indexedUsers: UInt64 = 0
    /// Pages and readers.
    package private(set) var pages = PageUse()
    /// Rows that were read and compared with their checksums.
    package private(set) var examined = 0
    /// The damaged ones, as `log 17`; at most ``mostDamage``.
    package private(set) var damage: [String] = []
    /// The last batch of its cluster; nil if the store is in none.
    package private(set) var replica: ReplicaPosition?
    /// Tells whether the file is a mix of two: it was overwritten while a program wrote.
    package let isMixed: Bool

    /// Events that the caches lack.
    package var lag: UInt64 { last - min(indexed, last) }

    /// Records that are looked at: half of them the newest, the others spread over the log.
    package static let sample: UInt64 = 8_192
    private static let mostDamage = 10

    /// Looks at the store in the folder `path`.
    package init(path: String) throws {
        let environment = try Environment.open(path: path, missing: .refuse)
        isMixed = environment.isMixed
        pages = try environment.pageUse()
        try environment.withReadTransaction { transaction in
            let tables = environment.tables
            last = try OpenStore.last(transaction, tables)
            replica = try CommitBatch.replicaPosition(tables, transaction)
            let checkpoint = try IndexCheckpoint.read(tables, transaction, last: last)
            (indexed, indexedUsers) = (checkpoint?.position ?? 0, checkpoint?.users ?? 0)
            try examineLog(tables, transaction)
            try examineNames(tables, transaction)
        }
    }

    private mutating func examineLog(_ tables: Tables, _ transaction: borrowing ReadTransaction) throws {
        let newest = last - min(last, Self.sample / 2)
        let step = max(1, newest / (Self.sample / 2))
        var position: UInt64 = 1
        while position <= last {
            examined += 1
            let record = try transaction.get(tables.log, position)
            if let record, RecordHeader.hasRightChecksum(record), let header = RecordHeader(record) {
                recordedAt = Timestamp(rawValue: header.recordedAt)
            } else {
                note("log \(position)")
            }
            if position == last { break }
            position = position <= newest ? (newest - position < step ? newest + 1 : position + step) : position + 1
        }
    }

    private mutating func examineNames(_ tables: Tables, _ transaction: borrowing ReadTransaction) throws {
        var damaged: [String] = []
        var count = 0
        try transaction.withCursor(tables.names) { cursor in
            var row = try cursor.first()
            while let found = row, count < Int(Self.sample) {
                count += 1
                if !RecordHeader.hasRightChecksum(found.value) {
                    damaged.append("names \(found.key.count == 4 ? found.key.bigEndian32() : 0)")
                }
                row = try cursor.next()
            }
        }
        examined += count
        damaged.forEach { note($0) }
    }

    private mutating func note(_ place: String) {
        if damage.count < Self.mostDamage { damage.append(place) }
    }
}
