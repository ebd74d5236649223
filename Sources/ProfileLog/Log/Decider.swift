/// Turns appends into records, one after the other, inside the write transaction that will store them: resolves users, checks keys
/// and then versions, gives positions and versions. An append that is refused leaves nothing behind.
///
/// Decisions depend on the log and the append alone: the time is an argument.
struct Decider: ~Copyable {
    let view: LogView
    let braze: BrazeIDs
    let limits: PendingLimits
    let recordedAt: Int64
    private let firstPosition: UInt64
    var names: NewNames
    /// One cursor for all look-ups of versions.
    private var streams: Cursor
    private var writer = WireWriter(capacity: 1 << 16)
    private var scratch = WireWriter()
    private var ends: [Int] = []

    init(
        view: LogView, names: NameTable, braze: BrazeIDs, limits: PendingLimits, recordedAt: Int64,
        firstPosition: UInt64,
        _ transaction: borrowing some Reading & ~Copyable
    ) throws {
        self.view = view
        self.braze = braze
        self.limits = limits
        self.recordedAt = recordedAt
        self.firstPosition = firstPosition
        self.names = NewNames(names)
        streams = try Cursor(transaction.handle, view.tables.streams)
    }

    /// An append was refused after a part of it was recorded: the commit is given up.
    struct HalfDecided: Error {
        let refusal: AppendError
    }

    var nextPosition: UInt64 { firstPosition + UInt64(ends.count) }

    /// Bytes of all records so far.
    var byteCount: Int { writer.count }

    consuming func batch() -> CommitBatch {
        CommitBatch(
            firstPosition: firstPosition, firstName: names.firstNumber, names: names.added, bytes: Array(writer.bytes),
            ends: ends)
    }

    // MARK: - Deciding

