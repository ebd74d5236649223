/// Walks through all tables and compares each with what the log says it must hold.
struct LogChecker {
    let log: EventLog
    let tables: Tables
    var report = CheckReport()
    /// Versions by user number, as far as the log was read.
    private(set) var versions: [UInt64] = []
    /// The same, as far as the caches reach.
    private(set) var indexed: [UInt64] = []
    private(set) var facts = IndexFacts()

    /// What the caches must hold up to the checkpoint, by the log.
    struct IndexFacts {
        var identifiers: [[UInt8]: UInt64] = [:]
        var contacts: Set<[UInt8]> = []
        var users: [UInt64: UserRow] = [:]
        var devices: [Name: DeviceState] = [:]
        var keys: [[UInt8]: UInt64] = [:]
        var userCount: UInt64 = 0
    }

    init(log: EventLog) {
        self.log = log
        tables = log.environment.tables
    }

    mutating func run(_ progress: (LogProgress) -> Void) throws {
        // One transaction for all: what another process writes at the same time is not seen.
        try log.withView(whateverIsDamaged: true) { view, transaction in
            let (last, checkpoint) = (view.last, view.checkpoint)
            // Said before a table is read: a page of it may be the last thing that is.
            func begin(_ table: Table.Name) {
                progress(LogProgress(stage: table.rawValue, done: 0, total: 0, unit: "rows"))
            }
            begin(.names)
            try checkNames(transaction)
            begin(.log)
            try checkLog(to: last, checkpoint, transaction, progress)
            begin(.streams)
            try checkStreams(checkpoint, transaction)
            // Also the first one, before there is a checkpoint.
            let flush = try FlushProgress.known(tables, transaction, checkpoint: checkpoint, last: last)
            begin(.identifiers)
            try checkIdentifiers(view, flush, transaction)
            begin(.contacts)
            try checkContacts(view, transaction)
            bringAhead(view, flush)
            begin(.users)
            try checkUsers(transaction)
            begin(.devices)
            try checkDevices(transaction)
            begin(.pending)
            try checkPending(transaction)
            begin(.keys)
            try checkKeys(view, transaction)
            // With a name that is not what it was, a fold gives another state.
            if log.names.damage != nil { return }
            begin(.snapshots)
            try checkOtherSnapshots(transaction)
            for projection in log.store.projections where projection.scope == .user {
                try checkSnapshots(projection, view, transaction, progress)
            }
            begin(.checkpoints)
            try checkOtherStates(transaction)
            for projection in log.store.projections where projection.scope == .store {
                try checkStoreState(projection, transaction, progress)
            }
        }
        report.users = versions.dropFirst().count { $0 > 0 }
    }

    // MARK: - Truth

    private mutating func checkNames(_ transaction: borrowing ReadTransaction) throws {
        var problems: [(String, String)] = []
        var count: UInt32 = 0
        try transaction.withCursor(tables.names) { cursor in
            var row = try cursor.first()
            while let found = row {
                count += 1
                let number = found.key.count == 4 ? found.key.bigEndian32() : 0
                if number != count { problems.append(("names \(number)", "number \(count) was expected")) }
                if !RecordHeader.hasRightChecksum(found.value) {
                    problems.append(("names \(number)", "the checksum is wrong"))
                } else if String(validating: found.value.dropLast(4), as: UTF8.self) == nil {
                    problems.append(("names \(number)", "the bytes are not UTF-8"))
                }
                row = try cursor.next()
            }
        }
        report.names = Int(count)
        for problem in problems { report.add(problem.0, problem.1) }
    }

    private mutating func checkLog(
        to last: UInt64, _ checkpoint: UInt64, _ transaction: borrowing ReadTransaction,
        _ progress: (LogProgress) -> Void
    ) throws {
        var expected: UInt64 = 1
        var recordedAt: Int64 = 0
        var chunk = Tail(base: 0, userCount: 0, lastRecordedAt: 0)
        var checker = self
        try transaction.withCursor(tables.log) { cursor in
            var row = try cursor.first()
            while let found = row {
                guard let position = found.key.number else {
                    checker.report.add("log key \(Hexadecimal.text(found.key))", "the key is no position")
                    row = try cursor.next()
                    continue
                }
                if position > last { break }
                while expected < position, expected <= last {
                    checker.report.add("log \(expected)", "the record is missing")
                    expected += 1
                    checker.drain(&chunk, nextBase: expected - 1)
                }
                checker.checkRecord(found.value, position, &recordedAt, &chunk, isIndexed: position <= checkpoint)
                expected = position + 1
                if position % 65_536 == 0 { checker.drain(&chunk, nextBase: position) }
                if position % 1_024 == 0 {
                    progress(LogProgress(stage: "log", done: position, total: last))
                }
                row = try cursor.next()
            }
        }
        while expected <= last {
            checker.report.add("log \(expected)", "the record is missing")
            expected += 1
        }
        checker.drain(&chunk, nextBase: last)
        checker.report.events = last
        checker.checkUserNumbers()
        self = checker
        progress(LogProgress(stage: "log", done: last, total: last))
    }

