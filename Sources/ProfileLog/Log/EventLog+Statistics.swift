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
    /// How many devices have an event.
    public var devices: Int
    /// How many of them have something that waits.
    public var devicesWithPending: Int
    /// What waits on all devices, by list.
    public var pending: [PendingKind: Int]
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
    /// How much the store holds, as one consistent view. Looks at every device and at everything that waits.
    public func statistics() throws -> LogStatistics {
        try withView { view, transaction in
            let devices = try view.devices(transaction)
            var pending: [PendingKind: Int] = [:]
            var devicesWithPending = 0
            for device in devices {
                let items = try view.pending(device, transaction)
                if !items.isEmpty { devicesWithPending += 1 }
                for item in items { pending[item.kind, default: 0] += 1 }
            }
            return LogStatistics(
                lastPosition: Position(rawValue: view.last), users: try view.userCount(transaction),
                usedBytes: environment.usedBytes, indexed: Position(rawValue: view.checkpoint), devices: devices.count,
                devicesWithPending: devicesWithPending, pending: pending,
                tables: try Table.Name.allCases.map { name in
                    .init(name: name.rawValue, rows: try transaction.count(view.tables[name]))
                })
        }
    }

    /// How many items wait on `device`, without reading them.
    public func pendingCount(on device: String) throws -> Int {
        try withView { view, transaction in try view.pending(Name(device), transaction).count }
    }

    /// The device with this ID; nil if it has no event.
    public func device(_ device: String) throws -> DeviceInfo? {
        try withView { view, transaction in
            let row = try view.device(Name(device), transaction)
            guard row.user != nil || row.launch > 0 else { return nil }
            return DeviceInfo(
                device: device, user: row.user.map(UserNumber.init(rawValue:)),
                lastLaunch: row.launch == 0 ? nil : Position(rawValue: row.launch))
        }
    }

    /// The event at `position`; nil if the log does not reach so far.
    public func event(at position: Position) throws -> RecordedEvent? {
        guard position > .start else { return nil }
        return try events(from: position, limit: 1, scanLimit: 1).events.first
    }
}
