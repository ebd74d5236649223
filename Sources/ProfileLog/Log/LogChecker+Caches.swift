/// What the caches hold, against what the log says that they must.
extension LogChecker {
    mutating func checkStreams(_ checkpoint: UInt64, _ transaction: borrowing ReadTransaction) throws {
        var problems: [(String, String)] = []
        var entries: UInt64 = 0
        let (tables, indexed) = (tables, indexed)
        try transaction.withCursor(tables.streams) { cursor in
            var row = try cursor.first()
            while let found = row {
                guard found.key.count == 16, let positions = try? StreamRow.positions(found) else {
                    problems.append(("streams \(Hexadecimal.text(found.key))", "the row is damaged"))
                    row = try cursor.next()
                    continue
                }
                let user = found.key.bigEndian64()
                let first = found.key.bigEndian64(at: 8)
                var wrong: UInt64?
                var count: UInt64 = 0
                StreamRow.forEach(positions) { index, position in
                    if position > checkpoint { return }
                    entries += 1
                    count += 1
                    let header = (try? transaction.get(tables.log, position)).flatMap { $0 }.flatMap {
                        RecordHeader($0)
                    }
                    if header?.user != user || header?.version != first + UInt64(index) { wrong = wrong ?? position }
                }
                if let wrong {
                    problems.append(("streams \(user), \(first)", "position \(wrong) is not of this user and version"))
                }
                let version = user < indexed.count ? indexed[Int(user)] : 0
                let expected = version < first ? 0 : min(version - first + 1, UInt64(StreamRow.capacity))
                if wrong == nil, count != expected {
                    problems.append(("streams \(user), \(first)", "\(count) entries stand for \(expected) events"))
                }
                row = try cursor.next()
            }
        }
        for problem in problems { report.add(problem.0, problem.1) }
        if entries != checkpoint { report.add("streams", "\(entries) entries stand for \(checkpoint) events") }
    }

    mutating func checkIdentifiers(
        _ view: LogView, _ flush: FlushProgress?, _ transaction: borrowing ReadTransaction
    ) throws {
        let expected = facts.identifiers
        // An ID about which the tail has news may stand under its old user, its new one, the one at a flush's target, or be gone.
        func news(_ key: UnsafeRawBufferPointer, upTo last: UInt64) -> UInt64? {
            view.withTail { tail in
                tail.identifiers.find(key).flatMap { tail.owner(ofIdentifier: $0, visibleTo: last) }
                    .flatMap { $0.position > view.checkpoint ? $0.user : nil }
            }
        }
        let settled = expected.keys.count { key in key.withUnsafeBytes { news($0, upTo: view.last) == nil } }
        try compare("identifiers", tables.identifiers, settled, transaction) { row in
            guard row.value.count >= 12, RecordHeader.hasRightChecksum(row.value) else { return .wrong }
            let (user, known) = (row.value.bigEndian64(), expected[Array(row.key)])
            guard let new = news(row.key, upTo: view.last) else { return known == user ? .right : .wrong }
            if user == new || user == known { return .early }
            return flush.flatMap { news(row.key, upTo: $0.target) } == user ? .early : .wrong
        }
    }

    mutating func checkContacts(_ view: LogView, _ transaction: borrowing ReadTransaction) throws {
        let expected = facts.contacts
        try compare("contacts", tables.contacts, expected.count, transaction) { row in
            if expected.contains(Array(row.key)) { return .right }
            return view.withTail { $0.contacts.position(row.key) } != nil ? .early : .wrong
        }
    }

    mutating func checkUsers(_ transaction: borrowing ReadTransaction) throws {
        let expected = facts.users
        try compare("users", tables.users, expected.count, transaction) { row in
            guard let number = row.key.number, let user = UserRow(row.value) else { return .wrong }
            return expected[number] == user ? .right : .wrong
        }
        let checkpoint = try IndexCheckpoint.read(tables, transaction, last: .max)
        if checkpoint == nil, try transaction.get(tables.checkpoints, IndexCheckpoint.key) != nil {
            report.add("checkpoints index", "it is damaged, or of another revision")
        }
        if let checkpoint, checkpoint.users != facts.userCount {
            report.add("checkpoints index", "it counts \(checkpoint.users) users, the log \(facts.userCount)")
        }
    }

    mutating func checkDevices(_ transaction: borrowing ReadTransaction) throws {
        let expected = facts.devices
        try compare("devices", tables.devices, expected.count, transaction) { row in
            guard let status = DeviceRow.status(row.value) else { return .wrong }
            return expected[Name(String(decoding: row.key, as: UTF8.self))]?.status == status ? .right : .wrong
        }
    }

    mutating func checkPending(_ transaction: borrowing ReadTransaction) throws {
        let expected = facts.devices
        let count = expected.values.reduce(0) { $0 + $1.items.count }
        try compare("pending", tables.pending, count, transaction) { row in
            guard let length = row.key.first.map(Int.init), row.key.count == length + 21 else { return .wrong }
            let device = Name(String(decoding: row.key.slice(1..<(1 + length)), as: UTF8.self))
            guard let item = PendingRow.item(row, prefixBytes: 1 + length) else { return .wrong }
            return expected[device]?.items[item.position] == item ? .right : .wrong
        }
    }

    mutating func checkKeys(_ view: LogView, _ transaction: borrowing ReadTransaction) throws {
        let expected = facts.keys
        try compare("keys", tables.keys, expected.count, transaction) { row in
            guard row.value.count == 8 else { return .wrong }
            let (key, position) = (Array(row.key), row.value.bigEndian64())
            if let first = expected[key] { return first == position ? .right : .wrong }
            let recent = view.withTail { $0.keys.position(row.key) }
            return recent == position && position <= view.last ? .early : .wrong
        }
    }

    /// What a row of a cache is.
    private enum RowState {
        case right, wrong
        /// Right, but ahead of the checkpoint: of a flush that is under way, or was cut short.
        case early
    }

    /// No row of `table` may be wrong, and `count` must be right.
    private mutating func compare(
        _ name: String, _ table: WritableTable, _ count: Int, _ transaction: borrowing ReadTransaction,
        _ state: (Cursor.Row) -> RowState
    ) throws {
        var wrong = 0
        var rows = 0
        try transaction.withCursor(table) { cursor in
            var row = try cursor.first()
            while let found = row {
                switch state(found) {
                case .right: rows += 1
                case .wrong: (rows, wrong) = (rows + 1, wrong + 1)
                case .early: break
                }
                row = try cursor.next()
            }
        }
        if wrong > 0 { report.add(name, "\(wrong) rows do not hold what the log says") }
        if rows != count { report.add(name, "\(rows) rows stand where the log says \(count)") }
    }
}
