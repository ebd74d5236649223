/// How large a store is: the part of its statistics that costs nothing to know.
public struct LogExtent: Hashable, Sendable {
    /// The last event's position, which is the number of events.
    public var lastPosition: Position
    /// How many users there are.
    public var users: UInt64
    /// Bytes of the store's file that hold something.
    public var usedBytes: UInt64
    /// How far the tables that lag behind the log reach.
    public var indexed: Position
}

/// How much a store holds.
public struct LogStatistics: Hashable, Sendable {
    /// How large it is.
    public var extent: LogExtent
    /// How many devices have an event.
    public var devices: Int
    /// How many of them have something that waits.
    public var devicesWithPending: Int
    /// What waits for launches on all devices, by list.
    public var pending: [PendingKind: Int]
    /// What SDKs have taken and not sent, on all devices.
    public var queued: Int
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
    /// How large the store is, as one consistent view. Reads a row or two, whatever there is.
    public func extent() throws -> LogExtent { try withView { try extent($0, $1) } }

    private func extent(_ view: LogView, _ transaction: borrowing ReadTransaction) throws -> LogExtent {
        LogExtent(
            lastPosition: Position(rawValue: view.last), users: try view.userCount(transaction),
            usedBytes: environment.usedBytes, indexed: Position(rawValue: view.checkpoint))
    }

    /// How much the store holds, as one consistent view. Looks at every device and at everything that waits.
    public func statistics() throws -> LogStatistics {
        try withView { view, transaction in
            let devices = try view.devices(transaction)
            var pending: [PendingKind: Int] = [:]
            var devicesWithPending = 0
            var queued = 0
            for device in devices {
                let items = try view.items(device, transaction).values
                if !items.isEmpty { devicesWithPending += 1 }
                for item in items {
                    if item.queued != nil {
                        queued += 1
                    } else if let kind = item.kind {
                        pending[kind, default: 0] += 1
                    }
                }
            }
            return LogStatistics(
                extent: try extent(view, transaction), devices: devices.count,
                devicesWithPending: devicesWithPending, pending: pending, queued: queued,
                tables: try Table.Name.allCases.map { name in
                    .init(name: name.rawValue, rows: try transaction.count(view.tables[name]))
                })
        }
    }

    /// How many items wait on `device` for a launch, without reading them.
    public func pendingCount(on device: String) throws -> Int {
        try withView { view, transaction in
            try view.items(Name(device), transaction).values.count { $0.queued == nil }
        }
    }

    /// The device with this ID; nil if it has no event.
    public func device(_ device: String) throws -> DeviceInfo? {
        try withView { view, transaction in
            let status = try view.device(Name(device), transaction)
            return status == DeviceStatus() ? nil : DeviceInfo(device: device, status)
        }
    }

    /// The event at `position`; nil if the log does not reach so far.
    public func event(at position: Position) throws -> RecordedEvent? {
        guard position > .start else { return nil }
        return try events(from: position, limit: 1, scanLimit: 1).events.first
    }
}
