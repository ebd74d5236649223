/// Takes persons out of the tables, inside one write transaction. The caches reach to the end of the log.
struct Eraser {
    let log: EventLog
    let view: LogView
    let recordedAt: Int64
    /// What was looked at of the log before.
    private var survey: ErasureSurvey?
    private var traces = ErasureTraces()
    /// Devices on which an erased user was, with who was there before them: nobody is there now.
    private var vacated: [(device: Name, user: UInt64)] = []

    init(log: EventLog, view: LogView, recordedAt: Int64, survey: ErasureSurvey?) {
        self.log = log
        self.view = view
        self.recordedAt = recordedAt
        self.survey = survey
    }

    /// Throws `ErasureSurvey.Outdated` if the survey that it was given does not hold any more.
    mutating func erase(
        _ targets: [ErasureTarget], _ event: ProfileEvent, _ context: EventContext,
        _ transaction: borrowing WriteTransaction
    ) throws -> Erasure {
        var erasure = Erasure()
        for target in targets {
            guard let user = try target.user(view, braze: log.braze, transaction) else {
                erasure.unknown.append(target.id)
                continue
            }
            let survivor = try view.survivor(of: user, transaction)
            if erasure.users.contains(UserNumber(rawValue: survivor)) { continue }
            erasure.users.append(UserNumber(rawValue: survivor))
            try traces.follow(survivor, view, transaction)
        }
        if erasure.users.isEmpty { return erasure }
        erasure.events = traces.positions.count
        try readRest(transaction)
        try bury(transaction)
        try removeRows(transaction)
        try removeSnapshots(transaction)
        try writeRest(transaction)
        var events = vacated.map { (user: $0.user, event: ProfileEvent.userLoggedOut, context: context.on($0.device)) }
        events += erasure.users.map { ($0.rawValue, event, context) }
        erasure.position = try append(events, transaction)
        return erasure
    }

    // MARK: - Records

    /// Makes tombstones of the records.
    private func bury(_ transaction: borrowing WriteTransaction) throws {
        for position in traces.positions {
            // The tombstone gets a right checksum, whatever its header says.
            let header = try RecordHeader(transaction.get(view.tables.log, position), at: position)
            guard let tombstone = Tombstone.record(of: header) else {
                throw StorageError.damaged(place: "the record at position \(position) is unreadable")
            }
            try withNumberKey(position) { key in
                try tombstone.withUnsafeBytes { try transaction.put(view.tables.log, key, $0) }
            }
        }
    }

    private func append(
        _ events: [(user: UInt64, event: ProfileEvent, context: EventContext)],
        _ transaction: borrowing WriteTransaction
    ) throws -> Position {
        var writer = WireWriter()
        var ends: [Int] = []
        var names = NewNames(log.names)
        var versions: [UInt64: UInt64] = [:]
        for (user, event, context) in events {
            let begin = writer.count
            let version = try (versions[user] ?? view.version(of: user, transaction)) + 1
            versions[user] = version
            RecordHeader.write(
                kind: event.kind.rawValue, user: user, version: version, recordedAt: recordedAt, to: &writer)
            _ = EventEncoder.write(event, context, names: &names, to: &writer)
            writer.littleEndian(crc32c(writer.bytes.slice(begin..<writer.count)))
            ends.append(writer.count)
        }
        let batch = CommitBatch(
            firstPosition: view.last + 1, firstName: names.firstNumber, names: [], bytes: Array(writer.bytes),
            ends: ends)
        try batch.apply(to: transaction, view.tables)
        return Position(rawValue: view.last + UInt64(ends.count))
    }

    // MARK: - Caches

    private func removeRows(_ transaction: borrowing WriteTransaction) throws {
        for key in traces.identifiers {
            guard let row = try transaction.get(view.tables.identifiers, key), row.count >= 8,
                traces.users.contains(row.bigEndian64())
            else { continue }
            try transaction.delete(view.tables.identifiers, key)
        }
        for row in try contactRows(transaction) { try transaction.delete(view.tables.contacts, row) }
        var writer = WireWriter()
        for user in traces.users.sorted() {
            var row = UserRow()
            let before = try view.identities(of: user, transaction)
            row.created = before.created
            row.mergedInto = before.mergedInto
            writer.removeAll()
            row.write(to: &writer)
            try withNumberKey(user) { try transaction.put(view.tables.users, $0, writer.bytes) }
        }
    }

