/// What projections have kept, against fresh folds: snapshots of users, and states over the whole store.
extension LogChecker {
    /// Rows of table `snapshots` that are of no projection of the log: a key that is none of a snapshot hides those behind it, and of other
    /// projections' snapshots the checksum is all that can be compared.
    mutating func checkOtherSnapshots(_ transaction: borrowing ReadTransaction) throws {
        let known = log.projections.filter { $0.scope == .user }.map { KeyCoding.snapshotPrefix($0.name) }
        var problems: [(String, String)] = []
        try transaction.withCursor(tables.snapshots) { cursor in
            var row = try cursor.first()
            while let found = row {
                if let key = SnapshotKey(found.key) {
                    if !known.contains(key.prefix), !RecordHeader.hasRightChecksum(found.value) {
                        problems.append((key.place, "the checksum is wrong"))
                    }
                } else {
                    problems.append(("snapshots \(Hexadecimal.text(found.key))", "the key is none of a snapshot"))
                }
                row = try cursor.next()
            }
        }
        for problem in problems { report.add(problem.0, problem.1) }
    }

    mutating func checkSnapshots<P: Projection>(
        _: P.Type, _ view: LogView, _ transaction: borrowing ReadTransaction, _ progress: (LogProgress) -> Void
    ) throws {
        let log = log
        let prefix = KeyCoding.snapshotPrefix(P.name)
        var problems: [String] = []
        var count = 0
        let total = try UInt64(transaction.count(tables.snapshots.table))
        try transaction.withCursor(tables.snapshots) { cursor in
            var row = try cursor.seek(prefix)
            var current: (user: UInt64, version: UInt64, state: P.State)?
            while let found = row, found.key.starts(with: prefix) {
                row = try cursor.next()
                guard let key = SnapshotKey(found.key) else { continue }
                if !RecordHeader.hasRightChecksum(found.value) {
                    problems.append(key.place)
                } else if let stored = SnapshotRow.state(found.value, revision: P.revision) {
                    count += 1
                    let earlier = current?.user == key.user ? current : nil
                    var fresh = earlier?.state ?? P.initial
                    do {
                        let positions = try view.positions(
                            of: key.user, from: (earlier?.version ?? 0) + 1, to: key.version, transaction)
                        try log.fold(P.self, positions, into: &fresh, view, transaction)
                        if !P.encode(fresh).elementsEqual(stored) { problems.append(key.place) }
                        current = (key.user, key.version, fresh)
                    } catch is StorageError {
                        problems.append(key.place)
                        current = nil
                    }
                }
                if count % 4096 == 0 {
                    progress(LogProgress(stage: "snapshots", done: UInt64(count), total: total, unit: "rows"))
                }
            }
        }
        report.snapshots += count
        for place in problems { report.add(place, "it is not what a fresh fold gives") }
    }

    /// States of projections that the log was opened without: the checksum is all that can be compared.
    mutating func checkOtherStates(_ transaction: borrowing ReadTransaction) throws {
        let states = log.projections.filter { $0.scope == .store }.map { Array($0.name.utf8) }
        let known = Set(states + [IndexCheckpoint.key, FlushProgress.key])
        var damaged: [String] = []
        try transaction.withCursor(tables.checkpoints) { cursor in
            var row = try cursor.first()
            while let found = row {
                if !known.contains(Array(found.key)), !RecordHeader.hasRightChecksum(found.value) {
                    damaged.append(String(decoding: found.key, as: UTF8.self))
                }
                row = try cursor.next()
            }
        }
        for name in damaged { report.add("checkpoints \(name)", "it is damaged") }
    }

    /// A stored state over the whole store against a fresh fold up to its position.
    mutating func checkStoreState<P: Projection>(
        _: P.Type, _ transaction: borrowing ReadTransaction, _ progress: (LogProgress) -> Void
    ) throws {
        guard let row = try transaction.get(tables.checkpoints, Array(P.name.utf8)) else { return }
        let place = "checkpoints \(P.name)"
        guard RecordHeader.hasRightChecksum(row) else { return report.add(place, "it is damaged") }
        guard let stored = StoreStateRow.read(row, revision: P.revision) else { return }
        let (names, end) = (log.names, stored.position)
        var fresh = P.initial
        do {
            try EventLog.scan(tables, from: 1, to: end, transaction) { position, header in
                P.apply(EventView(header: header, position: Position(rawValue: position), names: names), to: &fresh)
                if position % 1_024 == 0 { progress(LogProgress(stage: "checkpoints", done: position, total: end)) }
                return true
            }
        } catch StorageError.damaged(let damage) {
            return report.add(place, "it cannot be compared: \(damage)")
        }
        if !P.encode(fresh).elementsEqual(stored.state) { report.add(place, "it is not what a fresh fold gives") }
    }
}

extension SnapshotKey {
    /// Where the row stands, in the words of a report.
    fileprivate var place: String { "snapshots \(projection), user \(user), version \(version)" }
}
