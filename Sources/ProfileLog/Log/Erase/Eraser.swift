/// Erases persons: surveys the log without the write lock, decides under it, and commits the batch.
struct Eraser: Sendable {
    let store: OpenStore
    let caches: CacheKeeper
    let committer: Committer

    func erase(
        _ users: [ErasureTarget], _ actor: String, _ reason: String, _ source: EventSource
    ) throws(AppendError) -> Erasure {
        do {
            let event = ProfileEvent.userErased(actor: actor, reason: reason)
            for _ in 0..<Self.surveys {
                let survey = try surveyErasure(of: users)
                try caches.writeIndexInSlices()
                do {
                    return try committer.delivered { erasure in
                        try erase(users, event, EventContext(source: source), survey, &erasure)
                    }
                } catch is ErasureSurvey.Outdated {
                    continue
                }
            }
            // The last try holds the write lock all the time.
            return try committer.delivered { erasure in
                try erase(users, event, EventContext(source: source), nil, &erasure)
            }
        } catch {
            throw AppendError(error)
        }
    }

    /// The number of times that the log is surveyed without the write lock.
    private static let surveys = 3
    /// The most records that one read transaction sees.
    private static let surveySlice: UInt64 = 1 << 18

    private func surveyErasure(of targets: [ErasureTarget]) throws -> ErasureSurvey {
        var survey = try store.withView { view in
            var scope = ErasureScope()
            for target in targets {
                guard let user = try target.user(view, braze: store.braze) else { continue }
                try scope.follow(view.canonicalUser(of: user), view)
            }
            return ErasureSurvey(scope, beginning: view.last)
        }
        while survey.position < survey.beginning {
            let end = min(survey.position + Self.surveySlice, survey.beginning)
            try store.environment.withReadTransaction { try survey.read(to: end, store.environment.tables, $0) }
        }
        return survey
    }

    private func erase(
        _ users: [ErasureTarget], _ event: ProfileEvent, _ context: EventContext, _ survey: ErasureSurvey?,
        _ decided: inout Erasure?
    ) throws -> Erasure {
        var erasure = Erasure()
        var isPlaced = false
        do {
            try committer.withWholeCaches { view, transaction in
                let decider = ErasureDecider(
                    store: store, view: view, recordedAt: store.recordedAtNow(view), survey: survey)
                let decision = try decider.decide(users, event, context)
                erasure = decision.erasure
                decided = erasure
                if decision.batch.count == 0 { return nil }
                // The caches first: the records, which the batch empties, tell what to remove from them.
                try decision.caches.remove(transaction)
                try committer.store(decision.batch, isPlaced: &isPlaced, transaction)
                return decision.batch
            }
        } catch {
            throw isPlaced ? AppendError.outcomePending : error
        }
        store.recentStates.removeAll()
        return erasure
    }
}

/// The report of an erasure.
public struct Erasure: Hashable, Sendable {
    /// Erased users, by number.
    public internal(set) var users: [UserNumber] = []
    /// The given IDs that resolve to no user.
    package internal(set) var unknown: [UserID] = []
    /// The number of events that lost their content.
    package internal(set) var events = 0
    /// Position of the last event of the erasure; nil if no user was erased.
    package internal(set) var position: Position?
}

/// Decides an erasure: the users, and the commit batch that removes their content from the log. The caches reach the
/// end of the log.
struct ErasureDecider {
    let store: OpenStore
    let view: LogView
    let recordedAt: Int64
    /// The survey made before the write lock was taken.
    let survey: ErasureSurvey?

    /// The changes of an erasure: the log, and the caches of this store.
    struct Decision {
        var erasure: Erasure
        let batch: CommitBatch
        let caches: ErasedCaches
    }

    /// Throws `ErasureSurvey.Outdated` if the log has changed too much since the survey. Without users to erase the
    /// batch appends nothing.
    func decide(_ targets: [ErasureTarget], _ event: ProfileEvent, _ context: EventContext) throws -> Decision {
        var erasure = Erasure()
        var scope = ErasureScope()
        for target in targets {
            guard let user = try target.user(view, braze: store.braze) else {
                erasure.unknown.append(target.id)
                continue
            }
            let canonical = try view.canonicalUser(of: user)
            if erasure.users.contains(UserNumber(rawValue: canonical)) { continue }
            erasure.users.append(UserNumber(rawValue: canonical))
            try scope.follow(canonical, view)
        }
        erasure.events = scope.positions.count
        if let survey, !survey.covers(scope) { throw ErasureSurvey.Outdated() }
        var survey = survey ?? ErasureSurvey(scope, beginning: view.last)
        try survey.read(to: view.last, view.tables, view)
        let caches = ErasedCaches(view: view, scope: scope, devices: survey.devices)

        var events = try caches.vacated().map {
            (user: $0.user, event: ProfileEvent.userLoggedOut, context: context.on($0.device))
        }
        events += erasure.users.map { ($0.rawValue, event, context) }
        var batch = try appending(events)
        batch.bury(
            try scope.positions.sorted().map { try bury($0) },
            rewrites: try CommitBatch.rewrites(view.tables, view))
        batch.forget(
            survey.unusedNames.intersection(scope.names).sorted(),
            erasures: try CommitBatch.nameErasures(view.tables, view))
        if batch.count > 0 { erasure.position = Position(rawValue: view.last + UInt64(batch.count)) }
        return Decision(erasure: erasure, batch: batch, caches: caches)
    }

