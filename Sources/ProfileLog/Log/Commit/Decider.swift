/// Turns appends into records, one after the other, inside the write transaction that will store them: resolves users,
/// checks keys and then versions, gives positions and versions. An append that is refused leaves nothing.
///
/// Decisions depend only on the log and the append: the time is an argument.
struct Decider: ~Copyable {
    let view: LogView
    let braze: BrazeIDs
    /// The most items that may wait on one device.
    let itemsPerDevice: Int
    let tables: MessageTables
    let rules: RulesCache
    /// The time of the next record.
    var recordedAt: Int64
    private let firstPosition: UInt64
    var names: NewNames
    /// One cursor for all look-ups of versions.
    private var streams: Cursor
    /// All records so far, one after the other.
    var writer = WireWriter(capacity: 1 << 16)
    /// A buffer for the encoding of one event.
    var scratch = WireWriter()
    private var ends: [Int] = []
    /// Places that the append that is decided now has stored so far.
    var places: [AppendReceipt.Place] = []
    /// The number of events that it stored after those.
    var asideCount: UInt64 = 0
    /// Its idempotency key, until its first record takes it.
    var key: AppendField?
    /// Tells whether an append was stored before.
    private(set) var repeats = false
    private var isCut = false
    /// Statuses of devices with in-app messages after the records so far, for those that were asked for.
    private var statuses: [Name: DeviceStatus] = [:]
    /// The device whose items were flushed or sent last.
    var kept: KeptDevice?
    /// The most bytes of records in the commit, unless the first append has more.
    var mostBytes = Limits.bytesPerCommit
    /// The most appends that are decided one after the other for one device, while other writers wait.
    var mostSteps = Decider.stepsPerCommit
    /// The number of appends that were decided so far.
    private var decidedCount = 0
    /// The declarations of in-app messages that this commit stores, compiled.
    var newTables: [UInt64: TriggerTable] = [:]
    /// The newest of them, or of those before; nil until it is asked for.
    var newestDeclaration: MessageTables.Newest?

    init(
        view: LogView, names: NameTable, braze: BrazeIDs, itemsPerDevice: Int, tables: MessageTables,
        rules: RulesCache, recordedAt: Int64, firstPosition: UInt64
    ) throws {
        self.view = view
        self.braze = braze
        self.itemsPerDevice = itemsPerDevice
        self.tables = tables
        self.rules = rules
        self.recordedAt = recordedAt
        self.firstPosition = firstPosition
        self.names = NewNames(names)
        streams = try Cursor(view.handle, view.tables.streams)
    }

    /// An append was refused after a part of it was recorded: the commit is given up.
    struct HalfDecided: Error {
        let refusal: AppendError
        /// The number of appends that were decided before it in the commit; 0 if they recorded nothing.
        let decidedBefore: Int
    }

    /// A launch reads all items of its device once in each commit, which takes about as long as so many steps.
    static let stepsPerCommit = 128

    /// Tells whether `position` was in the log before this commit.
    func isStored(_ position: UInt64) -> Bool { position < firstPosition }

    var nextPosition: UInt64 { firstPosition + UInt64(ends.count) }

    /// Bytes of all records so far.
    var byteCount: Int { writer.count }

    consuming func batch() -> CommitBatch {
        CommitBatch(
            firstPosition: firstPosition, firstName: names.firstNumber, names: names.added, bytes: Array(writer.bytes),
            ends: ends)
    }

    // MARK: - Deciding

    /// Decides the first of `appends`, as many as fit into the commit, and adds their answers to `answers`. With
    /// `endsAtRefusal` the first refusal is the last answer.
    mutating func decide(
        _ appends: ArraySlice<PreparedAppend>, _ endsAtRefusal: Bool,
        _ answers: inout [Result<AppendReceipt, AppendError>]
    ) throws {
        answers.reserveCapacity(appends.count)
        // Lent by the span: an append has a dozen parts to retain.
        let span = appends.span
        for index in span.indices {
            if index > 0, byteCount + span[index].byteCount > mostBytes {
                return CoverageMark.hit(.commitFull)
            }
            do {
                answers.append(.success(try decide(span[index])))
            } catch let error as AppendError {
                answers.append(.failure(error))
                if endsAtRefusal { return CoverageMark.hit(.endedAtRefusal) }
            }
        }
    }

    /// Tells whether the commit takes more of what a device does by itself: it has room, it has not held the lock for
    /// long, and nothing of that was refused.
    var takesMore: Bool { !isCut && decidedCount < mostSteps && byteCount < mostBytes / 4 }

