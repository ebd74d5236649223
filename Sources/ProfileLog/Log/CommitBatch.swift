/// What one commit adds to the truth, as a value: consecutive records, and the names that they use first.
///
/// Applied to two stores with the same content, it leaves the same content in both.
struct CommitBatch: Hashable, Sendable {
    var firstPosition: UInt64
    var firstName: UInt32
    var names: [Name]
    /// The records one after the other, and where each ends.
    var bytes: [UInt8]
    var ends: [Int]

    var count: Int { ends.count }
}

extension CommitBatch {
    /// The only code that writes the truth: appends the batch to `names` and `log`.
    func apply(to transaction: borrowing WriteTransaction, _ tables: Tables) throws {
        for (index, name) in names.enumerated() {
            guard try transaction.insert(tables.names, NameRow.key(firstName + UInt32(index)), NameRow.bytes(name))
            else {
                throw StorageError.damaged(place: "row \(firstName + UInt32(index)) of table names stands already")
            }
        }
        try transaction.withCursor(tables.log) { cursor in
            try bytes.withUnsafeBytes { bytes in
                var begin = 0
                var position = firstPosition
                for end in ends {
                    try cursor.append(position, bytes.slice(begin..<end))
                    begin = end
                    position += 1
                }
            }
        }
    }
}

/// A row of table `names`: the name's UTF-8 bytes, and their CRC-32C. A name that was erased has no bytes.
enum NameRow {
    static func bytes(_ name: Name) -> [UInt8] {
        var row = Array(name.text.utf8)
        let checksum = row.withUnsafeBytes { crc32c($0) }
        withUnsafeBytes(of: checksum.littleEndian) { row.append(contentsOf: $0) }
        return row
    }

    /// The row's key.
    static func key(_ number: UInt32) -> [UInt8] {
        var key: [UInt8] = []
        key.appendBigEndian(number)
        return key
    }
}
