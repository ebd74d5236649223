extension Reading where Self: ~Copyable {
    /// Calls `body` with the rows of `table` whose keys begin with `prefix`: with all of them if it is empty.
    borrowing func forEachRow(
        of table: Table, withPrefix prefix: [UInt8] = [], _ body: (Cursor.Row) throws -> Void
    ) throws {
        try forEachRow(of: table, from: prefix) { row in
            guard row.key.starts(with: prefix) else { return false }
            try body(row)
            return true
        }
    }

    /// Calls `body` with the rows of `table` from the first whose key is `key` or greater, for as long as it answers
    /// true.
    borrowing func forEachRow(of table: Table, from key: [UInt8], _ body: (Cursor.Row) throws -> Bool) throws {
        try withCursor(table) { cursor in
            var row = try key.isEmpty ? cursor.first() : cursor.seek(key)
            while let found = row, try body(found) { row = try cursor.next() }
        }
    }
}

extension RecordHeader {
    /// The header of the record that is at `position` of the log. Throws `StorageError.damaged` with the place if there
    /// is none, or if its checksum is not that of its bytes.
    @inlinable
    @inline(__always)
    package init(_ record: UnsafeRawBufferPointer?, at position: UInt64) throws {
        guard let record else { throw StorageError.damaged(place: "position \(position) of the log is missing") }
        guard Self.hasRightChecksum(record), let header = RecordHeader(record) else {
            throw StorageError.damaged(place: "the record at position \(position) fails its checksum")
        }
        self = header
    }
}
