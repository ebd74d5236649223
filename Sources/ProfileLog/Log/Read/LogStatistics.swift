/// The size of a store: the part of its statistics that is cheap.
package struct LogExtent: Hashable, Sendable {
    /// The last event's position, which is the number of events.
    package var lastPosition: Position
    /// The number of users.
    package var users: UInt64
    /// Bytes of the store's file that hold something.
    package var usedBytes: UInt64
    /// The position up to which the caches reach.
    package var indexed: Position
}

/// The numbers of a store.
public struct LogStatistics: Hashable, Sendable {
    /// The size of the store.
    package var extent: LogExtent
    /// The number of devices with an event.
    public var devices: Int
    /// The number of devices where something waits.
    package var devicesWithPending: Int
    /// Items that wait for launches on all devices, by list.
    package var pending: [PendingKind: Int]
    /// The number of items that wait for launches, on all devices.
    public var waiting: Int { pending.values.reduce(0, +) }
    /// Items that SDKs have taken and not sent, on all devices.
    package var queued: Int
    /// Rows by table, in the order of docs/decisions/0001.
    package var tables: [Table]

    /// One table's size.
    package struct Table: Hashable, Sendable {
        /// The table's name.
        package var name: String
        /// The number of its rows.
        package var rows: Int
    }
}

extension LogExtent {
    init(of store: OpenStore, _ view: LogView) throws {
        self.init(
            lastPosition: Position(rawValue: view.last), users: try view.userCount(),
            usedBytes: store.environment.usedBytes, indexed: Position(rawValue: view.checkpoint))
    }
}

extension LogStatistics {
    init(of store: OpenStore, _ view: LogView) throws {
        let names = try view.devices()
        self.init(
            extent: try LogExtent(of: store, view), devices: names.count, devicesWithPending: 0, pending: [:],
            queued: 0,
            tables: try ProfileLogStore.Table.Name.allCases.map { name in
                .init(name: name.rawValue, rows: try view.count(view.tables[name]))
            })
        for device in names {
            let items = try view.items(device).values
            if !items.isEmpty { devicesWithPending += 1 }
            for item in items {
                if item.queued != nil {
                    queued += 1
                } else if let kind = item.kind {
                    pending[kind, default: 0] += 1
                }
            }
        }
    }
}
