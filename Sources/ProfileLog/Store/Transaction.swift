internal import CLMDB

/// The common part of a read and a write transaction: both see one frozen state of the store (a write transaction, with
/// its own changes).
@usableFromInline
package protocol Reading: ~Copyable {
    var handle: OpaquePointer { get }
}

// Generic code that calls no C function: so each user's module can specialise it.
extension Reading where Self: ~Copyable {
    /// The value under `key`, or nil. The bytes are LMDB's own (`mdb_get`): valid until the transaction ends or writes.
    @inlinable
    @inline(__always)
    package borrowing func get(
        _ table: Table, _ key: UnsafeRawBufferPointer
    ) throws(StorageError) -> UnsafeRawBufferPointer? { try table.value(of: key, in: handle) }

    /// As `get(_:_:)`, for the key of a number (`withNumberKey`).
    @inlinable
    @inline(__always)
    package borrowing func get(_ table: Table, _ number: UInt64) throws(StorageError) -> UnsafeRawBufferPointer? {
        try table.value(of: number, in: handle)
    }

    /// As `get(_:_:)`, for a key in an array.
    package borrowing func get(_ table: Table, _ key: [UInt8]) throws(StorageError) -> UnsafeRawBufferPointer? {
        try withTypedBytes(key) { (key) throws(StorageError) in try get(table, key) }
    }

    /// Returns the number of rows of `table` (`mdb_stat`).
    package borrowing func count(_ table: Table) throws(StorageError) -> Int {
        var stat = MDB_stat()
        try StorageError.check(mdb_stat(handle, table.handle, &stat), "statistics")
        return stat.ms_entries
    }

    /// Lends a cursor over `table` for the length of `body`.
    @inlinable
    package borrowing func withCursor<Result>(
        _ table: Table, _ body: (inout Cursor) throws -> Result
    ) throws -> Result {
        var cursor = try Cursor(handle, table)
        return try body(&cursor)
    }
}

// MARK: - Reading caches

extension Reading where Self: ~Copyable {
    @inlinable
    @inline(__always)
    package borrowing func get(
        _ table: WritableTable, _ key: UnsafeRawBufferPointer
    ) throws(StorageError) -> UnsafeRawBufferPointer? { try get(table.table, key) }

    @inlinable
    @inline(__always)
    package borrowing func get(_ table: WritableTable, _ number: UInt64) throws(StorageError) -> UnsafeRawBufferPointer?
    {
        try get(table.table, number)
    }

    package borrowing func get(_ table: WritableTable, _ key: [UInt8]) throws(StorageError) -> UnsafeRawBufferPointer? {
        try get(table.table, key)
    }

    @inlinable
    package borrowing func withCursor<Result>(
        _ table: WritableTable, _ body: (inout Cursor) throws -> Result
    ) throws -> Result {
        try withCursor(table.table, body)
    }
}

extension Table {
    /// `mdb_get` in the transaction with this handle.
    @usableFromInline
    package func value(
        of key: UnsafeRawBufferPointer, in transaction: OpaquePointer
    ) throws(StorageError) -> UnsafeRawBufferPointer? {
        var keyValue = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
        var value = MDB_val()
        let code = mdb_get(transaction, handle, &keyValue, &value)
        if code == MDB_NOTFOUND { return nil }
        try StorageError.check(code, "look-up")
        return UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
    }

    /// As above, for the key of a number.
    @usableFromInline
    package func value(
        of number: UInt64, in transaction: OpaquePointer
    ) throws(StorageError) -> UnsafeRawBufferPointer? {
        try withNumberKey(number) { (key) throws(StorageError) in try value(of: key, in: transaction) }
    }
}

/// A frozen view of the store, for one thread at a time (`MDB_NOTLS`). Keep it short: pages that it sees cannot be
/// reused.
@usableFromInline
package struct ReadTransaction: ~Copyable, Reading {
    @usableFromInline package let handle: OpaquePointer

    package init(_ environment: OpaquePointer) throws(StorageError) {
        handle = try StorageError.handle("read transaction") {
            mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &$0)
        }
    }

    deinit { mdb_txn_abort(handle) }

    /// The number of the commit that it sees (`mdb_txn_id`).
    package var commit: Int { mdb_txn_id(handle) }

    /// Forgets the transaction without a word to LMDB, whose memory of it stays until the process ends.
    consuming func abandon() { discard self }
}

/// The one open write transaction: borrowed by a closure, never copied, kept, or sent to another thread.
@usableFromInline
package struct WriteTransaction: ~Copyable, Reading {
    @usableFromInline package let handle: OpaquePointer

    init(_ environment: OpaquePointer) throws(StorageError) {
        handle = try StorageError.handle("write transaction") { mdb_txn_begin(environment, nil, 0, &$0) }
    }

    deinit { mdb_txn_abort(handle) }

    consuming func commit() throws(StorageError) {
        let code = mdb_txn_commit(handle)  // frees the handle, even on failure
        discard self
        try StorageError.check(code, "commit")
    }

    /// Lends a cursor that writes, for the length of `body`.
    package borrowing func withWritingCursor<Result>(
        _ table: WritableTable, _ body: (inout WritingCursor) throws -> Result
    ) throws -> Result {
        var cursor = try WritingCursor(handle, table)
        return try body(&cursor)
    }

    /// Puts `value` under `key`, over what was there (`mdb_put`).
    package borrowing func put(
        _ table: WritableTable, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) throws(StorageError) {
        var keyValue = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
        var dataValue = MDB_val(mv_size: value.count, mv_data: UnsafeMutableRawPointer(mutating: value.baseAddress))
        try StorageError.check(mdb_put(handle, table.table.handle, &keyValue, &dataValue, 0), "put")
    }

    /// As `put(_:_:_:)`, for arrays.
    package borrowing func put(_ table: WritableTable, _ key: [UInt8], _ value: [UInt8]) throws(StorageError) {
        try withTypedBytes(key) { (key) throws(StorageError) in
            try withTypedBytes(value) { (value) throws(StorageError) in try put(table, key, value) }
        }
    }

    /// Removes the row under `key`; a missing row is not an error.
    package borrowing func delete(_ table: WritableTable, _ key: [UInt8]) throws(StorageError) {
        let code = withTypedBytes(key) { key in
            var keyValue = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(mutating: key.baseAddress))
            return mdb_del(handle, table.table.handle, &keyValue, nil)
        }
        if code != MDB_NOTFOUND { try StorageError.check(code, "delete") }
    }

    /// Empties `table` (`mdb_drop`).
    package borrowing func clear(_ table: WritableTable) throws(StorageError) {
        try StorageError.check(mdb_drop(handle, table.table.handle, 0), "clear")
    }
}
