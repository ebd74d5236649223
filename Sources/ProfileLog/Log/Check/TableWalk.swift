/// Reads every row of a store's tables, and so finds every broken page.
package enum TableWalk {
    /// Reads every row of every table of the store in the folder `path`, and LMDB's list of free pages. Reports
    /// progress before each table and every few rows. Throws `brokenPage` if a table has more or fewer rows than LMDB
    /// counts, or not in order.
    ///
    /// For a child process that a broken page may end (`BrokenPage`): the last progress says where the page is. Of
    /// table `log` it reports positions.
    package static func readThrough(path: String, telling progress: (LogProgress) -> Void) throws {
        let environment = try Environment.open(path: path, missing: .refuse)
        try environment.withReadTransaction { transaction in
            for name in Table.Name.allCases {
                try readThrough(environment.tables[name], name.rawValue, transaction, progress) { $0.order(to: $1) < 0 }
            }
            // Each commit uses it.
            try readThrough(.freePages, "free pages", transaction, progress) { $0.native64 < $1.native64 }
        }
    }

    /// A broken page seldom ends the reading: LMDB takes its bytes for rows and goes on.
    private static func readThrough(
        _ table: Table, _ stage: String, _ transaction: borrowing ReadTransaction, _ progress: (LogProgress) -> Void,
        isAscending: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
    ) throws {
        func tell(_ done: UInt64) { progress(LogProgress(stage: stage, done: done, total: 0, unit: "rows")) }
        var rows: UInt64 = 0
        var isInOrder = true
        var previous: UnsafeRawBufferPointer?
        /// The position in table `log` before the first gap.
        var gap: UInt64?
        tell(0)
        try transaction.withCursor(table) { cursor in
            var row = try cursor.first()
            while isInOrder, let found = row {
                if let previous { isInOrder = isAscending(previous, found.key) }
                previous = found.key
                rows += 1
                if gap == nil, stage == Table.Name.log.rawValue, found.key.number != rows { gap = rows - 1 }
                if gap == nil, rows % 128 == 0 { tell(rows) }
                row = try cursor.next()
            }
        }
        if isInOrder, rows == (try UInt64(transaction.count(table))) { return }
        if let gap { tell(gap) }
        throw StorageError.brokenPage(operation: "scan")
    }
}

extension UnsafeRawBufferPointer {
    /// The number of a key of LMDB's own list, in the machine's order; 0 if it is none.
    fileprivate var native64: UInt64 { count == 8 ? loadUnaligned(as: UInt64.self) : 0 }
}