    /// Decides `append` as `decide` does, if the commit takes more. Gives nil if it does not, or does not from now on:
    /// if the append is refused after others, they are stored first, and it is refused in a commit of its own.
    mutating func decideNext(_ append: PreparedAppend) throws -> AppendReceipt? {
        guard takesMore else { return nil }
        do {
            return try decide(append)
        } catch is AppendError where nextPosition > firstPosition {
            isCut = true
            return nil
        }
    }

    /// Decides one append. Throws an `AppendError` if it is refused, with nothing added; other errors end the commit.
    /// Damage refuses only the appends that need the damaged part.
    mutating func decide(_ append: borrowing PreparedAppend) throws -> AppendReceipt {
        let namesBefore = names.added.count
        let recordsBefore = ends.count
        places = []
        asideCount = 0
        key = nil
        do {
            let earlier =
                if case .events = append.intent, !isEncoded(append) {
                    try decideOnce(encoded(copy append))
                } else {
                    try decideOnce(append)
                }
            // A retry may name what was erased since: it must not come back.
            if let earlier {
                names.truncate(to: namesBefore)
                repeats = true
                decidedCount += 1
                return earlier
            }
            let first = Position(rawValue: nextPosition - asideCount - UInt64(places.count))
            var receipt = AppendReceipt(first: first, places: places, isRepetition: false, note: append.note)
            receipt.raised = try versions(raisedBy: nextPosition - asideCount..<nextPosition)
            decidedCount += 1
            return receipt
        } catch let error as AppendError {
            throw refusal(error, recordsBefore, namesBefore)
        } catch StorageError.damaged(let place) {
            CoverageMark.hit(.damageRefused)
            throw refusal(.refused(.damaged(place: place)), recordsBefore, namesBefore)
        }
    }

    /// Decides an append of which all names have their numbers. Answers the earlier receipt if it is a repetition.
    private mutating func decideOnce(_ append: borrowing PreparedAppend) throws -> AppendReceipt? {
        if !append.idempotencyKey.isEmpty {
            let content = append.content.isEmpty ? append.preparedHash ?? append.contentHash : append.content
            if let receipt = try earlierReceipt(append, content) { return receipt }
            key = AppendField(key: append.idempotencyKey, content: content, count: 1, note: append.note)
        }
        try check(append)
        switch append.intent {
        case .events: try decideEvents(append)
        case .device(let device, let intent, let context): try decideDevice(device, intent, context)
        case .inApp(let device, let action, let context): try decideInApp(device, action, context)
        case .messages(let definitions): try declare(definitions)
        case .rules(let rules, let context): try decideRules(rules, context)
        case .identity(let change, let context): try decideIdentity(change, context)
        case .discard(let device, let selection, let actor, let reason, let context):
            try decideDiscard(device, selection, actor, reason, context)
        case .void(let request, let context): try decideVoid(request, context)
        }
        return nil
    }

    /// `error`, with the names of the append forgotten; or what ends the commit, if a part of the append is recorded
    /// already.
    private mutating func refusal(_ error: AppendError, _ recordsBefore: Int, _ namesBefore: Int) -> any Error {
        if ends.count > recordsBefore {
            return HalfDecided(refusal: error, decidedBefore: recordsBefore == 0 ? 0 : decidedCount)
        }
        names.truncate(to: namesBefore)
        return error
    }

    // MARK: - Records

    mutating func create(_ id: UserID) throws -> UInt64 {
        let user = try view.userCount() + 1
        try event(.userCreated([id]), EventContext(source: .system), user)
        return user
    }

    /// Encodes `event` and adds its record.
    mutating func event(_ event: ProfileEvent, _ context: EventContext, _ user: UInt64) throws {
        scratch.removeAll()
        _ = EventEncoder.write(event, context, names: &names, to: &scratch)
        let body = Array(scratch.bytes)
        try body.withUnsafeBytes { try record(event.kind, user, body: $0) }
    }

    /// Adds one record at the next position and the user's next version, and tells the tail of it.
    @inline(__always)
    mutating func record(_ kind: EventKind, _ user: UInt64, body: UnsafeRawBufferPointer) throws {
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
        if !statuses.isEmpty || kept != nil { follow(header, at: nextPosition - 1) }
        places.append(.init(user: UserNumber(rawValue: user), version: Version(rawValue: version)))
    }

    // MARK: - Devices

    /// The device after the records so far. Unlike `LogView.device`, it folds each record of the commit once.
    mutating func status(of device: Name) throws -> DeviceStatus {
        if let known = statuses[device] { return known }
        let status = try view.device(device)
        statuses[device] = status
        return status
    }

    private mutating func follow(_ header: RecordHeader, at position: UInt64) {
        switch header.kind?.role {
        case .content(_, .logged), .note, nil: return
        // Items may have other owners now.
        case .identity: kept = nil
        case .content, .device, .outcome, .message: break
        }
        guard let body = RecordBody(header.body) else { return }
        DeviceChange.forEach(header, body, position) { device, change in
            statuses[device]?.apply(change)
            if kept?.name == device { kept?.apply(change) }
        }
    }

