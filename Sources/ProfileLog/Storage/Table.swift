internal import CLMDB

/// One key space of an environment.
struct Table: Sendable {
    let handle: UInt32

    /// LMDB's own list of free pages, by the transaction that freed them (`FREE_DBI`).
    static let freePages = Table(handle: 0)

    /// Every table of a store, in the order in which they are made (docs/decisions/0001).
    enum Name: String, CaseIterable, Sendable {
        case meta, log, names
        case users, identifiers, contacts, streams, keys, devices, pending, snapshots, checkpoints

        /// Whether it cannot be made from the others.
        var isTruth: Bool { self == .meta || self == .log || self == .names }
    }
}

/// The handles of all tables, opened once for an environment.
struct Tables: Sendable {
    let meta, log, names: Table
    let users, identifiers, contacts, streams, keys, devices, pending, snapshots, checkpoints: Table

    init(_ open: (Table.Name) throws(StorageError) -> Table) throws(StorageError) {
        meta = try open(.meta)
        log = try open(.log)
        names = try open(.names)
        users = try open(.users)
        identifiers = try open(.identifiers)
        contacts = try open(.contacts)
        streams = try open(.streams)
        keys = try open(.keys)
        devices = try open(.devices)
        pending = try open(.pending)
        snapshots = try open(.snapshots)
        checkpoints = try open(.checkpoints)
    }

    subscript(name: Table.Name) -> Table {
        switch name {
        case .meta: meta
        case .log: log
        case .names: names
        case .users: users
        case .identifiers: identifiers
        case .contacts: contacts
        case .streams: streams
        case .keys: keys
        case .devices: devices
        case .pending: pending
        case .snapshots: snapshots
        case .checkpoints: checkpoints
        }
    }
}
