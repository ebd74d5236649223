/// Reads all tables and compares each with the log.
struct LogChecker {
    let log: EventLog
    let view: LogView
    let tables: Tables
    var report = CheckReport()
    /// Versions by user number, as far as the log was read.
    private(set) var versions: [UInt64] = []
    /// The same, as far as the caches reach.
    private(set) var indexed: [UInt64] = []
    private(set) var facts = IndexFacts()
    /// The stored states that are read, and those that are a shadow.
    private var generations = Generations()

    /// The rows that the caches must hold up to the checkpoint, derived from the log.
    struct IndexFacts {
        var identifiers: [[UInt8]: UInt64] = [:]
        var contacts: Set<[UInt8]> = []
        var users: [UInt64: UserRow] = [:]
        var devices: [Name: DeviceState] = [:]
        var keys: [[UInt8]: UInt64] = [:]
        var userCount: UInt64 = 0
    }

    /// One view for everything: it does not see what other processes write during the check.
    init(_ log: EventLog, _ view: LogView) {
        self.log = log
        self.view = view
        tables = view.tables
    }

    mutating func run(_ progress: (LogProgress) -> Void) throws {
        if log.store.environment.isMixed {
            report.add(
                "data.mdb", "its two first pages are of different copies: it was overwritten while it was in use")
        }
        // Also the first one, before there is a checkpoint.
        let flush = try FlushProgress.known(tables, view, checkpoint: view.checkpoint, last: view.last)
        generations = try Generations.read(tables, view)
        let order: [Table.Name] = [
            .names, .log, .streams, .identifiers, .contacts, .users, .devices, .pending, .keys, .snapshots,
            .checkpoints,
        ]
        for table in order {
            // With a wrong name a fold gives another state.
            if log.names.damage != nil, table == .snapshots || table == .checkpoints { continue }
            // Reported before a table is read: a broken page may end the process there.
            progress(LogProgress(stage: table.rawValue, done: 0, total: 0, unit: "rows"))
            switch table {
            case .names: try checkNames()
            case .log: try checkLog(progress)
            case .streams: try checkStreams()
            case .identifiers: try checkIdentifiers(flush)
            case .contacts: try checkContacts()
            case .users:
                bringAhead(flush)
                try checkUsers()
            case .devices: try checkDevices()
            case .pending: try checkPending()
            case .keys: try checkKeys()
            case .snapshots: try checkSnapshots(progress)
            case .checkpoints: try checkStates(progress)
            case .meta: break
            }
        }
        try checkHistories()
        report.users = versions.dropFirst().count { $0 > 0 }
    }

    // MARK: - Truth

    /// No history begins later than the next event.
    private mutating func checkHistories() throws {
        guard let row = try view.get(tables.meta, Array(LogHistories.row.utf8)) else { return }
        guard let histories = LogHistories(row) else {
            return report.add("meta \(LogHistories.row)", "the row is no list of histories")
        }
        if histories.newest.from.rawValue > view.last + 1 {
            report.add("meta \(LogHistories.row)", "a history begins later than the next event")
        }
    }

    private mutating func checkNames() throws {
        var count: UInt32 = 0
        try view.forEachRow(of: tables.names) { row in
            count += 1
            let number = row.key.count == 4 ? row.key.bigEndian32() : 0
            if number != count { report.add("names \(number)", "number \(count) was expected") }
            if !RecordHeader.hasRightChecksum(row.value) {
                report.add("names \(number)", "the checksum is wrong")
            } else if String(validating: row.value.dropLast(4), as: UTF8.self) == nil {
                report.add("names \(number)", "the bytes are not UTF-8")
            }
        }
        report.names = Int(count)
    }

