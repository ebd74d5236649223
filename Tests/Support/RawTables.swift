package import ProfileLog

/// The rows of a store as they are, and damage to them.
extension EventLog {
    /// Every row of a table.
    package func rows(_ name: Table.Name) throws -> [[UInt8]: [UInt8]] {
        try environment.withReadTransaction { transaction in
            var rows: [[UInt8]: [UInt8]] = [:]
            try transaction.withCursor(environment.tables[name]) { cursor in
                var row = try cursor.first()
                while let found = row {
                    rows[Array(found.key)] = Array(found.value)
                    row = try cursor.next()
                }
            }
            return rows
        }
    }

    /// Changes a row and not the log's memory, as a failing disk would.
    package func damage(_ name: Table.Name, _ key: [UInt8], _ change: (inout [UInt8]) -> Void) throws {
        var value = try rows(name)[key] ?? []
        change(&value)
        try environment.withWriteTransaction { try $0.put(WritableTable(environment.tables[name]), key, value) }
    }

    /// Removes a row and not what the log has in memory.
    package func remove(_ name: Table.Name, _ key: [UInt8]) throws {
        try environment.withWriteTransaction { try $0.delete(WritableTable(environment.tables[name]), key) }
    }
}