    // MARK: - What was stored before

    /// The first receipt of the append, if its key was used before for the same content. Where contents cannot be
    /// compared since an erasure, only the key decides.
    private func earlierReceipt(_ append: borrowing PreparedAppend, _ content: [UInt8]) throws -> AppendReceipt? {
        let hash = KeyCoding.hash(append.idempotencyKey)
        guard let (field, positions) = try view.append(keyHash: hash, before: nextPosition, { try header(at: $0) })
        else { return nil }
        let isSame = field.content == content
        // The hash went with the first event. The hash of plain events is over the numbers of names, and an erased name
        // has another number when it comes again.
        let isComparable = !field.isErased && !(append.hasPlainContent && field.note == append.note)
        let isErased = try !isSame && !isComparable && hasTombstone(at: positions)
        guard field.isUnder(append.idempotencyKey, hash: hash),
            try isSame || isErased || isImport(append, at: positions)
        else {
            CoverageMark.hit(.keyReused)
            throw AppendError.keyReused(position: Position(rawValue: positions.lowerBound))
        }
        var receipt = try AppendReceipt(repeating: field, at: positions) { try header(at: $0) }
        receipt.isKnownByKey = isErased
        CoverageMark.hit(receipt.isErased ? .repetitionOfErased : .repetition)
        receipt.raised = try versions(raisedBy: positions.upperBound..<endOfSteps(after: positions))
        return receipt
    }

    /// Tells whether something at `positions` was erased.
    private func hasTombstone(at positions: Range<UInt64>) throws -> Bool {
        try positions.contains { position in
            guard let body = RecordBody(try header(at: position).body) else {
                throw StorageError.damaged(place: "the record at position \(position)")
            }
            return body.erased
        }
    }

    /// Tells whether `append`, or what is stored at `positions`, is an import of the other: it says the same of the
    /// same users, and has its sources and times from the export.
    private func isImport(_ append: borrowing PreparedAppend, at positions: Range<UInt64>) throws -> Bool {
        let (items, targets) = (append.items, append.targets)
        let others: [EventKind] = [.userCreated, .userChanged]
        let stored = try positions.map { try recorded(at: $0) }.filter { !others.contains($0.event.kind) }
        guard !items.isEmpty, stored.count == items.count else { return false }
        return try append.bytes.withUnsafeBytes { bytes in
            try zip(items, stored).allSatisfy { item, stored in
                let header = RecordHeader(kind: item.kind, body: bytes.slice(item.body))
                let target = targets[item.target]
                guard let sent = RecordedEvent(header, position: .start, names: names.map),
                    sent.context.source == .import || stored.context.source == .import,
                    let user = try view.user(target.holder ?? target.id, braze: braze),
                    try user == view.canonicalUser(of: stored.user.rawValue)
                else { return false }
                if case .queued(let event) = stored.event { return event == sent.event }
                return stored.event == sent.event
            }
        }
    }

    /// The versions of the last events of their users among these.
    private func versions(raisedBy positions: Range<UInt64>) throws -> [UserNumber: Version] {
        var versions: [UserNumber: Version] = [:]
        for position in positions {
            let header = try header(at: position)
            versions[UserNumber(rawValue: header.user)] = Version(rawValue: header.version)
        }
        return versions
    }

    /// The steps of in-app messages to which an event of the SDK leads.
    private static let stepsAfterTrigger: Set<EventKind> = [
        .inAppMessageShown, .inAppMessageWaiting, .inAppMessageIgnored, .inAppMessageDiscarded, .inAppMessageClosed,
    ]

    /// Returns the end of the steps of in-app messages that followed from the events at `positions` in the same commit.
    private func endOfSteps(after positions: Range<UInt64>) throws -> UInt64 {
        let recordedAt = try header(at: positions.upperBound - 1).recordedAt
        var end = positions.upperBound
        while end < nextPosition {
            let header = try header(at: end)
            guard header.recordedAt == recordedAt, header.kind.map(Self.stepsAfterTrigger.contains) == true else {
                break
            }
            end += 1
        }
        return end
    }

    /// The header at a position of the log, or of this very commit.
    func header(at position: UInt64) throws -> RecordHeader {
        guard position >= firstPosition else {
            return try view.header(at: position)
        }
        guard position < nextPosition else { return try RecordHeader(nil, at: position) }
        let index = Int(position - firstPosition)
        return try RecordHeader(writer.bytes.slice((index == 0 ? 0 : ends[index - 1])..<ends[index]), at: position)
    }
}
