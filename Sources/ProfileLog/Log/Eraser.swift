/// Decides an erasure: who is erased, and the commit batch that takes their content out of the truth. The caches reach to the end of the log.
struct Eraser {
    let log: EventLog
    let view: LogView
    let recordedAt: Int64
    /// What was read of the log before the write lock was taken.
    private let survey: ErasureSurvey?

    init(log: EventLog, view: LogView, recordedAt: Int64, survey: ErasureSurvey?) {
        self.log = log
        self.view = view
        self.recordedAt = recordedAt
        self.survey = survey
    }

    /// What an erasure does: to the truth, and to the caches of this store.
    struct Decision {
        var erasure: Erasure
        let batch: CommitBatch
        let caches: ErasedCaches
    }

    /// Throws `ErasureSurvey.Outdated` if the log has changed too much since the survey. Without users to erase the batch appends nothing.
    func decide(
        _ targets: [ErasureTarget], _ event: ProfileEvent, _ context: EventContext,
        _ transaction: borrowing WriteTransaction
    ) throws -> Decision {
        var erasure = Erasure()
        var traces = ErasureTraces()
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
        erasure.events = traces.positions.count
        if let survey, !survey.covers(traces) { throw ErasureSurvey.Outdated() }
        var survey = survey ?? ErasureSurvey(traces, beginning: view.last)
        try survey.read(to: view.last, view.tables, transaction)
        let caches = ErasedCaches(view: view, traces: traces, devices: survey.devices)

        var events = try caches.vacated(transaction).map {
            (user: $0.user, event: ProfileEvent.userLoggedOut, context: context.on($0.device))
        }
        events += erasure.users.map { ($0.rawValue, event, context) }
        var batch = try appending(events, transaction)
        batch.tombstones = try traces.positions.sorted().map { try bury($0, transaction) }
        batch.forget(
            survey.unusedNames.intersection(traces.names).sorted(),
            erasures: try CommitBatch.nameErasures(view.tables, transaction))
        if batch.count > 0 { erasure.position = Position(rawValue: view.last + UInt64(batch.count)) }
        return Decision(erasure: erasure, batch: batch, caches: caches)
    }

    private func bury(
        _ position: UInt64, _ transaction: borrowing WriteTransaction
    ) throws -> CommitBatch.BuriedRecord {
        // A record with a wrong checksum throws here: its tombstone would get a right one.
        let header = try RecordHeader(transaction.get(view.tables.log, position), at: position)
        guard let tombstone = Tombstone.record(of: header) else {
            throw StorageError.damaged(place: "the record at position \(position) is unreadable")
        }
        return .init(position: position, tombstone: tombstone)
    }

    /// A batch with the records of `events`, which use no names.
    private func appending(
        _ events: [(user: UInt64, event: ProfileEvent, context: EventContext)],
        _ transaction: borrowing WriteTransaction
    ) throws -> CommitBatch {
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
        return CommitBatch(
            firstPosition: view.last + 1, firstName: names.firstNumber, names: names.added,
            bytes: Array(writer.bytes), ends: ends)
    }
}

/// What an erasure takes out of the caches of a store.
///
/// Who decides the erasure knows it from the decision. Any other store derives it from the batch and its own tables.
struct ErasedCaches {
    /// The store before the batch; its caches reach to the end of the log.
    let view: LogView
    let traces: ErasureTraces
    /// The devices of the erased, as others made them.
    let devices: [Name: DeviceState]

    init(view: LogView, traces: ErasureTraces, devices: [Name: DeviceState]) {
        self.view = view
        self.traces = traces
        self.devices = devices
    }

    /// Derives it from `batch`, which is not applied yet. Throws if the batch erases other events than this store has.
    init(of batch: CommitBatch, _ view: LogView, _ transaction: borrowing WriteTransaction) throws {
        var traces = ErasureTraces()
        try batch.forEachRecord { record in
            guard let header = RecordHeader(record), header.kind == .userErased else { return }
            try traces.follow(header.user, view, transaction)
        }
        guard traces.positions.sorted() == batch.tombstones.map(\.position) else {
            throw StorageError.damaged(place: "a batch erases other events than the log has of its users")
        }
        var survey = ErasureSurvey(traces, beginning: view.last)
        try survey.read(to: view.last, view.tables, transaction)
        self.init(view: view, traces: traces, devices: survey.devices)
    }

    /// Devices that seem to be another user's without what the erased said: they must be told that nobody is there.
    func vacated(_ transaction: borrowing WriteTransaction) throws -> [(device: Name, user: UInt64)] {
        try traces.devices.sorted().compactMap { device in
            let user = try view.device(device, transaction).user.map { try view.survivor(of: $0, transaction) }
            let before = try devices[device]?.status.user.map { try view.survivor(of: $0, transaction) }
            return before.flatMap { $0 == user ? nil : (device, $0) }
        }
    }

    /// Takes the erased out of all tables but `log`, `names` and `meta`. Comes before the batch, as it reads what that erases.
    func remove(_ transaction: borrowing WriteTransaction) throws {
        try removeIdentities(transaction)
        try removeSnapshots(transaction)
        for device in traces.devices.sorted() { try write(device, devices[device], transaction) }
    }

    private func removeIdentities(_ transaction: borrowing WriteTransaction) throws {
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

    /// The rows that lead from an address to one of the erased.
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

    /// Removes their snapshots, of whatever projection, and all states over the whole store: they are folded again.
    private func removeSnapshots(_ transaction: borrowing WriteTransaction) throws {
        var gone: [[UInt8]] = []
        let users = traces.users.sorted()
        try transaction.withCursor(view.tables.snapshots) { cursor in
            var row = try cursor.first()
            while let found = row {
                // To stop here would leave the rows after it.
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
                // After all of the projection's.
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

    /// Makes a device what others made of it.
    private func write(
        _ device: Name, _ state: DeviceState?, _ transaction: borrowing WriteTransaction
    ) throws {
        let items = try view.storedItems(device, transaction).values.filter { state?.items[$0.position] == nil }
        let rows = items.map {
            KeyCoding.pending(device: device, storage: $0.storage.rawValue, user: $0.user, position: $0.position)
        }
        // In the order of the keys: LMDB does not use pages again that are emptied in another order.
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
