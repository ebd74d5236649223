import ProfileLog

/// Every row of some tables, byte for byte.
struct TableDump: Equatable {
    private(set) var tables: [String: [Row]] = [:]

    struct Row: Equatable {
        let key: [UInt8]
        let value: [UInt8]
    }

    static let truth: [Table.Name] = [.log, .names]
    /// `meta` is skipped: each store has an ID of its own.
    static let index: [Table.Name] = [.users, .identifiers, .streams, .keys, .devices, .pending, .checkpoints]

    init(_ log: EventLog, _ names: [Table.Name]) throws {
        for name in names {
            var rows: [Row] = []
            try log.environment.withReadTransaction { transaction in
                try transaction.withCursor(log.environment.tables[name]) { cursor in
                    var row = try cursor.first()
                    while let found = row {
                        rows.append(Row(key: Array(found.key), value: Array(found.value)))
                        row = try cursor.next()
                    }
                }
            }
            tables[name.rawValue] = rows
        }
    }

    /// Returns the dump of some of its tables.
    func only(_ names: [Table.Name]) -> TableDump {
        var dump = self
        dump.tables = tables.filter { table in names.contains { $0.rawValue == table.key } }
        return dump
    }

    /// Returns the first differences of two dumps, table by table.
    func differences(from other: TableDump) -> [String] {
        tables.keys.sorted().compactMap { name in
            let (left, right) = (tables[name] ?? [], other.tables[name] ?? [])
            if left == right { return nil }
            let row = zip(left, right).prefix { $0 == $1 }.count
            return "\(name): \(left.count) and \(right.count) rows, differing from row \(row) on"
        }
    }

    /// All rows as one number: CRC-32C of keys, values and their lengths, tables by name.
    var checksum: UInt32 {
        var bytes: [UInt8] = []
        for name in tables.keys.sorted() {
            bytes += name.utf8
            for row in tables[name] ?? [] {
                bytes.appendBigEndian(UInt32(row.key.count))
                bytes += row.key
                bytes.appendBigEndian(UInt32(row.value.count))
                bytes += row.value
            }
        }
        return bytes.withUnsafeBytes { crc32c($0) }
    }
}
