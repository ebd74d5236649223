/// How much a store holds.
public struct LogStatistics: Hashable, Sendable {
    /// The last event's position, which is the number of events.
    public var lastPosition: Position
    /// How many users there are.
    public var users: UInt64
    /// Bytes of the store's file that hold something.
    public var usedBytes: UInt64
    /// How far the tables that lag behind the log reach.
    public var indexed: Position
    /// Rows by table, in the order of docs/decisions/0001.
    public var tables: [Table]

    /// One table's size.
    public struct Table: Hashable, Sendable {
        /// The table's name.
        public var name: String
        /// How many rows it has.
        public var rows: Int
    }
}

extension EventLog {
    /// How much the store holds, as one consistent view.
    public func statistics() throws -> LogStatistics {
        try withView { view, transaction in
            LogStatistics(
                lastPosition: Position(rawValue: view.last), users: try view.userCount(transaction),
                usedBytes: environment.usedBytes, indexed: Position(rawValue: view.checkpoint),
                tables: try Table.Name.allCases.map { name in
                    .init(name: name.rawValue, rows: try transaction.count(view.tables[name]))
                })
        }
    }

    /// How many items wait on `device`, without reading them.
    public func pendingCount(on device: String) throws -> Int {
        try withView { view, transaction in try view.pending(Name(device), transaction).count }
    }

    /// The event at `position`; nil if the log does not reach so far.
    public func event(at position: Position) throws -> RecordedEvent? {
        guard position > .start else { return nil }
        return try events(from: position, limit: 1, scanLimit: 1).events.first
    }
}
