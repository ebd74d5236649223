internal import CLMDB

/// One key space of an environment, for reading.
@usableFromInline
package struct Table: Equatable, Sendable {
    package let handle: UInt32

    /// LMDB's own list of free pages, by the transaction that freed them (`FREE_DBI`).
    package static let freePages = Table(handle: 0)

    /// Every table of a store, in the order in which they are made (docs/decisions/0001).
    package enum Name: String, CaseIterable, Sendable {
        case meta, log, names
        case users, identifiers, contacts, streams, keys, devices, pending, snapshots, checkpoints

        /// Tells whether it cannot be rebuilt from the others.
        package var isTruth: Bool { self == .meta || self == .log || self == .names }
    }
}

/// A table that a write transaction may change.
///
/// `Tables` has one for each cache. Only `CommitBatch.apply` makes them for `log`, `names` and `meta`
/// (`CommitBatchTests.writers`).
@usableFromInline
package struct WritableTable: Equatable, Sendable {
    @usableFromInline package let table: Table

    package init(_ table: Table) { self.table = table }
}

/// The handles of all tables, opened once for an environment. The tables of the truth can be opened without the others.
package struct Tables: Equatable, Sendable {
    package let meta, log, names: Table
    package let users, identifiers, contacts, streams, keys, devices, pending, snapshots, checkpoints: WritableTable

    package init(_ open: (Table.Name) throws(StorageError) -> Table) throws(StorageError) {
        meta = try open(.meta)
        log = try open(.log)
        names = try open(.names)
        users = WritableTable(try open(.users))
        identifiers = WritableTable(try open(.identifiers))
        contacts = WritableTable(try open(.contacts))
        streams = WritableTable(try open(.streams))
        keys = WritableTable(try open(.keys))
        devices = WritableTable(try open(.devices))
        pending = WritableTable(try open(.pending))
        snapshots = WritableTable(try open(.snapshots))
        checkpoints = WritableTable(try open(.checkpoints))
    }

    package subscript(name: Table.Name) -> Table {
        switch name {
        case .meta: meta
        case .log: log
        case .names: names
        case .users: users.table
        case .identifiers: identifiers.table
        case .contacts: contacts.table
        case .streams: streams.table
        case .keys: keys.table
        case .devices: devices.table
        case .pending: pending.table
        case .snapshots: snapshots.table
        case .checkpoints: checkpoints.table
        }
    }

    /// The tables that follow from the others.
    package var caches: [WritableTable] {
        [users, identifiers, contacts, streams, keys, devices, pending, snapshots, checkpoints]
    }
}