    /// Decides one append. Throws an `AppendError` if it is refused, with nothing added; other errors end the commit. What is damaged
    /// refuses the append that needs it, and no other.
    mutating func decide(
        _ append: borrowing PreparedAppend, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> AppendReceipt {
        let namesBefore = names.added.count
        let recordsBefore = ends.count
        do {
            switch append.intent {
            case .events:
                let receipt = try decideEvents(append, transaction)
                // A retry may name what was erased since: it must not come back.
                if receipt.isRepetition { names.truncate(to: namesBefore) }
                return receipt
            case .device(let device, let intent, let context):
                return try decideDevice(device, intent, context, transaction)
            case .identity(let change, let context):
                return try decideIdentity(change, context, of: copy append, transaction)
            case .discard(let device, let selection, let actor, let reason, let context):
                return try decideDiscard(device, selection, actor, reason, context, transaction)
            }
        } catch let error as AppendError {
            throw refusal(error, recordsBefore, namesBefore)
        } catch StorageError.damaged(let place) {
            throw refusal(.refused(.damaged(place: place)), recordsBefore, namesBefore)
        }
    }

    /// `error`, with the names of the append forgotten; or what ends the commit, if a part of the append is recorded already.
    private mutating func refusal(_ error: AppendError, _ recordsBefore: Int, _ namesBefore: Int) -> any Error {
        if ends.count > recordsBefore { return HalfDecided(refusal: error) }
        names.truncate(to: namesBefore)
        return error
    }

    private mutating func decideEvents(
        _ append: borrowing PreparedAppend, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> AppendReceipt {
        let isEncoded = append.deferred.isEmpty && (append.names?.erasures ?? .max) == view.nameTable.erasures
        if isEncoded { return try decideEncoded(append, transaction) }
        return try decideEncoded(resolvingNames(of: renumbered(copy append)), transaction)
    }

    /// As `decideEvents`, for an append of which all names have their numbers.
    private mutating func decideEncoded(
        _ append: borrowing PreparedAppend, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> AppendReceipt {
        var keyField: AppendField?
        if !append.idempotencyKey.isEmpty {
            let content = contentHash(append)
            if let receipt = try earlierReceipt(append, content, transaction) { return receipt }
            keyField = AppendField(key: append.idempotencyKey, content: content, count: 0, note: append.note)
        }
        for (user, expected) in append.expectations {
            let actual =
                try view.user(user, braze: braze, transaction).map { try view.version(of: $0, transaction) } ?? 0
            guard expected.accepts(Version(rawValue: actual)) else {
                throw AppendError.versionConflict(user: user, expected: expected, actual: Version(rawValue: actual))
            }
        }
        writer.reserve(append.byteCount)
        let users = try resolve(append, transaction)
        let plans = try plan(append, users, transaction)
        return try append.bytes.withUnsafeBytes { try write(append, $0, users, plans, keyField, transaction) }
    }

    /// The users of the append's targets; nil for those whom it creates.
    private func resolve(
        _ append: borrowing PreparedAppend, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> [UInt64?] {
        var users: [UInt64?] = []
        users.reserveCapacity(append.targets.count)
        try append.bytes.withUnsafeBytes { bytes in
            let targets = append.targets.span
            for index in targets.indices {
                let key = targets[index].key
                if key.isEmpty {
                    users.append(try resolve(targets[index].id, transaction))
                } else {
                    users.append(try view.user(identifier: bytes.slice(key), targets[index].id, transaction))
                }
            }
        }
        return users
    }

    /// The user with an ID that has no key in `identifiers`. Nobody can be made by a `braze:` ID.
    private func resolve(_ id: UserID, _ transaction: borrowing some Reading & ~Copyable) throws -> UInt64? {
        let user = try view.user(id, braze: braze, transaction)
        if user == nil, case .brazeID = id { throw AppendError.unknownUser(id) }
        return user
    }

    private mutating func write(
        _ append: borrowing PreparedAppend, _ bytes: UnsafeRawBufferPointer, _ users: [UInt64?],
        _ plans: [Int: ItemPlan], _ key: AppendField?,
        _ transaction: borrowing some Reading & ~Copyable
    ) throws -> AppendReceipt {
        var users = users
        let first = nextPosition
        var places: [AppendReceipt.Place] = []
        places.reserveCapacity(append.items.count)
        var key = key
        // The key's field stands in the first record and counts all of them, also those of users who are made on the way.
        let promised = key.map { _ in
            append.items.count + append.leftOut.count + extraEvents(append, users, plans)
        }
        if let promised { key?.count = UInt64(promised) }
        for index in append.items.indices {
            let item = append.items[index]
            let user: UInt64
            if let known = users[item.target] {
                user = known
            } else {
                // An earlier item may have made this user.
                let id = append.targets[item.target].id
                user = try view.user(id, braze: braze, transaction) ?? create(id, &key, &places, transaction)
                users[item.target] = user
            }
            if !plans.isEmpty, let plan = plans[index] {
                try write(
                    plan, append.devices[index], user, &key, body: bytes.slice(item.body), &places, transaction)
            } else {
                try record(item.kind, user, &key, body: bytes.slice(item.body), &places, transaction)
            }
        }
        for (id, items) in append.leftOut {
            let user = try id.flatMap { try view.user($0, braze: braze, transaction) }
            try event(
                .objectsLeftOut(user == nil ? items.map(\.anonymous) : items), EventContext(source: .rest), user ?? 0,
                &key, &places, transaction)
        }
        precondition(promised == nil || promised == places.count, "A key counts other events than its append stored.")
        return AppendReceipt(
            first: Position(rawValue: first), places: places, isRepetition: false, note: append.note)
    }

    /// Writes an item as it was planned.
    private mutating func write(
        _ plan: ItemPlan, _ device: Name?, _ user: UInt64, _ key: inout AppendField?, body: UnsafeRawBufferPointer,
        _ places: inout [AppendReceipt.Place], _ transaction: borrowing some Reading & ~Copyable
    ) throws {
        if plan.joins, let device {
            let change = EventContext(source: .system, device: device.text)
            try event(.userChanged(previous: nil), change, user, &key, &places, transaction)
        }
        if let (event, context) = plan.relocated {
            try self.event(event, context, user, &key, &places, transaction)
        } else {
            try record(plan.kind, user, &key, body: body, &places, transaction)
        }
    }

    /// How many events the append makes beside its items: for new users, and for devices that get their first.
    private func extraEvents(_ append: borrowing PreparedAppend, _ users: [UInt64?], _ plans: [Int: ItemPlan]) -> Int {
        var made: Set<UserID> = []
        var occupied: Set<Name> = []
        var extra = 0
        for (index, item) in append.items.enumerated() {
            let id = append.targets[item.target].id
            if users[item.target] == nil, !made.contains(id) {
                if case .device(let device) = id {
                    // The ID leads to whoever an earlier item put on the device.
                    if occupied.insert(Name(device)).inserted { extra += 1 }
                } else {
                    extra += 1
                }
                made.insert(id)
            }
            if plans[index]?.joins == true, let device = append.devices[index] {
                occupied.insert(device)
                extra += 1
            }
        }
        return extra
    }

    mutating func create(
        _ id: UserID, _ key: inout AppendField?, _ places: inout [AppendReceipt.Place],
        _ transaction: borrowing some Reading & ~Copyable
    ) throws -> UInt64 {
        let user = try view.userCount(transaction) + 1
        try event(.userCreated([id]), EventContext(source: .system), user, &key, &places, transaction)
        return user
    }

    /// Encodes `event` and adds its record.
    mutating func event(
        _ event: ProfileEvent, _ context: EventContext, _ user: UInt64, _ key: inout AppendField?,
        _ places: inout [AppendReceipt.Place], _ transaction: borrowing some Reading & ~Copyable
    ) throws {
        scratch.removeAll()
        _ = EventEncoder.write(event, context, names: &names, to: &scratch)
        let body = Array(scratch.bytes)
        try body.withUnsafeBytes { body in
            try record(event.kind, user, &key, body: body, &places, transaction)
        }
    }

    /// Adds one record at the next position and the user's next version, and tells the tail of it.
    @inline(__always)
    private mutating func record(
        _ kind: EventKind, _ user: UInt64, _ key: inout AppendField?, body: UnsafeRawBufferPointer,
        _ places: inout [AppendReceipt.Place], _ transaction: borrowing some Reading & ~Copyable
    ) throws {
        let version = try view.version(of: user, &streams) + 1
        let begin = writer.count
        RecordHeader.write(kind: kind.rawValue, user: user, version: version, recordedAt: recordedAt, to: &writer)
        let bodyBegin = writer.count
        if let field = key {
            field.write(to: &writer)
            key = nil
        }
        writer.raw(body)
        let bodyEnd = writer.count
        writer.littleEndian(crc32c(writer.bytes.slice(begin..<writer.count)))
        ends.append(writer.count)
        let header = RecordHeader(
            kindNumber: kind.rawValue, user: user, version: version, recordedAt: recordedAt,
            body: writer.bytes.slice(bodyBegin..<bodyEnd))
        view.tail.withWriting { $0.add(header) }
        places.append(.init(user: UserNumber(rawValue: user), version: Version(rawValue: version)))
    }

    // MARK: - Names, keys, bounds

    /// Encodes an append anew that was prepared before names were erased: their numbers lead nowhere.
    private func renumbered(_ append: PreparedAppend) -> PreparedAppend {
        guard let known = append.names, known.erasures != view.nameTable.erasures else { return append }
        var renumbered = append
        renumbered.names = nil
        append.bytes.withUnsafeBytes { bytes in
            for (index, item) in append.items.enumerated() where append.deferred[index] == nil {
                let header = RecordHeader(kind: item.kind, body: bytes.slice(item.body))
                guard let event = RecordedEvent(header, position: .start, names: known) else {
                    preconditionFailure("An event was prepared that is none.")
                }
                renumbered.deferred[index] = .init(event: event.event, context: event.context)
            }
        }
        return renumbered
    }

    /// Encodes the events that had to wait for numbers of their names.
    private mutating func resolvingNames(of append: PreparedAppend) throws -> PreparedAppend {
        if append.deferred.isEmpty { return append }
        var resolved = append
        resolved.deferred = [:]
        resolved.extraBytes = 0
        for (index, deferred) in append.deferred.sorted(by: { $0.key < $1.key }) {
            scratch.removeAll()
            _ = EventEncoder.write(deferred.event, deferred.context, names: &names, to: &scratch)
            guard scratch.count <= Limits.bytesPerEvent else {
                throw AppendError.invalid(
                    place: "The event", reason: "must not be larger than \(Limits.bytesPerEvent) bytes")
            }
            let begin = resolved.bytes.count
            resolved.bytes.append(contentsOf: scratch.bytes)
            let item = append.items[index]
            resolved.items[index] = .init(target: item.target, kind: item.kind, body: begin..<resolved.bytes.count)
        }
        return resolved
    }

    /// What makes two appends the same: who, what kind, which content, in this order.
    private func contentHash(_ append: borrowing PreparedAppend) -> [UInt8] {
        var content: [UInt8] = []
        content.reserveCapacity(append.bytes.count + append.items.count * 12)
        for item in append.items {
            let target = append.targets[item.target]
            content.append(target.id.kindNumber)
            if target.key.isEmpty {
                let id = Array(target.id.parts[0].utf8)
                content.appendBigEndian(UInt32(id.count))
                content += id
            } else {
                content.appendBigEndian(UInt32(target.key.count))
                content += append.bytes[target.key]
            }
            content.append(item.kind.rawValue)
            content.appendBigEndian(UInt32(item.body.count))
            content += append.bytes[item.body]
        }
        return KeyCoding.hash(content)
    }

    /// The first answer to the append, if its key was used before for the same content. If something of that was erased, what is left of it
    /// is compared.
    func earlierReceipt(
        _ append: borrowing PreparedAppend, _ content: [UInt8], _ transaction: borrowing some Reading & ~Copyable
    ) throws -> AppendReceipt? {
        let hash = KeyCoding.hash(append.idempotencyKey)
        guard let position = try view.append(keyHash: hash, transaction) else { return nil }
        guard let field = AppendField.first(in: try header(at: position, transaction).body) else {
            throw StorageError.damaged(place: "the record at position \(position)")
        }
        guard field.isUnder(append.idempotencyKey, hash: hash) else {
            throw AppendError.keyReused(position: Position(rawValue: position))
        }
        var places: [AppendReceipt.Place] = []
        let (end, overflow) = position.addingReportingOverflow(field.count)
        guard !overflow, end <= nextPosition else {
            throw StorageError.damaged(place: "the record at position \(position)")
        }
        guard try field.content == content || matches(append, whatRemainsAt: position..<end, transaction) else {
            throw AppendError.keyReused(position: Position(rawValue: position))
        }
        for next in position..<end {
            let header = try header(at: next, transaction)
            places.append(.init(user: UserNumber(rawValue: header.user), version: Version(rawValue: header.version)))
        }
        return AppendReceipt(repeating: field, at: position, places)
    }

    /// The header at a position of the log, or of this very commit.
    func header(
        at position: UInt64, _ transaction: borrowing some Reading & ~Copyable
    ) throws -> RecordHeader {
        guard position >= firstPosition else {
            return try RecordHeader(transaction.get(view.tables.log, position), at: position)
        }
        guard position < nextPosition else { return try RecordHeader(nil, at: position) }
        let index = Int(position - firstPosition)
        return try RecordHeader(writer.bytes.slice((index == 0 ? 0 : ends[index - 1])..<ends[index]), at: position)
    }
}

/// How much may wait on one device.
struct PendingLimits: Sendable {
    let itemsPerDevice: Int
}
