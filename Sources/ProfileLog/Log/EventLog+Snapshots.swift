extension EventLog {
    /// Versions between two snapshots of a user that are both kept, for reads of the past.
    static let keptSnapshotInterval: UInt64 = 1024

    /// Writes a snapshot of each projection for `users`, at the view's end.
    ///
    /// Who has a damaged record gets none: that is for those to meet who read them, and no reason to keep the caches of all others back.
    func writeSnapshots(
        of users: [UInt64], _ view: LogView, _ transaction: borrowing WriteTransaction
    ) throws {
        // The streams are written, up to the view's end.
        let written = LogView(
            tail: view.tail, tables: view.tables, nameTable: names, checkpoint: view.last, last: view.last)
        for user in users {
            let version = try view.version(of: user, transaction)
            for projection in projections where projection.scope == .user {
                try writeSnapshot(projection, user, version, written, transaction)
            }
        }
    }

    private func writeSnapshot<P: Projection>(
        _: P.Type, _ user: UInt64, _ version: UInt64, _ view: LogView, _ transaction: borrowing WriteTransaction
    ) throws {
        let earlier = try snapshot(P.self, user, upTo: version, view.tables, transaction)
        if earlier?.version == version { return }
        var state = earlier?.state ?? P.initial
        let from = (earlier?.version ?? 0) + 1
        // Damage here is in a cache, which is made anew.
        let positions = try view.positions(of: user, from: from, to: version, transaction)
        do {
            try fold(P.self, positions, into: &state, view, transaction)
        } catch StorageError.damaged {
            return
        }
        try transaction.put(
            view.tables.snapshots, KeyCoding.snapshot(P.name, user: user, version: version),
            SnapshotRow.bytes(revision: P.revision, state: P.encode(state)))
        // What stands between the two was passed over: it is of another revision, or damaged.
        for key in try snapshotKeys(P.name, user, from: from, below: version, view.tables, transaction) {
            try transaction.delete(view.tables.snapshots, key)
        }
        if let earlier, earlier.version / Self.keptSnapshotInterval == version / Self.keptSnapshotInterval {
            try transaction.delete(
                view.tables.snapshots, KeyCoding.snapshot(P.name, user: user, version: earlier.version))
        }
    }

    /// The keys of a user's snapshots from version `from` to below `end`: a handful, as one is kept of every 1024 versions.
    private func snapshotKeys(
        _ projection: String, _ user: UInt64, from: UInt64, below end: UInt64, _ tables: Tables,
        _ transaction: borrowing WriteTransaction
    ) throws -> [[UInt8]] {
        let endKey = KeyCoding.snapshot(projection, user: user, version: end)
        var keys: [[UInt8]] = []
        try transaction.withCursor(tables.snapshots) { cursor in
            var row = try cursor.seek(KeyCoding.snapshot(projection, user: user, version: from))
            while let found = row, Array(found.key).lexicographicallyPrecedes(endKey) {
                keys.append(Array(found.key))
                row = try cursor.next()
            }
        }
        return keys
    }

    /// The newest usable snapshot at or before `version`.
    func snapshot<P: Projection>(
        _: P.Type, _ user: UInt64, upTo version: UInt64, _ tables: Tables,
        _ transaction: borrowing some Reading & ~Copyable
    ) throws -> (version: UInt64, state: P.State)? {
        let prefix = KeyCoding.snapshotPrefix(P.name, user: user)
        return try transaction.withCursor(tables.snapshots) { cursor in
            var row = try cursor.last(before: KeyCoding.snapshot(P.name, user: user, version: version + 1))
            while let found = row, found.key.count == prefix.count + 8, found.key.starts(with: prefix) {
                if let bytes = SnapshotRow.state(found.value, revision: P.revision), let state = P.decode(bytes) {
                    return (found.key.bigEndian64(at: prefix.count), state)
                }
                row = try cursor.previous()
            }
            return nil
        }
    }

    /// Folds the events at `positions` into `state`, at each merge after those of the user who was merged.
    ///
    /// A chain of merges may be as long as there are users, so the folds that wait for another user's do not stand on the thread's stack. It
    /// takes memory for the positions of all of these users, and a state for each link of the chain.
    func fold<P: Projection>(
        _: P.Type, _ positions: [UInt64], into state: inout P.State, _ view: LogView,
        _ transaction: borrowing some Reading & ~Copyable
    ) throws {
        var waiting: [(positions: [UInt64], next: Int, state: P.State)] = []
        var positions = positions
        var next = 0
        // Whether the user whom the event at `next` names was merged into `state`.
        var isMerged = false
        while true {
            guard next < positions.count else {
                guard var resumed = waiting.popLast() else { return }
                P.merge(state, into: &resumed.state)
                (positions, next, state) = (resumed.positions, resumed.next, resumed.state)
                isMerged = true
                continue
            }
            let position = positions[next]
            let header = try RecordHeader(transaction.get(view.tables.log, position), at: position)
            if header.kindNumber == EventKind.usersMerged.rawValue, !isMerged,
                let merged = try mergedPositions(header, position, view, transaction)
            {
                waiting.append((positions, next, state))
                (positions, next, state) = (merged, 0, P.initial)
                continue
            }
            P.apply(EventView(header: header, position: Position(rawValue: position), names: names), to: &state)
            next += 1
            isMerged = false
        }
    }

    /// Takes into `state` what the user adds up to whom the `usersMerged` event at `position` names: their stream, folded from its start.
    func merge<P: Projection>(
        _: P.Type, _ header: RecordHeader, _ position: UInt64, into state: inout P.State, _ view: LogView,
        _ transaction: borrowing some Reading & ~Copyable
    ) throws {
        guard let positions = try mergedPositions(header, position, view, transaction) else { return }
        var merged = P.initial
        try fold(P.self, positions, into: &merged, view, transaction)
        P.merge(merged, into: &state)
    }

    /// The events that the `usersMerged` event at `position` takes over; nil if it was erased.
    private func mergedPositions(
        _ header: RecordHeader, _ position: UInt64, _ view: LogView, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> [UInt64]? {
        guard let body = RecordBody(header.body), !body.erased, let source = body.otherUser else { return nil }
        let positions = try view.positions(of: source, from: 1, to: body.otherVersion, transaction)
        // Everything that is merged came before; so merges of merges end.
        guard positions.last ?? 0 < position else {
            throw StorageError.damaged(place: "the merge at position \(position) names events that came later")
        }
        return positions
    }

    /// The state of `user` after `version` of their events: nearest snapshot, and a fold of what follows.
    func state<P: Projection>(
        _: P.Type, _ user: UInt64, version: UInt64, _ view: LogView, _ transaction: borrowing ReadTransaction
    ) throws -> P.State {
        try foldedState(P.self, user, version: version, view, transaction).state
    }

    /// As `state`, with how much there was to fold.
    func foldedState<P: Projection>(
        _: P.Type, _ user: UInt64, version: UInt64, _ view: LogView, _ transaction: borrowing ReadTransaction
    ) throws -> UserFold<P> {
        let earlier = try snapshot(P.self, user, upTo: version, view.tables, transaction)
        var state = earlier?.state ?? P.initial
        let from = (earlier?.version ?? 0) + 1
        let positions = try view.positions(of: user, from: from, to: version, transaction)
        try fold(P.self, positions, into: &state, view, transaction)
        return UserFold(state: state, version: version, indexed: positions.count { $0 <= view.checkpoint })
    }
}

/// The state of one user after `version` of their events.
struct UserFold<P: Projection> {
    let state: P.State
    let version: UInt64
    /// How many events were folded behind the nearest snapshot that the index holds: of the others its next flush makes one.
    let indexed: Int
}

/// A row of table `snapshots`.
enum SnapshotRow {
    static func bytes(revision: UInt32, state: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(state.count + 8)
        bytes.appendBigEndian(revision)
        bytes += state
        let checksum = bytes.withUnsafeBytes { crc32c($0) }
        withUnsafeBytes(of: checksum.littleEndian) { bytes.append(contentsOf: $0) }
        return bytes
    }

    /// The state in a row; nil if the row is of another revision or fails its checksum.
    static func state(_ row: UnsafeRawBufferPointer, revision: UInt32) -> UnsafeRawBufferPointer? {
        guard row.count >= 8, RecordHeader.hasRightChecksum(row), row.bigEndian32() == revision else { return nil }
        return row.slice(4..<(row.count - 4))
    }
}