    private mutating func checkRecord(
        _ record: UnsafeRawBufferPointer, _ position: UInt64, _ recordedAt: inout Int64, _ chunk: inout Tail,
        isIndexed: Bool
    ) {
        let place = "log \(position)"
        guard RecordHeader.hasRightChecksum(record) else {
            report.add(place, "the checksum is wrong")
            drain(&chunk, nextBase: position)
            return
        }
        guard let header = RecordHeader(record),
            RecordedEvent(header, position: Position(rawValue: position), names: log.names.current) != nil
        else {
            report.add(place, "the record is unreadable")
            drain(&chunk, nextBase: position)
            return
        }
        if header.recordedAt < recordedAt { report.add(place, "it is recorded before the one before it") }
        recordedAt = max(recordedAt, header.recordedAt)
        let user = Int(clamping: header.user)
        if header.user > position {
            report.add(place, "the user number is out of range")
            drain(&chunk, nextBase: position)
            return
        }
        while versions.count <= user {
            versions.append(0)
            indexed.append(0)
        }
        if header.version != versions[user] + 1 {
            report.add(
                place, "version \(versions[user] + 1) of user \(header.user) was expected, not \(header.version)")
        }
        if header.kind == .userCreated, header.version != 1 {
            report.add(place, "user \(header.user) is created a second time")
        }
        versions[user] = header.version
        if isIndexed {
            indexed[user] = header.version
            chunk.add(header)
        }
    }

    /// Users are numbered without gaps. (Where a record is unreadable, it cannot be told.)
    private mutating func checkUserNumbers() {
        guard report.problems.isEmpty else { return }
        for user in versions.indices.dropFirst() where versions[user] == 0 {
            report.add("log", "there is a user \(versions.count - 1), and no user \(user)")
        }
    }

    /// Moves what the chunk's events say into `facts`, and begins another chunk after `nextBase`.
    private mutating func drain(_ chunk: inout Tail, nextBase: UInt64) {
        for index in 0..<chunk.identifiers.count {
            let key = chunk.identifiers.withBytes(of: index) { Array($0) }
            guard let user = chunk.owner(ofIdentifier: index, visibleTo: .max)?.user else { continue }
            facts.identifiers[key] = user == 0 ? nil : user
        }
        for index in 0..<chunk.contacts.count {
            facts.contacts.insert(chunk.contacts.keys.withBytes(of: index) { Array($0) })
        }
        facts.users.apply(chunk) { _ in true }
        for (device, changes) in chunk.devices where !device.text.isEmpty {
            for change in changes { facts.devices[device, default: DeviceState()].apply(change.change) }
        }
        for index in 0..<chunk.keys.count {
            facts.keys[chunk.keys.hashes.withBytes(of: index) { Array($0) }] = chunk.keys.positions[index]
        }
        facts.userCount = max(facts.userCount, chunk.userCount)
        chunk = Tail(base: nextBase, userCount: 0, lastRecordedAt: 0)
    }

    /// Moves into `facts` what those rows hold that a flush under way has brought ahead of the checkpoint.
    private mutating func bringAhead(_ view: LogView, _ flush: FlushProgress?) {
        guard let flush else { return }
        func isNew(_ position: UInt64) -> Bool { position > flush.checkpoint && position <= flush.target }
        view.withTail { tail in
            let others = tail.changedUsers.filter { !flush.hasWritten(user: $0) }.map { ($0, facts.users[$0]) }
            facts.users.apply(tail, where: isNew)
            for (user, row) in others { facts.users[user] = row }
            for (device, changes) in tail.devices where flush.hasWritten(device: device) && !device.text.isEmpty {
                for (change, position) in changes where isNew(position) {
                    facts.devices[device, default: DeviceState()].apply(change)
                }
            }
        }
    }
}

/// What `check` found.
public struct CheckReport: Hashable, Sendable {
    /// Events read.
    package internal(set) var events: UInt64 = 0
    /// Users who have any.
    package internal(set) var users = 0
    /// Names read.
    package internal(set) var names = 0
    /// Snapshots compared with a fresh fold.
    package internal(set) var snapshots = 0
    /// What is wrong, the first thousand places.
    package internal(set) var problems: [CheckProblem] = []

    /// Whether nothing is wrong.
    public var isSound: Bool { problems.isEmpty }

    mutating func add(_ place: String, _ what: String) {
        if problems.count < 1000 { problems.append(CheckProblem(place: place, what: what)) }
    }
}

/// One thing that is wrong in a store, and where.
package struct CheckProblem: Hashable, Sendable, CustomStringConvertible {
    /// Table and row, or position.
    package var place: String
    /// What is wrong there.
    package var what: String

    /// Both in one line.
    package var description: String { "\(place): \(what)" }
}

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
        // An ID about which the tail has news may be under its old user, its new one, the one at a flush's target, or
        // be gone.
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

/// What projections have kept, against fresh folds: snapshots of users, and states over the whole store.
extension LogChecker {
    /// Rows of table `snapshots` that are of no projection of the log: a key that is none of a snapshot hides those
    /// after it, and of other projections' snapshots the checksum is all that can be compared.
    mutating func checkOtherSnapshots(_ transaction: borrowing ReadTransaction) throws {
        let known = log.store.projections.filter { $0.scope == .user }.map { KeyCoding.snapshotPrefix($0.name) }
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
                        try log.states.fold(P.self, positions, into: &fresh, view, transaction)
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
        let states = log.store.projections.filter { $0.scope == .store }.map { Array($0.name.utf8) }
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
            try OpenStore.scan(tables, from: 1, to: end, transaction) { position, header in
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
    /// Where the row is, in the words of a report.
    fileprivate var place: String { "snapshots \(projection), user \(user), version \(version)" }
}