    private mutating func checkLog(_ progress: (LogProgress) -> Void) throws {
        let last = view.last
        var expected: UInt64 = 1
        var recordedAt: Int64 = 0
        var chunk = Tail(base: 0, userCount: 0, lastRecordedAt: 0)
        try view.forEachRow(of: tables.log, from: []) { row in
            guard let position = row.key.number else {
                report.add("log key \(Hexadecimal.text(row.key))", "the key is no position")
                return true
            }
            if position > last { return false }
            while expected < position {
                report.add("log \(expected)", "the record is missing")
                expected += 1
                drain(&chunk, nextBase: expected - 1)
            }
            checkRecord(row.value, position, &recordedAt, &chunk, isIndexed: position <= view.checkpoint)
            expected = position + 1
            if position % 65_536 == 0 { drain(&chunk, nextBase: position) }
            if position % 1_024 == 0 { progress(LogProgress(stage: "log", done: position, total: last)) }
            return true
        }
        while expected <= last {
            report.add("log \(expected)", "the record is missing")
            expected += 1
        }
        drain(&chunk, nextBase: last)
        report.events = last
        checkUserNumbers()
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

    /// Adds the chunk's events to `facts`, and begins another chunk after `nextBase`.
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

    /// Adds to `facts` the rows that a running flush has written ahead of the checkpoint.
    private mutating func bringAhead(_ flush: FlushProgress?) {
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

/// The findings of `check`.
public struct CheckReport: Hashable, Sendable, CustomStringConvertible {
    /// Events read.
    package internal(set) var events: UInt64 = 0
    /// Users who have any.
    package internal(set) var users = 0
    /// Names read.
    package internal(set) var names = 0
    /// Snapshots compared with a fresh fold.
    package internal(set) var snapshots = 0
    /// Problems, the first thousand places.
    package internal(set) var problems: [CheckProblem] = []

    /// Tells whether nothing is wrong.
    public var isSound: Bool { problems.isEmpty }
    /// Problems and their places, one on each line; of a sound store a line with what was read.
    public var description: String {
        isSound ? "\(events) events of \(users) users are sound.\n" : problems.map { "\($0)\n" }.joined()
    }

    package mutating func add(_ place: String, _ what: String) {
        if problems.count < 1000 { problems.append(CheckProblem(place: place, what: what)) }
    }
}

/// A problem in a store, and its place.
package struct CheckProblem: Hashable, Sendable, CustomStringConvertible {
    /// Table and row, or position.
    package var place: String
    /// The damage at that place, and its remedy.
    package var what: String

    /// The sentence and its remedy in one line.
    package var description: String { "\(place): \(what)" }
}

/// Compares the caches with what the log says they must hold.
extension LogChecker {
    mutating func checkStreams() throws {
        var entries: UInt64 = 0
        try view.forEachRow(of: tables.streams.table) { row in
            guard row.key.count == 16, let positions = try? StreamRow.positions(row) else {
                return report.add("streams \(Hexadecimal.text(row.key))", "the row is damaged")
            }
            let user = row.key.bigEndian64()
            let first = row.key.bigEndian64(at: 8)
            var wrong: UInt64?
            var count: UInt64 = 0
            StreamRow.forEach(positions) { index, position in
                if position > view.checkpoint { return }
                count += 1
                let header = (try? view.get(tables.log, position)).flatMap { $0 }.flatMap { RecordHeader($0) }
                if header?.user != user || header?.version != first + UInt64(index) { wrong = wrong ?? position }
            }
            entries += count
            if let wrong {
                return report.add("streams \(user), \(first)", "position \(wrong) is not of this user and version")
            }
            let version = user < indexed.count ? indexed[Int(user)] : 0
            let expected = version < first ? 0 : min(version - first + 1, UInt64(StreamRow.capacity))
            if count != expected {
                report.add("streams \(user), \(first)", "\(count) entries for \(expected) events")
            }
        }
        if entries != view.checkpoint {
            report.add("streams", "\(entries) entries for \(view.checkpoint) events")
        }
    }

    mutating func checkIdentifiers(_ flush: FlushProgress?) throws {
        let (expected, view) = (facts.identifiers, view)
        // The row of an ID that the tail changes may name the old user, the new one, or the one at a flush's target; or
        // it is gone.
        func news(_ key: UnsafeRawBufferPointer, upTo last: UInt64) -> UInt64? {
            view.withTail { tail in
                tail.identifiers.find(key).flatMap { tail.owner(ofIdentifier: $0, visibleTo: last) }
                    .flatMap { $0.position > view.checkpoint ? $0.user : nil }
            }
        }
        let settled = expected.keys.count { key in key.withUnsafeBytes { news($0, upTo: view.last) == nil } }
        try compare(.identifiers, settled) { row in
            guard row.value.count >= 12, RecordHeader.hasRightChecksum(row.value) else { return .wrong }
            let (user, known) = (row.value.bigEndian64(), expected[Array(row.key)])
            guard let new = news(row.key, upTo: view.last) else { return known == user ? .right : .wrong }
            if user == new || user == known { return .early }
            return flush.flatMap { news(row.key, upTo: $0.target) } == user ? .early : .wrong
        }
    }

    mutating func checkContacts() throws {
        let (expected, view) = (facts.contacts, view)
        try compare(.contacts, expected.count) { row in
            if expected.contains(Array(row.key)) { return .right }
            return view.withTail { $0.contacts.position(row.key) } != nil ? .early : .wrong
        }
    }

    mutating func checkUsers() throws {
        let expected = facts.users
        try compare(.users, expected.count) { row in
            guard let number = row.key.number, let user = UserRow(row.value) else { return .wrong }
            return expected[number] == user ? .right : .wrong
        }
        let checkpoint = try IndexCheckpoint.read(tables, view, last: .max)
        if checkpoint == nil, try view.get(tables.checkpoints, IndexCheckpoint.key) != nil {
            report.add("checkpoints index", "it is damaged, or of another revision")
        }
        if let checkpoint, checkpoint.users != facts.userCount {
            report.add("checkpoints index", "it counts \(checkpoint.users) users, the log \(facts.userCount)")
        }
    }

    mutating func checkDevices() throws {
        let expected = facts.devices
        try compare(.devices, expected.count) { row in
            guard let status = DeviceRow.status(row.value) else { return .wrong }
            return expected[Name(String(decoding: row.key, as: UTF8.self))]?.status == status ? .right : .wrong
        }
    }

    mutating func checkPending() throws {
        let expected = facts.devices
        let count = expected.values.reduce(0) { $0 + $1.items.count }
        try compare(.pending, count) { row in
            guard let length = row.key.first.map(Int.init), row.key.count == length + 21 else { return .wrong }
            let device = Name(String(decoding: row.key.slice(1..<(1 + length)), as: UTF8.self))
            guard let item = PendingRow.item(row, prefixBytes: 1 + length) else { return .wrong }
            return expected[device]?.items[item.position] == item ? .right : .wrong
        }
    }

    mutating func checkKeys() throws {
        let (expected, view) = (facts.keys, view)
        try compare(.keys, expected.count) { row in
            guard row.value.count == 8 else { return .wrong }
            let (key, position) = (Array(row.key), row.value.bigEndian64())
            if let first = expected[key] { return first == position ? .right : .wrong }
            let recent = view.withTail { $0.keys.position(row.key) }
            return recent == position && position <= view.last ? .early : .wrong
        }
    }

    /// The state of a row of a cache.
    private enum RowState {
        case right, wrong
        /// Right, but ahead of the checkpoint: from a flush that runs or was interrupted.
        case early
    }

    /// No row of `table` may be wrong, and `count` must be right.
    private mutating func compare(_ table: Table.Name, _ count: Int, _ state: (Cursor.Row) -> RowState) throws {
        var wrong = 0
        var rows = 0
        try view.forEachRow(of: tables[table]) { row in
            let state = state(row)
            if state != .early { rows += 1 }
            if state == .wrong { wrong += 1 }
        }
        if wrong > 0 { report.add(table.rawValue, "\(wrong) rows do not hold what the log says") }
        if rows != count { report.add(table.rawValue, "\(rows) rows, and the log says \(count)") }
    }
}

/// Compares stored states of projections with fresh folds: snapshots of users, and states over the whole store.
extension LogChecker {
    /// Checks snapshots; of other projections' rows only the checksum can be compared. A key that belongs to no
    /// snapshot hides those after it.
    mutating func checkSnapshots(_ progress: (LogProgress) -> Void) throws {
        let projections = log.store.projections.filter { $0.scope == .user }
        let names = projections.map { storedNames($0) }
        let known = names.joined().map { KeyCoding.snapshotPrefix($0) }
        try view.forEachRow(of: tables.snapshots.table) { row in
            guard let key = SnapshotKey(row.key) else {
                return report.add("snapshots \(Hexadecimal.text(row.key))", "the key is none of a snapshot")
            }
            if !known.contains(key.prefix), !RecordHeader.hasRightChecksum(row.value) {
                report.add(key.place, "the checksum is wrong")
            }
        }
        for (projection, names) in zip(projections, names) {
            for name in names { try checkSnapshots(of: projection, in: name, progress) }
        }
    }

    /// The names under which live states of a projection are stored, and those of the shadow.
    private func storedNames<P: Projection>(_: P.Type) -> [String] {
        let shadow = generations.shadow.flatMap { shadow in
            shadow.projections.contains { $0.name == Name(P.name) } ? shadow.generation : nil
        }
        return [view.storedName(of: P.self)] + [shadow].compactMap { $0.map { Generations.storedName(P.name, $0) } }
    }

    private mutating func checkSnapshots<P: Projection>(
        of _: P.Type, in name: String, _ progress: (LogProgress) -> Void
    ) throws {
        let total = try UInt64(view.count(tables.snapshots.table))
        var count = 0
        var proof = StateProof<P>(log.states)
        try view.forEachRow(of: tables.snapshots.table, withPrefix: KeyCoding.snapshotPrefix(name)) { row in
            guard let key = SnapshotKey(row.key) else { return }
            let stored = SnapshotRow.state(row.value, revision: P.revision)
            if stored == nil, RecordHeader.hasRightChecksum(row.value) { return }
            var isRight = false
            if let stored {
                count += 1
                do {
                    isRight = try proof.holds(stored, of: key.user, at: key.version, in: view)
                } catch is StorageError {}
                if count % 4096 == 0 {
                    progress(LogProgress(stage: "snapshots", done: UInt64(count), total: total, unit: "rows"))
                }
            }
            if !isRight { report.add(key.place, "it is not what a fresh fold gives") }
        }
        report.snapshots += count
    }

    /// Checks states; of projections that the log was opened without, only the checksum can be compared.
    mutating func checkStates(_ progress: (LogProgress) -> Void) throws {
        let projections = log.store.projections.filter { $0.scope == .store }
        let names = projections.flatMap { storedNames($0) }.map { Array($0.utf8) }
        let known = Set(names + [IndexCheckpoint.key, FlushProgress.key])
        try view.forEachRow(of: tables.checkpoints.table) { row in
            if known.contains(Array(row.key)) || RecordHeader.hasRightChecksum(row.value) { return }
            report.add("checkpoints \(String(decoding: row.key, as: UTF8.self))", "it is damaged")
        }
        for projection in projections {
            for name in storedNames(projection) { try checkState(of: projection, in: name, progress) }
        }
    }

    /// A stored state over the whole store against a fresh fold up to its position.
    private mutating func checkState<P: Projection>(
        of _: P.Type, in name: String, _ progress: (LogProgress) -> Void
    ) throws {
        guard let row = try view.get(tables.checkpoints, Array(name.utf8)) else { return }
        let place = "checkpoints \(Generations.shown(name))"
        guard RecordHeader.hasRightChecksum(row) else { return report.add(place, "it is damaged") }
        guard let stored = StoreStateRow.read(row, revision: P.revision) else { return }
        let end = stored.position
        do {
            let isRight = try StateProof<P>(log.states).holds(stored.state, at: end, in: view) { position in
                if position % 1_024 == 0 { progress(LogProgress(stage: "checkpoints", done: position, total: end)) }
            }
            if !isRight { report.add(place, "it is not what a fresh fold gives") }
        } catch StorageError.damaged(let damage) {
            report.add(place, "it cannot be compared: \(damage)")
        }
    }
}

extension SnapshotKey {
    /// The place of the row, in the words of a report.
    fileprivate var place: String {
        "snapshots \(Generations.shown(projection)), user \(user), version \(version)"
    }
}
