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
        // One transaction for all: what another process writes meanwhile is not seen.
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
            for projection in log.projections where projection.scope == .user {
                try checkSnapshots(projection, view, transaction, progress)
            }
            begin(.checkpoints)
            try checkOtherStates(transaction)
            for projection in log.projections where projection.scope == .store {
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

    /// Users are numbered without gaps. (Where a record is unreadable, nobody can tell.)
    private mutating func checkUserNumbers() {
        guard report.problems.isEmpty else { return }
        for user in versions.indices.dropFirst() where versions[user] == 0 {
            report.add("log", "there is a user \(versions.count - 1), and no user \(user)")
        }
    }

    /// Moves what the chunk's events say into `facts`, and begins another chunk behind `nextBase`.
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
