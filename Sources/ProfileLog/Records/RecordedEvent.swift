/// An event with its place and both times, copied out of the log.
public struct RecordedEvent: Hashable, Sendable {
    /// Its place in the log.
    public var position: Position
    /// Whose event it is.
    public var user: UserNumber
    /// Its place among the user's events.
    public var version: Version
    /// When the log recorded it.
    public var recordedAt: Timestamp
    /// When it happened by the sender's clock, and from where it came. `occurredAt` is nil if the sender gave no time.
    public var context: EventContext
    /// The fact.
    public var event: ProfileEvent
    /// Whether the content was erased; the place stays.
    public var isErased: Bool
    /// The idempotency key, on the first event of an append that had one.
    public var idempotencyKey: String?

    /// When it happened: the sender's time, or else the time of the recording.
    public var occurredAt: OccurredAt { context.occurredAt ?? OccurredAt(recordedAt) }
}

extension RecordedEvent {
    package init?(_ header: RecordHeader, position: Position, names: NameMap) {
        guard let body = RecordBody(header.body) else { return nil }
        var context = EventContext(source: EventSource(rawValue: UInt8(truncatingIfNeeded: body.source)) ?? .unknown)
        if let at = body.occurredAt {
            context.occurredAt = OccurredAt(Timestamp(rawValue: at), utcOffsetMinutes: body.utcOffset)
        }
        if body.process > 0 { context.process = names.name(body.process) }
        if let device = body.device { context.device = String(exactly: device) }
        context.item = body.item
        context.app = body.app
        if body.replaces > 0 { context.replaces = Position(rawValue: body.replaces) }
        let kind = header.kind
        if body.storage > 0 {
            guard let group = names.name(body.storage) else { return nil }
            context.storage = .appGroup(group)
        } else if kind?.isSaved == true, !body.erased {
            context.storage = .privateTo(process: context.process ?? DeviceStorage.app)
        }
        guard let event = Self.event(kind, body, names) else { return nil }
        self.init(
            position: position, user: UserNumber(rawValue: header.user), version: Version(rawValue: header.version),
            recordedAt: Timestamp(rawValue: header.recordedAt), context: context, event: event, isErased: body.erased,
            idempotencyKey: body.append.flatMap { $0.isErased ? nil : String(decoding: $0.key, as: UTF8.self) })
    }

    private static func event(_ kind: EventKind?, _ body: RecordBody, _ names: NameMap) -> ProfileEvent? {
        guard let kind else { return .other(.unknown) }
        if body.erased { return .other(kind) }
        switch kind {
        case .userCreated: return .userCreated(body.identities)
        case .userIdentified: return .userIdentified(body.identities)
        case .userChanged: return .userChanged(previous: body.otherUser.map(UserNumber.init(rawValue:)))
        case .customEventSaved: return customEvent(body, names).map { .customEventSaved($0) }
        case .customEventLogged: return customEvent(body, names).map { .customEventLogged($0) }
        case .customAttributesSaved: return changes(body, names).map { .customAttributesSaved($0) }
        case .customAttributesChanged: return changes(body, names).map { .customAttributesChanged($0) }
        case .userAttributeSaved: return userAttributes(body)?.first.map { .userAttributeSaved($0) }
        case .userAttributesChanged: return userAttributes(body).map { .userAttributesChanged($0) }
        case .purchaseLogged:
            guard let event = customEvent(body, names) else { return nil }
            return .purchaseLogged(
                Purchase(
                    product: event.name, currency: body.currency, price: body.price, quantity: body.quantity,
                    properties: event.properties))
        case .customEventQueued, .customAttributesQueued, .userAttributesQueued, .purchaseQueued:
            return event(kind.unqueued, body, names).map { .queued($0) }
        case .userLoggedOut: return .userLoggedOut
        case .userErased: return .userErased(actor: body.actor, reason: body.reason)
        case .aliasAdded: return body.identities.first.map { .aliasAdded($0) }
        case .aliasRenamed:
            guard let old = body.released.first, let new = body.identities.first else { return nil }
            return .aliasRenamed(from: old, to: new)
        case .externalIDRenamed:
            guard let old = body.identities.first, let new = body.identities.last else { return nil }
            return .externalIDRenamed(from: old, to: new)
        case .externalIDRemoved: return body.released.first.map { .externalIDRemoved($0) }
        case .usersMerged:
            return .usersMerged(
                Merge(
                    source: UserNumber(rawValue: body.otherUser ?? 0), version: Version(rawValue: body.otherVersion),
                    identities: body.identities, released: body.released))
        case .appLeft: return .appLeft
        case .sessionStarted: return .sessionStarted
        case .sessionEnded: return .sessionEnded(started: Position(rawValue: body.launch))
        case .dataSent: return .dataSent(body.flushed)
        case .deviceChanged: return .deviceChanged(body.settings ?? DeviceSettings())
        case .appLaunched:
            return .appLaunched(
                LaunchKind(rawValue: UInt8(truncatingIfNeeded: body.launchKind)) ?? .cold,
                lists: PendingKind.lists(skipping: body.skippedLists))
        case .pendingFlushed:
            return .pendingFlushed(
                Flush(
                    launch: Position(rawValue: body.launch), chunk: body.chunk, flushed: body.flushed,
                    rejected: body.rejected, isQueued: body.isQueued))
        case .pendingDiscarded:
            return .pendingDiscarded(Discard(positions: body.discarded, actor: body.actor, reason: body.reason))
        case .objectsLeftOut: return .objectsLeftOut(body.leftOut)
        case .unknown: return .other(.unknown)
        }
    }