    /// The rows that lead from an address to one of the persons.
    private func contactRows(_ transaction: borrowing WriteTransaction) throws -> [[UInt8]] {
        var rows: [[UInt8]] = []
        try transaction.withCursor(view.tables.contacts) { cursor in
            for contact in traces.contacts {
                var row = try cursor.seek(contact)
                while let found = row, found.key.starts(with: contact) {
                    guard found.key.count == contact.count + 8 else {
                        throw StorageError.damaged(place: "a row of table contacts")
                    }
                    if traces.users.contains(found.key.bigEndian64(at: contact.count)) { rows.append(Array(found.key)) }
                    row = try cursor.next()
                }
            }
        }
        return rows
    }

    /// Snapshots by whatever projection, and all states over the whole store: they are folded anew.
    private func removeSnapshots(_ transaction: borrowing WriteTransaction) throws {
        var gone: [[UInt8]] = []
        let users = traces.users.sorted()
        try transaction.withCursor(view.tables.snapshots) { cursor in
            var row = try cursor.first()
            while let found = row {
                // Who stopped here would leave what stands behind it.
                guard let projection = SnapshotKey(found.key)?.prefix else {
                    throw StorageError.damaged(place: "a row of table snapshots")
                }
                for user in users {
                    let prefix = ContactKey.key(projection, user: user)
                    var snapshot = try cursor.seek(prefix)
                    while let found = snapshot, found.key.starts(with: prefix) {
                        gone.append(Array(found.key))
                        snapshot = try cursor.next()
                    }
                }
                // Behind all of the projection's.
                row = try cursor.seek(projection + [UInt8](repeating: .max, count: 17))
            }
        }
        for key in gone { try transaction.delete(view.tables.snapshots, key) }
        var states: [[UInt8]] = []
        try transaction.withCursor(view.tables.checkpoints) { cursor in
            var row = try cursor.first()
            while let found = row {
                let key = Array(found.key)
                if key != IndexCheckpoint.key, key != FlushProgress.key { states.append(key) }
                row = try cursor.next()
            }
        }
        for key in states { try transaction.delete(view.tables.checkpoints, key) }
    }

    /// Looks at what the survey has not seen, all of the log if there was none.
    private mutating func readRest(_ transaction: borrowing WriteTransaction) throws {
        if let survey, !survey.covers(traces) { throw ErasureSurvey.Outdated() }
        var rest = survey ?? ErasureSurvey(traces, beginning: view.last)
        try rest.read(to: view.last, view.tables, transaction)
        survey = rest
    }

    /// Names that nobody else uses go, devices are what others made of them.
    private mutating func writeRest(_ transaction: borrowing WriteTransaction) throws {
        guard let survey else { return }
        for device in traces.devices.sorted() { try write(device, survey.devices[device], transaction) }
        let unused = survey.unusedNames.intersection(traces.names)
        if unused.isEmpty { return }
        for number in unused { try transaction.put(view.tables.names, NameRow.key(number), NameRow.bytes("")) }
        try NameErasures.raise(view.tables, transaction)
    }

    private mutating func write(
        _ device: Name, _ state: DeviceState?, _ transaction: borrowing WriteTransaction
    ) throws {
        // Without what the erased said, somebody may seem to be there who had gone.
        let user = try view.device(device, transaction).user.map { try view.survivor(of: $0, transaction) }
        let before = try state?.status.user.map { try view.survivor(of: $0, transaction) }
        if let before, before != user { vacated.append((device, before)) }
        let items = try view.storedItems(device, transaction).values.filter { state?.items[$0.position] == nil }
        let rows = items.map {
            KeyCoding.pending(device: device, storage: $0.storage.rawValue, user: $0.user, position: $0.position)
        }
        // Pages that are emptied in another order than that of the keys become loose, and the commit wastes them.
        for row in rows.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            try transaction.delete(view.tables.pending, row)
        }
        if device.text.isEmpty { return }
        let key = Array(device.text.utf8)
        guard let state else { return try transaction.delete(view.tables.devices, key) }
        var writer = WireWriter()
        DeviceRow.write(state.status, to: &writer)
        try transaction.put(view.tables.devices, key, Array(writer.bytes))
    }
}
