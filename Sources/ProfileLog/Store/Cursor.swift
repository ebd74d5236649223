internal import CLMDB
internal import Glibc

/// A place in a table. Lent by `withCursor`.
///
/// Stores are opened without the system's read-ahead (`MDB_NORDAHEAD`), which would load megabytes for each row that is
/// looked up. A cursor that goes on from row to row asks for it.
@usableFromInline
package struct Cursor: ~Copyable {
    fileprivate let handle: OpaquePointer
    /// Calls of `next()` since the last jump.
    private var run = 0
    /// The address of the last row of a scan, in segments of the address space.
    private var segment: UInt = 0
    /// Segments that were asked for.
    private var loading: Set<UInt> = []

    private static let bytesPerSegment: UInt = 2 << 20
    /// A shorter run of rows may end soon: it asks for nothing.
    private static let rowsOfScan = 256

    @usableFromInline
    package init(_ transaction: OpaquePointer, _ table: Table) throws(StorageError) {
        handle = try StorageError.handle("cursor") { mdb_cursor_open(transaction, table.handle, &$0) }
    }

    package init(_ transaction: OpaquePointer, _ table: WritableTable) throws(StorageError) {
        try self.init(transaction, table.table)
    }

    deinit { mdb_cursor_close(handle) }

    /// A row's key and value: LMDB's own bytes, valid until the transaction ends or writes.
    package struct Row {
        package let key: UnsafeRawBufferPointer
        package let value: UnsafeRawBufferPointer
    }

    /// The first row of the table.
    package mutating func first() throws(StorageError) -> Row? { try move(MDB_FIRST) }

    /// The last row of the table.
    package mutating func last() throws(StorageError) -> Row? { try move(MDB_LAST) }

    /// The row after the one the cursor is on.
    @inline(__always)
    package mutating func next() throws(StorageError) -> Row? {
        let row = try move(MDB_NEXT)
        run += 1
        if run >= Self.rowsOfScan, let row {
            let segment = UInt(bitPattern: row.value.baseAddress) / Self.bytesPerSegment
            if segment != self.segment { readAhead(of: segment) }
        }
        return row
    }

    /// Asks for a segment and the next one.
    private mutating func readAhead(of segment: UInt) {
        self.segment = segment
        for segment in segment...(segment + 1) where loading.insert(segment).inserted {
            madvise(
                UnsafeMutableRawPointer(bitPattern: segment * Self.bytesPerSegment), Int(Self.bytesPerSegment),
                MADV_WILLNEED)
        }
    }

    /// The row before the one the cursor is on; on a new cursor, the last.
    @inline(__always)
    package mutating func previous() throws(StorageError) -> Row? { try move(MDB_PREV) }

    /// The first row whose key is `key` or greater (`MDB_SET_RANGE`).
    @inline(__always)
    package mutating func seek(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Row? {
        var keyValue = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
        return try get(&keyValue, MDB_SET_RANGE)
    }

    /// As `seek(_:)`, for a number (`withNumberKey`).
    @inline(__always)
    package mutating func seek(_ number: UInt64) throws(StorageError) -> Row? {
        try withNumberKey(number) { (key) throws(StorageError) in try seek(key) }
    }

    /// The value of the row of a number (`MDB_SET`), or nil. Cheaper than `get` when the next row is often close.
    @inline(__always)
    package mutating func find(_ number: UInt64) throws(StorageError) -> UnsafeRawBufferPointer? {
        try withNumberKey(number) { (key) throws(StorageError) in
            var keyValue = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
            return try get(&keyValue, MDB_SET)?.value
        }
    }

    /// As `seek(_:)`, for a key in an array. An empty one, which no row has and LMDB refuses, leads to the first row.
    package mutating func seek(_ key: [UInt8]) throws(StorageError) -> Row? {
        if key.isEmpty { return try first() }
        return try withTypedBytes(key) { (key) throws(StorageError) in try seek(key) }
    }

    /// The last row whose key is less than `key`.
    package mutating func last(before key: UnsafeRawBufferPointer) throws(StorageError) -> Row? {
        guard try seek(key) != nil else { return try last() }
        return try previous()
    }

    /// As `last(before:)`, for a key in an array.
    package mutating func last(before key: [UInt8]) throws(StorageError) -> Row? {
        if key.isEmpty { return nil }
        return try withTypedBytes(key) { (key) throws(StorageError) in try last(before: key) }
    }

    @inline(__always)
    private mutating func move(_ operation: MDB_cursor_op) throws(StorageError) -> Row? {
        var keyValue = MDB_val()
        return try get(&keyValue, operation)
    }

    @inline(__always)
    private mutating func get(_ key: inout MDB_val, _ operation: MDB_cursor_op) throws(StorageError) -> Row? {
        var value = MDB_val()
        if operation != MDB_NEXT { run = 0 }
        let code = mdb_cursor_get(handle, &key, &value, operation)
        if code == MDB_NOTFOUND { return nil }
        try StorageError.check(code, "scan")
        return Row(
            key: UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size),
            value: UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
    }
}

/// A cursor that writes, over a table that may be written. Lent by `withWritingCursor`.
package struct WritingCursor: ~Copyable {
    private var cursor: Cursor

    package init(_ transaction: OpaquePointer, _ table: WritableTable) throws(StorageError) {
        cursor = try Cursor(transaction, table)
    }

    /// The first row whose key is `key` or greater.
    @inline(__always)
    package mutating func seek(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Cursor.Row? {
        try cursor.seek(key)
    }

    /// Puts the row of a number (`withNumberKey`) after all others (`MDB_APPEND`). The key must be greater than the
    /// last.
    @inline(__always)
    package mutating func append(_ number: UInt64, _ value: UnsafeRawBufferPointer) throws(StorageError) {
        try withNumberKey(number) { (key) throws(StorageError) in
            try put(UnsafeMutableRawBufferPointer(mutating: key), value, UInt32(MDB_APPEND))
        }
    }

    /// Puts a row at the place of its key, over what was there.
    package mutating func put(_ key: [UInt8], _ value: [UInt8]) throws(StorageError) {
        try withTypedBytes(key) { (key) throws(StorageError) in
            try withTypedBytes(value) { (value) throws(StorageError) in
                try put(UnsafeMutableRawBufferPointer(mutating: key), value, 0)
            }
        }
    }

    /// Puts a row at the place of its key, over what was there.
    @inline(__always)
    package mutating func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StorageError) {
        try put(UnsafeMutableRawBufferPointer(mutating: key), value, 0)
    }

    @inline(__always)
    private mutating func put(
        _ key: UnsafeMutableRawBufferPointer, _ value: UnsafeRawBufferPointer, _ flags: UInt32
    ) throws(StorageError) {
        var keyValue = MDB_val(mv_size: key.count, mv_data: key.baseAddress)
        var dataValue = MDB_val(mv_size: value.count, mv_data: UnsafeMutableRawPointer(mutating: value.baseAddress))
        try StorageError.check(mdb_cursor_put(cursor.handle, &keyValue, &dataValue, flags), "put")
    }
}