    private static func customEvent(_ body: RecordBody, _ names: NameMap) -> CustomEvent? {
        guard let name = names.name(body.name) else { return nil }
        var members: [AttributeValue.Member] = []
        members.reserveCapacity(body.entries.count)
        for entry in body.entries {
            guard let named = ValueCodec.read(entry), let key = names.name(named.name) else { return nil }
            members.append(.init(key, named.value))
        }
        if members.isEmpty, !body.hasEmptyProperties { return CustomEvent(name: name) }
        members.sort { $0.key < $1.key }
        return CustomEvent(name: name, properties: members)
    }

    private static func changes(_ body: RecordBody, _ names: NameMap) -> [AttributeChange]? {
        var changes: [AttributeChange] = []
        changes.reserveCapacity(body.entries.count)
        for entry in body.entries {
            guard let named = ValueCodec.read(entry), let name = names.name(named.name),
                let operation = AttributeOperation(named.operation, named.value)
            else { return nil }
            changes.append(AttributeChange(name, operation))
        }
        changes.sort { $0.name < $1.name }
        return changes
    }

    private static func userAttributes(_ body: RecordBody) -> [UserAttributeChange]? {
        var changes: [UserAttributeChange] = []
        changes.reserveCapacity(body.entries.count)
        for entry in body.entries {
            guard let named = ValueCodec.read(entry),
                let attribute = StandardAttribute(rawValue: UInt8(truncatingIfNeeded: named.name))
            else { return nil }
            changes.append(UserAttributeChange(attribute, named.operation == .unset ? .null : named.value))
        }
        return changes
    }
}

extension AttributeOperation {
    /// The operation stored as `code` with `value`; nil if they do not fit.
    package init?(_ code: RecordField.Operation, _ value: AttributeValue) {
        switch (code, value) {
        case (.set, _): self = .set(value)
        case (.unset, _): self = .unset
        case (.increment, .int(let number)): self = .increment(number)
        case (.arrayAdd, .array(let values)): self = .arrayAdd(values)
        case (.arrayRemove, .array(let values)): self = .arrayRemove(values)
        case (.objectMerge, .object(let members)): self = .objectMerge(members)
        case (.objectsAdd, .array(let objects)): self = .objectsAdd(objects)
        case (.objectsUpdate, .array(let updates)), (.objectsUpdateMerging, .array(let updates)):
            self = .objectsUpdate(updates.compactMap(OperationForm.update), merging: code == .objectsUpdateMerging)
        case (.objectsRemove, .array(let matches)): self = .objectsRemove(matches.compactMap(OperationForm.match))
        default: return nil
        }
    }
}

extension PendingKind {
    /// The lists that are not in `lists`, as the sum in record.proto.
    package static func skippedMask(_ lists: Set<PendingKind>) -> UInt64 {
        all.subtracting(lists).reduce(0) { $0 | 1 << UInt64($1.rawValue - 1) }
    }

    /// The lists that are not in such a sum.
    package static func lists(skipping mask: UInt64) -> Set<PendingKind> {
        all.filter { mask & 1 << UInt64($0.rawValue - 1) == 0 }
    }
}
