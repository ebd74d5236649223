/// The changes of one commit to `log`, `names` and `meta`, as a value. These tables change in no other way.
///
/// Two stores that apply the same batches have the same content in these three tables: a batch needs no clock, no
/// chance and no path. The caches are not part of it. Each store derives them from the log (`IndexWriter`,
/// `ErasedCaches`).
package struct CommitBatch: Hashable, Sendable {
    /// The position of the first record.
    package var firstPosition: UInt64 = 0
    /// The number of the first new name.
    package var firstName: UInt32 = 0
    /// Names that these records are the first to use.
    package var names: [Name] = []
    /// The new records one after the other, and where each ends.
    package var bytes: [UInt8] = []
    package var ends: [Int] = []
    /// The tombstones: records that an erasure empties, in the order of their positions.
    package var tombstones: [BuriedRecord] = []
    /// The numbers of names that an erasure empties: no other user uses them.
    package var forgottenNames: [UInt32] = []
    /// Rows of table `meta` that get a new value.
    package var meta: [MetaRow] = []

    package init(
        firstPosition: UInt64 = 0, firstName: UInt32 = 0, names: [Name] = [], bytes: [UInt8] = [], ends: [Int] = [],
        meta: [MetaRow] = []
    ) {
        self.firstPosition = firstPosition
        self.firstName = firstName
        self.names = names
        self.bytes = bytes
        self.ends = ends
        self.meta = meta
    }

    /// A record of the log and its bytes after an erasure.
    package struct BuriedRecord: Hashable, Sendable {
        let position: UInt64
        let tombstone: [UInt8]
    }

    /// A row of table `meta`.
    package struct MetaRow: Hashable, Sendable {
        package let name: String
        package let value: [UInt8]

        package init(name: String, value: [UInt8]) { (self.name, self.value) = (name, value) }
    }

    /// The number of records that it appends.
    package var count: Int { ends.count }

    /// Calls `body` with the new records in order.
    func forEachRecord(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        try bytes.withUnsafeBytes { bytes in
            var begin = 0
            for end in ends {
                try body(bytes.slice(begin..<end))
                begin = end
            }
        }
    }
}

// MARK: - Applying

extension CommitBatch {
    /// Writes the batch into `log`, `names` and `meta`: the only code that does.
    ///
    /// With `leaving` the store's place in its cluster is removed too. No batch says so: it changes one store alone.
    func apply(to transaction: borrowing WriteTransaction, _ tables: Tables, leaving: Bool = false) throws {
        if leaving { try transaction.delete(WritableTable(tables.meta), Array(ReplicaPosition.row.utf8)) }
        if !names.isEmpty || !forgottenNames.isEmpty { try writeNames(transaction, tables) }
        for row in meta { try transaction.put(WritableTable(tables.meta), Array(row.name.utf8), row.value) }
        try transaction.withWritingCursor(WritableTable(tables.log)) { log in
            for record in tombstones {
                try withNumberKey(record.position) { key in
                    try record.tombstone.withUnsafeBytes { try log.put(key, $0) }
                }
            }
            var position = firstPosition
            try forEachRecord { record in
                try log.append(position, record)
                position += 1
            }
        }
    }

    private func writeNames(_ transaction: borrowing WriteTransaction, _ tables: Tables) throws {
        let table = WritableTable(tables.names)
        let next = UInt32(try transaction.count(tables.names)) + 1
        guard names.isEmpty || firstName == next else {
            CoverageMark.hit(.batchOfOtherNames)
            throw StorageError.damaged(place: "a batch begins with name \(firstName) where name \(next) is next")
        }
        for (index, name) in names.enumerated() {
            try transaction.put(table, NameRow.key(firstName + UInt32(index)), NameRow.bytes(name))
        }
        for number in forgottenNames { try transaction.put(table, NameRow.key(number), NameRow.bytes("")) }
    }

    /// Throws unless the batch comes next in a log that ends at position `last`.
    func refuseGap(after last: UInt64) throws(StorageError) {
        // Only rows of `meta` have no place in the log.
        if firstPosition == last + 1 || count == 0 && names.isEmpty && tombstones.isEmpty { return }
        CoverageMark.hit(.batchGap)
        throw .damaged(place: "a batch begins at position \(firstPosition) where position \(last + 1) is next")
    }
}

/// A row of table `names`: the name's UTF-8 bytes, and their CRC-32C. A name that was erased has no bytes.
enum NameRow {
    static func bytes(_ name: Name) -> [UInt8] {
        var row = Array(name.text.utf8)
        row.appendChecksum()
        return row
    }