    private func bury(_ position: UInt64) throws -> CommitBatch.BuriedRecord {
        // A record with a wrong checksum throws here: its tombstone would get a right one.
        let header = try view.header(at: position)
        guard let tombstone = Tombstone.record(of: header) else {
            throw StorageError.damaged(place: "the record at position \(position) is unreadable")
        }
        return .init(position: position, tombstone: tombstone)
    }

    /// A batch with the records of `events`, which use no names.
    private func appending(
        _ events: [(user: UInt64, event: ProfileEvent, context: EventContext)]
    ) throws -> CommitBatch {
        var writer = WireWriter()
        var ends: [Int] = []
        var names = NewNames(store.names)
        var versions: [UInt64: UInt64] = [:]
        for (user, event, context) in events {
            let begin = writer.count
            let version = try (versions[user] ?? view.version(of: user)) + 1
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

/// Rows that an erasure removes from the caches of a store.
///
/// The deciding store knows it from the decision. Other stores derive it from the batch and their own tables.
struct ErasedCaches {
    /// The store before the batch; its caches reach to the end of the log.
    let view: LogView
    let scope: ErasureScope
    /// The devices of the erased users, folded from other users' events.
    let devices: [Name: DeviceState]
}

extension ErasedCaches {
    /// Derives the change from `batch`, which is not applied yet. Throws if the batch erases other events than this
    /// store has.
    init(of batch: CommitBatch, _ view: LogView) throws {
        var scope = ErasureScope()
        try batch.forEachRecord { record in
            guard let header = RecordHeader(record), header.kind == .userErased else { return }
            try scope.follow(header.user, view)
        }
        guard scope.positions.sorted() == batch.tombstones.map(\.position) else {
            throw StorageError.damaged(place: "a batch erases other events than the log has of its users")
        }
        var survey = ErasureSurvey(scope, beginning: view.last)
        try survey.read(to: view.last, view.tables, view)
        self.init(view: view, scope: scope, devices: survey.devices)
    }

    /// Devices on which, without the erased events, another user would be again. An event must say that no user is
    /// there.
    func vacated() throws -> [(device: Name, user: UInt64)] {
        try scope.devices.sorted().compactMap { device in
            let user = try view.device(device).user.map { try view.canonicalUser(of: $0) }
            let before = try devices[device]?.status.user.map { try view.canonicalUser(of: $0) }
            return before.flatMap { $0 == user ? nil : (device, $0) }
        }
    }

    /// Removes the erased users from all tables but `log`, `names` and `meta`. Comes before the batch, as it reads
    /// records that the batch erases.
    func remove(_ transaction: borrowing WriteTransaction) throws {
        try removeIdentities(transaction)
        try removeSnapshots(transaction)
        for device in scope.devices.sorted() { try write(device, devices[device], transaction) }
    }

    private func removeIdentities(_ transaction: borrowing WriteTransaction) throws {
        for key in scope.identifiers {
            guard let row = try transaction.get(view.tables.identifiers, key), row.count >= 8,
                scope.users.contains(row.bigEndian64())
            else { continue }
            try transaction.delete(view.tables.identifiers, key)
        }
        for row in try contactRows() { try transaction.delete(view.tables.contacts, row) }
        var writer = WireWriter()
        for user in scope.users.sorted() {
            var row = UserRow()
            let before = try view.identities(of: user)
            row.created = before.created
            row.mergedInto = before.mergedInto
            writer.removeAll()
            row.write(to: &writer)
            try withNumberKey(user) { try transaction.put(view.tables.users, $0, writer.bytes) }
        }
    }

    /// The rows that name an erased user for an address.
    private func contactRows() throws -> [[UInt8]] {
        var rows: [[UInt8]] = []
        for contact in scope.contacts {
            try view.forEachRow(of: view.tables.contacts.table, withPrefix: contact) { row in
                guard row.key.count == contact.count + 8 else {
                    throw StorageError.damaged(place: "a row of table contacts")
                }
                if scope.users.contains(row.key.bigEndian64(at: contact.count)) { rows.append(Array(row.key)) }
            }
        }
        return rows
    }

    /// Removes their snapshots of all projections, and all states over the whole store, which are folded again.
    private func removeSnapshots(_ transaction: borrowing WriteTransaction) throws {
        var gone: [[UInt8]] = []
        let users = scope.users.sorted()
        try view.withCursor(view.tables.snapshots) { cursor in
            var row = try cursor.first()
            while let found = row {
                // Stopping here would leave the rows after it.
                guard let projection = SnapshotKey(found.key)?.prefix else {
                    throw StorageError.damaged(place: "a row of table snapshots")
                }
                for user in users {
                    let prefix = ContactKey.key(projection, user: user)
                    try view.forEachRow(of: view.tables.snapshots.table, withPrefix: prefix) {
                        gone.append(Array($0.key))
                    }
                }
                // After all keys of the projection.
                row = try cursor.seek(projection + [UInt8](repeating: .max, count: 17))
            }
        }
        for key in gone { try transaction.delete(view.tables.snapshots, key) }
        for key in try Generations.stateKeys(view.tables, view) {
            try transaction.delete(view.tables.checkpoints, key)
        }
    }

    /// Writes the state of a device as folded from other users' events.
    private func write(_ device: Name, _ state: DeviceState?, _ transaction: borrowing WriteTransaction) throws {
        let gone = try view.storedItems(device).values.filter { state?.items[$0.position] == nil }
        try transaction.delete(gone, on: device, view.tables)
        if device.text.isEmpty { return }
        let key = Array(device.text.utf8)
        guard let state else { return try transaction.delete(view.tables.devices, key) }
        var writer = WireWriter()
        DeviceRow.write(state.status, to: &writer)
        try transaction.put(view.tables.devices, key, Array(writer.bytes))
    }
}
