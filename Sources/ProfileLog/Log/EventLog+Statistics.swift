/// How large a store is: the part of its statistics that costs nothing to know.
package struct LogExtent: Hashable, Sendable {
    /// The last event's position, which is the number of events.
    package var lastPosition: Position
    /// How many users there are.
    package var users: UInt64
    /// Bytes of the store's file that hold something.
    package var usedBytes: UInt64
    /// How far the tables that lag behind the log reach.
    package var indexed: Position
}

/// How much a store holds.
package struct LogStatistics: Hashable, Sendable {
    /// How large it is.
    package var extent: LogExtent
    /// How many devices have an event.
    package var devices: Int
    /// How many of them have something that waits.
    package var devicesWithPending: Int
    /// What waits for launches on all devices, by list.
    package var pending: [PendingKind: Int]
    /// What SDKs have taken and not sent, on all devices.
    package var queued: Int
    /// Rows by table, in the order of docs/decisions/0001.
    package var tables: [Table]

    /// One table's size.
    package struct Table: Hashable, Sendable {
        /// The table's name.
        package var name: String
        /// How many rows it has.
        package var rows: Int
    }
}

extension EventLog {
    /// How large the store is, as one consistent view. Reads a row or two, whatever there is.
    package func extent() throws -> LogExtent { try withView { try extent($0, $1) } }

    private func extent(_ view: LogView, _ transaction: borrowing ReadTransaction) throws -> LogExtent {
        LogExtent(
            lastPosition: Position(rawValue: view.last), users: try view.userCount(transaction),
            usedBytes: environment.usedBytes, indexed: Position(rawValue: view.checkpoint))
    }

    /// How much the store holds, as one consistent view. Looks at every device and at everything that waits.
    package func statistics() throws -> LogStatistics {
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
    package func pendingCount(on device: String) throws -> Int {
        try withView { view, transaction in
            try view.items(Name(device), transaction).values.count { $0.queued == nil }
        }
    }

    /// The device with this ID; nil if it has no event.
    package func device(_ device: String) throws -> DeviceInfo? {
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