    /// The row's key.
    static func key(_ number: UInt32) -> [UInt8] {
        var key: [UInt8] = []
        key.appendBigEndian(number)
        return key
    }
}

// MARK: - Table meta

extension CommitBatch {
    /// The format that this program writes, and the newest that it reads.
    package static let storeFormat: UInt32 = 1
    /// The format of a store of a cluster, for writers: the newest that this program writes to.
    package static let nodeFormat: UInt32 = 2
    static let writerRow = "writer"
    private static let createdRow = "created"
    private static let erasuresRow = "erasures"
    private static let rewritesRow = "rewrites"

    /// The batch that makes a store with the ID `id`: its rows of table `meta`.
    package static func creation(of id: [UInt8], at created: Timestamp) -> CommitBatch {
        var time: [UInt8] = []
        time.appendBigEndian(created.rawValue)
        let format = NameRow.key(storeFormat)
        return CommitBatch(meta: [
            MetaRow(name: "uuid", value: id), MetaRow(name: createdRow, value: time),
            MetaRow(name: "reader", value: format), MetaRow(name: writerRow, value: format),
        ])
    }

    /// The time at which the store was made, in microseconds.
    static func created(_ tables: Tables, _ transaction: borrowing some Reading & ~Copyable) throws -> Int64 {
        guard let row = try transaction.get(tables.meta, Array(createdRow.utf8)) else { return 0 }
        guard row.count == 8 else { throw StorageError.damaged(place: "row \(createdRow) of table meta") }
        return Int64(bitPattern: row.bigEndian64())
    }

    /// The number of erasures of names. A process that knows another number must load the names again.
    package static func nameErasures(_ tables: Tables, _ transaction: borrowing some Reading & ~Copyable) throws
        -> UInt32
    {
        try count(erasuresRow, tables, transaction)
    }

    /// Returns the number of erasures that rewrote records. A process that knows another number must look for records
    /// again.
    package static func rewrites(_ tables: Tables, _ transaction: borrowing some Reading & ~Copyable) throws -> UInt32 {
        try count(rewritesRow, tables, transaction)
    }

    private static func count(
        _ name: String, _ tables: Tables, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> UInt32 {
        guard let row = try transaction.get(tables.meta, Array(name.utf8)) else { return 0 }
        guard row.count == 4 else { throw StorageError.damaged(place: "row \(name) of table meta") }
        return row.bigEndian32()
    }

    /// Empties `names`, in a store with `erasures` earlier erasures of names.
    mutating func forget(_ names: [UInt32], erasures: UInt32) {
        if names.isEmpty { return }
        forgottenNames = names
        meta.append(MetaRow(name: Self.erasuresRow, value: NameRow.key(erasures + 1)))
    }

    /// Replaces records by `tombstones`, in a store whose records were rewritten `rewrites` times.
    mutating func bury(_ tombstones: [BuriedRecord], rewrites: UInt32) {
        if tombstones.isEmpty { return }
        self.tombstones = tombstones
        meta.append(MetaRow(name: Self.rewritesRow, value: NameRow.key(rewrites + 1)))
    }

    /// The rows of table `meta` of a store that is restored from one with `rows`: it is of no cluster. `hasBuried` and
    /// `hasForgotten` tell whether the restore erases records and names.
    package static func restoredMeta(
        _ rows: [MetaRow], _ histories: LogHistories, hasBuried: Bool, hasForgotten: Bool
    ) throws(StorageError) -> [MetaRow] {
        var batch = CommitBatch(meta: aloneMeta(rows).filter { $0.name != LogHistories.row })
        for (name, isRaised) in [(rewritesRow, hasBuried), (erasuresRow, hasForgotten)] where isRaised {
            let row = batch.meta.first { $0.name == name }
            guard row?.value.count ?? 4 == 4 else { throw .damaged(place: "row \(name) of table meta") }
            let count = row?.value.withUnsafeBytes { $0.bigEndian32() } ?? 0
            batch.meta.removeAll { $0.name == name }
            batch.meta.append(MetaRow(name: name, value: NameRow.key(count + 1)))
        }
        batch.meta.append(MetaRow(name: LogHistories.row, value: histories.bytes))
        return batch.meta
    }

    /// All rows of table `meta`.
    package static func meta(_ tables: Tables, _ transaction: borrowing some Reading & ~Copyable) throws -> [MetaRow] {
        var rows: [MetaRow] = []
        try transaction.forEachRow(of: tables.meta) { row in
            guard let name = String(exactly: row.key) else { throw StorageError.damaged(place: "a key of table meta") }
            rows.append(MetaRow(name: name, value: Array(row.value)))
        }
        return rows
    }
}
