// The stored form of events: field numbers, writing, reading. `record.proto` is its contract.

/// The field numbers of record.proto. Never reused.
@usableFromInline
package enum RecordField {
    static let append: UInt32 = 5
    @inlinable package static var occurredAtMilliseconds: UInt32 { 6 }
    @inlinable package static var occurredAt: UInt32 { 7 }
    @inlinable package static var source: UInt32 { 8 }
    @inlinable package static var name: UInt32 { 9 }
    @inlinable package static var entries: UInt32 { 10 }
    static let utcOffset: UInt32 = 11
    static let process: UInt32 = 12
    @inlinable package static var device: UInt32 { 13 }
    static let storage: UInt32 = 14
    static let launch: UInt32 = 15
    static let emptyProperties: UInt32 = 16
    static let launchKind: UInt32 = 17
    static let flushed: UInt32 = 18
    static let rejected: UInt32 = 19
    static let discarded: UInt32 = 20
    static let reason: UInt32 = 21
    static let actor: UInt32 = 22
    static let identities: UInt32 = 23
    static let otherUser: UInt32 = 24
    static let otherVersion: UInt32 = 25
    static let targetVersion: UInt32 = 26
    static let erased: UInt32 = 27
    static let currency: UInt32 = 28
    static let price: UInt32 = 29
    @inlinable package static var quantity: UInt32 { 30 }
    static let item: UInt32 = 31
    @inlinable package static var app: UInt32 { 32 }
    static let chunk: UInt32 = 33
    static let queued: UInt32 = 34
    @inlinable package static var settings: UInt32 { 35 }
    static let replaces: UInt32 = 36
    static let skippedLists: UInt32 = 37
    static let released: UInt32 = 38
    static let leftOut: UInt32 = 39
    static let channel: UInt32 = 40
    static let cause: UInt32 = 41
    static let dispatch: UInt32 = 42
    static let action: UInt32 = 43
    static let screen: UInt32 = 44
    static let inApp: UInt32 = 45
    static let target: UInt32 = 48
    static let rules: UInt32 = 50

    @usableFromInline
    package enum Value {
        @inlinable package static var name: UInt32 { 1 }
        @inlinable package static var bool: UInt32 { 2 }
        @inlinable package static var int: UInt32 { 3 }
        @inlinable package static var double: UInt32 { 4 }
        @inlinable package static var string: UInt32 { 5 }
        @inlinable package static var date: UInt32 { 6 }
        @inlinable package static var array: UInt32 { 7 }
        @inlinable package static var object: UInt32 { 8 }
        @inlinable package static var null: UInt32 { 9 }
        @inlinable package static var operation: UInt32 { 10 }
        static let key: UInt32 = 11
        @inlinable package static var uuid: UInt32 { 12 }

        /// Tells whether the field holds the value itself.
        @inlinable
        @inline(__always)
        package static func isPayload(_ field: UInt32) -> Bool { field >= bool && field <= null || field == uuid }
    }

    package enum Operation: UInt64 {
        case set = 0
        case unset = 1
        case increment = 2
        case arrayAdd = 3
        case arrayRemove = 4
        case objectMerge = 5
        case objectsAdd = 6
        case objectsUpdate = 7
        case objectsUpdateMerging = 8
        case objectsRemove = 9
    }
}

// MARK: - Writing

/// Encodes events as the body of a record: its fields from `occurred_at` on, in ascending order.
package enum EventEncoder {
    @inline(__always)
    private static func writeAny<Names: NameNumbering>(
        _ event: borrowing ProfileEvent, _ context: borrowing EventContext, names: inout Names,
        to writer: inout WireWriter
    ) -> Bool {
        let begin = writer.count
        guard writeFields(event, context, &names, &writer) else {
            writer.truncate(to: begin)
            return false
        }
        return true
    }

    /// Writes the body of `event`; false, with `writer` as it was, if a name has no number yet.
    package static func write(
        _ event: borrowing ProfileEvent, _ context: borrowing EventContext, names: inout some NameNumbering,
        to writer: inout WireWriter
    ) -> Bool {
        writeAny(event, context, names: &names, to: &writer)
    }

    /// The same for the names of a store: other targets cannot specialise the generic function.
    package static func write(
        _ event: borrowing ProfileEvent, _ context: borrowing EventContext, names: inout NameMap,
        to writer: inout WireWriter
    ) -> Bool {
        writeAny(event, context, names: &names, to: &writer)
    }

    /// The same for the names of a commit.
    package static func write(
        _ event: borrowing ProfileEvent, _ context: borrowing EventContext, names: inout NewNames,
        to writer: inout WireWriter
    ) -> Bool {
        writeAny(event, context, names: &names, to: &writer)
    }

    private static func writeFields(
        _ event: borrowing ProfileEvent, _ context: borrowing EventContext, _ names: inout some NameNumbering,
        _ writer: inout WireWriter
    ) -> Bool {
        if let at = context.occurredAt?.timestamp.rawValue {
            if at % 1000 == 0 {
                writer.field(RecordField.occurredAtMilliseconds, signed: at / 1000)
            } else {
                writer.field(RecordField.occurredAt, signed: at)
            }
        }
        if context.source != .unknown { writer.field(RecordField.source, varint: UInt64(context.source.rawValue)) }
        guard write(.content, of: event, &names, &writer) else { return false }
        if let at = context.occurredAt, at.utcOffsetMinutes != 0 {
            writer.field(RecordField.utcOffset, signed: Int64(at.utcOffsetMinutes))
        }
        if let process = context.process {
            guard let number = names.number(process) else { return false }
            writer.field(RecordField.process, varint: UInt64(number))
        }
        if let device = context.device { writer.field(RecordField.device, text: device) }
        if case .appGroup(let group) = context.storage {
            guard let number = names.number(group) else { return false }
            writer.field(RecordField.storage, varint: UInt64(number))
        }
        _ = write(.details, of: event, &names, &writer)
        if let item = context.item { writer.field(RecordField.item, text: item) }
        if let app = context.app { writer.field(RecordField.app, text: app) }
        _ = write(.device, of: event, &names, &writer)
        if let replaces = context.replaces { writer.field(RecordField.replaces, varint: replaces.rawValue) }
        _ = write(.rest, of: event, &names, &writer)
        return true
    }

    /// Parts of a body. The fields of the context are between them.
    private enum Part {
        /// Fields 9 and 10: `name` and `entries`.
        case content
        /// Fields 15 to 30.
        case details
        /// Fields 33 to 35.
        case device
        /// Fields from 37 on.
        case rest
    }

    /// Writes one part of `event`, fields in ascending order; false if a name has no number yet.
    private static func write(
        _ part: Part, of event: borrowing ProfileEvent, _ names: inout some NameNumbering, _ writer: inout WireWriter
    ) -> Bool {
        switch event {
        case .customEventSaved(let event), .customEventLogged(let event):
            if part == .content {
                return writeName(event.name, &names, &writer) && writeProperties(event.properties, &names, &writer)
            }
            if part == .details { writeEmptyProperties(event.properties, &writer) }
        case .purchaseLogged(let purchase):
            if part == .content {
                return writeName(purchase.product, &names, &writer)
                    && writeProperties(purchase.properties, &names, &writer)
            }
            guard part == .details else { break }
            writeEmptyProperties(purchase.properties, &writer)
            writer.field(RecordField.currency, text: purchase.currency)
            writer.field(RecordField.price, double: purchase.price)
            writer.field(RecordField.quantity, varint: UInt64(purchase.quantity))
        case .customAttributesSaved(let changes), .customAttributesChanged(let changes):
            guard part == .content else { break }
            return writeSorted(changes, &names, &writer) { change, names in
                names.number(change.name)
            } writeValue: { change, writer in
                writeOperation(change.operation, &writer)
            }
        case .userAttributeSaved(let change): if part == .content { writeUserAttribute(change, &writer) }
        case .userAttributesChanged(let changes):
            guard part == .content else { break }
            let changes = changes.span
            for index in changes.indices { writeUserAttribute(changes[index], &writer) }
        case .queued(let event): return write(part, of: event, &names, &writer)

        case .userCreated(let identities), .userIdentified(let identities):
            if part == .details { write(identities, RecordField.identities, &writer) }
        case .aliasAdded(let alias): if part == .details { write([alias], RecordField.identities, &writer) }
        case .aliasRenamed(let old, let new):
            if part == .details { write([new], RecordField.identities, &writer) }
            if part == .rest { write([old], RecordField.released, &writer) }
        case .externalIDRenamed(let old, let new):
            if part == .details { write([old, new], RecordField.identities, &writer) }
        case .externalIDRemoved(let old): if part == .rest { write([old], RecordField.released, &writer) }
        case .usersMerged(let merge):
            if part == .rest { write(merge.released, RecordField.released, &writer) }
            guard part == .details else { break }
            write(merge.identities, RecordField.identities, &writer)
            writer.field(RecordField.otherUser, varint: merge.source.rawValue)
            writer.field(RecordField.otherVersion, varint: merge.version.rawValue)
        case .userErased(let actor, let reason):
            guard part == .details else { break }
            writer.field(RecordField.reason, text: reason)
            writer.field(RecordField.actor, text: actor)

        case .userChanged(let previous):
            if let previous, part == .details { writer.field(RecordField.otherUser, varint: previous.rawValue) }
        case .appLaunched(let kind, let lists):
            if part == .details, kind != .cold { writer.field(RecordField.launchKind, varint: UInt64(kind.rawValue)) }
            if part == .rest, lists != PendingKind.all {
                writer.field(RecordField.skippedLists, varint: PendingKind.skippedMask(lists))
            }
        case .sessionEnded(let started):
            if part == .details { writer.field(RecordField.launch, varint: started.rawValue) }
        case .deviceChanged(let settings):
            if part == .device { DeviceSettings.wire.write(settings, as: RecordField.settings, to: &writer) }
        case .pendingFlushed(let flush):
            if part == .device {
                if flush.chunk > 0 { writer.field(RecordField.chunk, varint: UInt64(flush.chunk)) }
                if flush.isQueued { writer.field(RecordField.queued, varint: 1) }
            }
            guard part == .details else { break }
            writer.field(RecordField.launch, varint: flush.launch.rawValue)
            write(flush.flushed, RecordField.flushed, &writer)
            for rejection in flush.rejected {
                Flush.Rejection.wire.write(rejection, as: RecordField.rejected, to: &writer)
            }
        case .pendingDiscarded(let discard):
            guard part == .details else { break }
            write(discard.positions, RecordField.discarded, &writer)
            writer.field(RecordField.reason, text: discard.reason)
            writer.field(RecordField.actor, text: discard.actor)
        case .dataSent(let positions): if part == .details { write(positions, RecordField.flushed, &writer) }

        case .eventVoided(let voiding), .eventUnvoided(let voiding):
            if part == .rest { writer.field(RecordField.target, varint: voiding.target.rawValue) }
            guard part == .details else { break }
            writer.field(RecordField.reason, text: voiding.reason)
            writer.field(RecordField.actor, text: voiding.actor)
            writer.field(RecordField.targetVersion, varint: voiding.since.rawValue)
        case .rulesChanged(let document):
            guard part == .rest else { break }
            let begin = writer.beginMessage(RecordField.rules)
            ValueCodec.write(.object(document), to: &writer)
            writer.endMessage(begin)
        case .objectsLeftOut(let items):
            guard part == .rest else { break }
            for item in items { ObjectRefusal.wire.write(item, as: RecordField.leftOut, to: &writer) }
        case .message(let step): return write(part, of: step, &names, &writer)
        case .userLoggedOut, .appLeft, .appRemoved, .sessionStarted, .other: break
        }
        return true
    }

    private static func write(
        _ part: Part, of step: MessageStep, _ names: inout some NameNumbering, _ writer: inout WireWriter
    ) -> Bool {
        switch part {
        case .content:
            if !step.message.text.isEmpty, !writeName(step.message, &names, &writer) { return false }
            return writeProperties(step.content, &names, &writer)
        case .details: if let reason = step.reason { writer.field(RecordField.reason, text: reason) }
        case .device: break
        case .rest:
            writer.field(RecordField.channel, varint: UInt64(step.channel.rawValue))
            if let cause = step.cause { writer.field(RecordField.cause, varint: cause.rawValue) }
            if let dispatch = step.dispatch { writer.field(RecordField.dispatch, text: dispatch) }
            if let action = step.action { writer.field(RecordField.action, text: action) }
            if step.screen != .nothing { writer.field(RecordField.screen, varint: UInt64(step.screen.rawValue)) }
            if step.channel == .inAppMessage { InAppChange(step).write(RecordField.inApp, to: &writer) }
        }
        return true
    }

    private static func writeEmptyProperties(
        _ properties: [AttributeValue.Member]?, _ writer: inout WireWriter
    ) {
        if properties?.isEmpty == true { writer.field(RecordField.emptyProperties, varint: 1) }
    }

    private static func writeName(
        _ name: borrowing Name, _ names: inout some NameNumbering, _ writer: inout WireWriter
    ) -> Bool {
        guard let number = names.number(name) else { return false }
        writer.field(RecordField.name, varint: UInt64(number))
        return true
    }

    private static func writeProperties(
        _ properties: borrowing [AttributeValue.Member]?, _ names: inout some NameNumbering, _ writer: inout WireWriter
    ) -> Bool {
        switch properties {
        case nil: true
        case .some(let members):
            writeSorted(members, &names, &writer) { member, names in
                names.number(member.key)
            } writeValue: { member, writer in
                ValueCodec.write(member.value, to: &writer)
            }
        }
    }

    /// The most items for which an insertion sort is fastest.
    private static let fewItems = 32

    /// Writes `items` as entries, ascending by the numbers of their names. They are borrowed from the array: copies
    /// took twice as many instructions.
    @inline(__always)
    private static func writeSorted<Item, Names: NameNumbering>(
        _ items: borrowing [Item], _ names: inout Names, _ writer: inout WireWriter,
        number: (borrowing Item, inout Names) -> UInt32?, writeValue: (borrowing Item, inout WireWriter) -> Void
    ) -> Bool {
        let items = items.span
        return withUnsafeTemporaryAllocation(of: (number: UInt32, index: Int).self, capacity: max(items.count, 1)) {
            order in
            for index in items.indices {
                guard let number = number(items[index], &names) else { return false }
                var place = index
                while place > 0, items.count <= fewItems, order[place - 1].number > number {
                    order[place] = order[place - 1]
                    place -= 1
                }
                order[place] = (number, index)
            }
            if items.count > fewItems {
                var places = UnsafeMutableBufferPointer(rebasing: order[..<items.count])
                places.sort { $0.number < $1.number }
            }
            for place in items.indices {
                let begin = writer.beginMessage(RecordField.entries)
                writer.field(RecordField.Value.name, varint: UInt64(order[place].number))
                writeValue(items[order[place].index], &writer)
                writer.endMessage(begin)
            }
            return true
        }
    }

    private static func writeUserAttribute(_ change: borrowing UserAttributeChange, _ writer: inout WireWriter) {
        let begin = writer.beginMessage(RecordField.entries)
        writer.field(RecordField.Value.name, varint: UInt64(change.attribute.rawValue))
        if case .null = change.value {
            writer.field(RecordField.Value.operation, varint: RecordField.Operation.unset.rawValue)
        } else {
            ValueCodec.write(change.value, to: &writer)
        }
        writer.endMessage(begin)
    }

    private static func writeOperation(_ operation: borrowing AttributeOperation, _ writer: inout WireWriter) {
        func write(_ value: AttributeValue?, _ code: RecordField.Operation) {
            if let value { ValueCodec.write(value, to: &writer) }
            writer.field(RecordField.Value.operation, varint: code.rawValue)
        }
        switch operation {
        case .set(let value): ValueCodec.write(value, to: &writer)
        case .unset: write(nil, .unset)
        case .increment(let number): write(.int(number), .increment)
        case .arrayAdd(let values): write(.array(values), .arrayAdd)
        case .arrayRemove(let values): write(.array(values), .arrayRemove)
        case .objectMerge(let members): write(.object(members), .objectMerge)
        case .objectsAdd(let objects): write(.array(objects), .objectsAdd)
        case .objectsUpdate(let updates, let merging):
            write(.array(updates.map(OperationForm.value)), merging ? .objectsUpdateMerging : .objectsUpdate)
        case .objectsRemove(let matches): write(.array(matches.map(OperationForm.value)), .objectsRemove)
        }
    }

    private static func write(_ identities: [UserID], _ field: UInt32, _ writer: inout WireWriter) {
        for identity in identities { IdentityCodec.write(identity, field: field, to: &writer) }
    }

    private static func write(_ positions: [Position], _ field: UInt32, _ writer: inout WireWriter) {
        guard !positions.isEmpty else { return }
        let begin = writer.beginMessage(field)
        for position in positions { writer.varint(position.rawValue) }
        writer.endMessage(begin)
    }
}

// MARK: - Reading

extension ProfileEvent {
    /// The event of a record of `kind` with `body`; nil if the record is damaged.
    init?(_ kind: EventKind?, _ body: RecordBody, _ names: NameMap) {
        guard let event = Self.read(kind, body, names) else { return nil }
        self = event
    }

    private static func read(_ kind: EventKind?, _ body: RecordBody, _ names: NameMap) -> ProfileEvent? {
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
        case .purchaseLogged: return purchase(body, names).map { .purchaseLogged($0) }
        case .customEventQueued: return read(.customEventLogged, body, names).map { .queued($0) }
        case .customAttributesQueued: return read(.customAttributesChanged, body, names).map { .queued($0) }
        case .userAttributesQueued: return read(.userAttributesChanged, body, names).map { .queued($0) }
        case .purchaseQueued: return read(.purchaseLogged, body, names).map { .queued($0) }
        case .userLoggedOut: return .userLoggedOut
        case .appRemoved: return .appRemoved
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
        case .eventVoided: return .eventVoided(Voiding(body))
        case .eventUnvoided: return .eventUnvoided(Voiding(body))
        case .appLeft: return .appLeft
        case .sessionStarted: return .sessionStarted
        case .sessionEnded: return .sessionEnded(started: Position(rawValue: body.launch))
        case .dataSent: return .dataSent(body.flushed)
        case .deviceChanged: return .deviceChanged(body.settings ?? DeviceSettings())
        case .appLaunched:
            return .appLaunched(
                LaunchKind(rawValue: UInt8(truncatingIfNeeded: body.launchKind)) ?? .cold,
                lists: PendingKind.lists(skipping: body.skippedLists))
        case .pendingFlushed: return .pendingFlushed(flush(body))
        case .pendingDiscarded:
            return .pendingDiscarded(Discard(positions: body.discarded, actor: body.actor, reason: body.reason))
        case .objectsLeftOut: return .objectsLeftOut(body.leftOut)
        case .rulesChanged: return body.rules.map { .rulesChanged($0) }
        case .messageSent, .messageNotSent, .pushReceived, .pushNotReceived, .pushCaptured, .pushExpanded, .pushOpened,
            .pushActionChosen, .pushDismissed, .pushProcessed, .inAppMessageShown, .inAppMessageWaiting,
            .inAppMessageIgnored, .inAppMessageDiscarded, .inAppMessageClicked, .inAppMessageClosed, .messageScheduled,
            .messageUnscheduled:
            return messageStep(kind, body, names).map { .message($0) }
        case .unknown: return .other(.unknown)
        }
    }

    private static func customEvent(_ body: RecordBody, _ names: NameMap) -> CustomEvent? {
        guard let name = names.name(body.name), let members = members(body, names) else { return nil }
        if members.isEmpty, !body.hasEmptyProperties { return CustomEvent(name: name) }
        return CustomEvent(name: name, properties: members)
    }

    private static func purchase(_ body: RecordBody, _ names: NameMap) -> Purchase? {
        customEvent(body, names).map { event in
            Purchase(
                product: event.name, currency: body.currency, price: body.price, quantity: body.quantity,
                properties: event.properties)
        }
    }

    private static func flush(_ body: RecordBody) -> Flush {
        Flush(
            launch: Position(rawValue: body.launch), chunk: body.chunk, flushed: body.flushed, rejected: body.rejected,
            isQueued: body.isQueued)
    }

    /// The entries in ascending order of keys.
    private static func members(_ body: RecordBody, _ names: NameMap) -> [AttributeValue.Member]? {
        var members: [AttributeValue.Member] = []
        members.reserveCapacity(body.entries.count)
        for entry in body.entries {
            guard let named = ValueCodec.read(entry), let key = names.name(named.name) else { return nil }
            members.append(.init(key, named.value))
        }
        members.sort { $0.key < $1.key }
        return members
    }

    private static func messageStep(_ kind: EventKind, _ body: RecordBody, _ names: NameMap) -> MessageStep? {
        guard case .message(let stage) = kind.role, let message = body.name == 0 ? "" : names.name(body.name),
            let channel = MessageStep.Channel(rawValue: body.channel), let content = members(body, names)
        else { return nil }
        var step = MessageStep(
            stage, of: message, by: channel, cause: body.cause, reason: body.reason.isEmpty ? nil : body.reason,
            dispatch: body.dispatch, action: body.action, content: content)
        step.screen = body.screen
        return step
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

/// All fields after a record's header, read in one pass. Names stay numbers, values stay bytes.
package struct RecordBody {
    package private(set) var occurredAt: Int64?
    private(set) var source: UInt64 = 0
    package private(set) var name: UInt32 = 0
    private(set) var utcOffset: Int32 = 0
    package private(set) var process: UInt32 = 0
    package private(set) var device: UnsafeRawBufferPointer?
    package private(set) var storage: UInt32 = 0
    package private(set) var launch: UInt64 = 0
    private(set) var hasEmptyProperties = false
    package private(set) var launchKind: UInt64 = 0
    package private(set) var otherUser: UInt64?
    package private(set) var erased = false
    package private(set) var price = 0.0
    package private(set) var quantity: UInt32 = 1
    private(set) var item: String?
    package private(set) var app: String?
    private(set) var chunk: UInt32 = 0
    package private(set) var isQueued = false
    private(set) var replaces: UInt64 = 0
    package private(set) var skippedLists: UInt64 = 0
    package private(set) var otherVersion: UInt64 = 0
    private(set) var entries: RecordEntries
    private var rarities: Rarities?

    /// Fields of few records, in a class of their own: reading a history copies and frees a body for each event.
    private final class Rarities {
        var append: AppendField?
        var currency = ""
        var reason = ""
        var actor = ""
        var settings: DeviceSettings?
        var identities: [UserID] = []
        var released: [UserID] = []
        var flushed: [Position] = []
        var rejected: [Flush.Rejection] = []
        var discarded: [Position] = []
        var leftOut: [ObjectRefusal] = []
        var channel: UInt8 = 0
        var cause: Position?
        var dispatch: String?
        var action: String?
        var screen = MessageStep.Screen.nothing
        var inApp: InAppChange?
        var target: Position?
        var targetVersion: UInt64 = 0
        var rules: [AttributeValue.Member]?
    }

    var append: AppendField? { rarities?.append }
    package var currency: String { rarities?.currency ?? "" }
    package var reason: String { rarities?.reason ?? "" }
    package var actor: String { rarities?.actor ?? "" }
    package var settings: DeviceSettings? { rarities?.settings }
    package var identities: [UserID] { rarities?.identities ?? [] }
    package var released: [UserID] { rarities?.released ?? [] }
    package var flushed: [Position] { rarities?.flushed ?? [] }
    package var rejected: [Flush.Rejection] { rarities?.rejected ?? [] }
    package var discarded: [Position] { rarities?.discarded ?? [] }
    var leftOut: [ObjectRefusal] { rarities?.leftOut ?? [] }
    package var channel: UInt8 { rarities?.channel ?? 0 }
    package var cause: Position? { rarities?.cause }
    var dispatch: String? { rarities?.dispatch }
    package var action: String? { rarities?.action }
    package var screen: MessageStep.Screen { rarities?.screen ?? .nothing }
    package var inApp: InAppChange? { rarities?.inApp }
    package var target: Position? { rarities?.target }
    package var targetVersion: UInt64 { rarities?.targetVersion ?? 0 }
    package var rules: [AttributeValue.Member]? { rarities?.rules }

    /// Reads `bytes`, which must outlive the body; nil if they are not a message.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        entries = RecordEntries(bytes)
        var reader = WireReader(bytes)
        while let field = reader.field() {
            switch field.type {
            case .varint: readNumber(field.number, &reader)
            case .bytes where field.number == RecordField.entries:
                _ = reader.bytes()
                entries.count += 1
            case .bytes: if !readBytes(field.number, &reader) { return nil }
            case .fixed64:
                let value = reader.double()
                if field.number == RecordField.price { price = value }
            case .fixed32: reader.skip(.fixed32)
            }
        }
        if reader.isBad { return nil }
    }

    private mutating func readNumber(_ field: UInt32, _ reader: inout WireReader) {
        switch field {
        case RecordField.occurredAtMilliseconds: occurredAt = reader.milliseconds()
        case RecordField.occurredAt: occurredAt = reader.signed()
        case RecordField.utcOffset: utcOffset = Int32(truncatingIfNeeded: reader.signed())
        default:
            let value = reader.varint()
            switch field {
            case RecordField.source: source = value
            case RecordField.name: name = UInt32(truncatingIfNeeded: value)
            case RecordField.process: process = UInt32(truncatingIfNeeded: value)
            case RecordField.storage: storage = UInt32(truncatingIfNeeded: value)
            case RecordField.launch: launch = value
            case RecordField.emptyProperties: hasEmptyProperties = value != 0
            case RecordField.launchKind: launchKind = value
            case RecordField.otherUser: otherUser = value
            case RecordField.erased: erased = value != 0
            case RecordField.quantity: quantity = UInt32(truncatingIfNeeded: value)
            case RecordField.chunk: chunk = UInt32(truncatingIfNeeded: value)
            case RecordField.queued: isQueued = value != 0
            case RecordField.replaces: replaces = value
            case RecordField.skippedLists: skippedLists = value
            case RecordField.otherVersion: otherVersion = value
            case RecordField.channel: rare().channel = UInt8(truncatingIfNeeded: value)
            case RecordField.screen: rare().screen = .init(rawValue: UInt8(truncatingIfNeeded: value)) ?? .nothing
            case RecordField.cause: rare().cause = Position(rawValue: value)
            case RecordField.target: rare().target = Position(rawValue: value)
            case RecordField.targetVersion: rare().targetVersion = value
            default: break
            }
        }
    }

    private mutating func readBytes(_ field: UInt32, _ reader: inout WireReader) -> Bool {
        switch field {
        case RecordField.device: device = reader.bytes()
        case RecordField.item: item = reader.text()
        case RecordField.app: app = reader.text()
        default:
            return Self.readRarity(field, &reader, into: rare())
        }
        return true
    }

    private mutating func rare() -> Rarities {
        if let rarities { return rarities }
        let made = Rarities()
        rarities = made
        return made
    }

    private static func readRarity(_ field: UInt32, _ reader: inout WireReader, into rarities: Rarities) -> Bool {
        switch field {
        case RecordField.append:
            guard let field = AppendField(reader.bytes()) else { return false }
            rarities.append = field
        case RecordField.flushed: rarities.flushed += positions(reader.bytes())
        case RecordField.discarded: rarities.discarded += positions(reader.bytes())
        case RecordField.rejected:
            guard let rejection = Flush.Rejection.wire.read(reader.bytes()) else { return false }
            rarities.rejected.append(rejection)
        case RecordField.identities:
            guard let identity = IdentityCodec.read(reader.bytes()) else { return false }
            rarities.identities.append(identity)
        case RecordField.released:
            guard let identity = IdentityCodec.read(reader.bytes()) else { return false }
            rarities.released.append(identity)
        case RecordField.leftOut:
            guard let item = ObjectRefusal.wire.read(reader.bytes()) else { return false }
            rarities.leftOut.append(item)
        case RecordField.settings:
            guard let read = DeviceSettings.wire.read(reader.bytes()) else { return false }
            rarities.settings = read
        case RecordField.reason: rarities.reason = reader.text()
        case RecordField.actor: rarities.actor = reader.text()
        case RecordField.currency: rarities.currency = reader.text()
        case RecordField.dispatch: rarities.dispatch = reader.text()
        case RecordField.action: rarities.action = reader.text()
        case RecordField.inApp: rarities.inApp = InAppChange(reader.bytes())
        case RecordField.rules:
            guard case .object(let document)? = ValueCodec.read(reader.bytes())?.value else { return false }
            rarities.rules = document
        default: reader.skip(.bytes)
        }
        return true
    }

    private static func positions(_ bytes: UnsafeRawBufferPointer) -> [Position] {
        var positions: [Position] = []
        var reader = WireReader(bytes)
        while !reader.isAtEnd { positions.append(Position(rawValue: reader.varint())) }
        return positions
    }
}

/// The entries of a record, borrowed from its bytes: reading these twice costs less than an array.
struct RecordEntries: Sequence {
    private let bytes: UnsafeRawBufferPointer
    fileprivate(set) var count = 0

    fileprivate init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    func makeIterator() -> Iterator { Iterator(reader: WireReader(bytes), left: count) }

    struct Iterator: IteratorProtocol {
        fileprivate var reader: WireReader
        fileprivate var left: Int

        mutating func next() -> UnsafeRawBufferPointer? {
            if left == 0 { return nil }
            left -= 1
            return reader.bytes(of: RecordField.entries)
        }
    }
}

// MARK: - Parts of events

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

/// Updates and matches of array elements as plain objects, with the member names of the REST format (spec/rest-api
/// 1.5).
enum OperationForm {
    static let identifierKey: Name = "$identifier_key"
    static let identifierValue: Name = "$identifier_value"
    static let newObject: Name = "$new_object"

    static func value(_ match: AttributeValue.Member) -> AttributeValue {
        .object([.init(identifierKey, .string(match.key.text)), .init(identifierValue, match.value)])
    }

    static func value(_ update: AttributeOperation.ObjectUpdate) -> AttributeValue {
        .object([
            .init(identifierKey, .string(update.match.key.text)),
            .init(identifierValue, update.match.value),
            .init(newObject, .object(update.object)),
        ])
    }

    static func match(_ value: AttributeValue) -> AttributeValue.Member? {
        guard case .string(let key) = value[identifierKey], let expected = value[identifierValue] else { return nil }
        return .init(Name(key), expected)
    }

    static func update(_ value: AttributeValue) -> AttributeOperation.ObjectUpdate? {
        guard let match = match(value), case .object(let object) = value[newObject] else { return nil }
        return .init(match: match, object: object)
    }
}

extension Voiding {
    fileprivate init(_ body: RecordBody) {
        self.init(
            target: body.target ?? .start, since: Version(rawValue: body.targetVersion), actor: body.actor,
            reason: body.reason)
    }
}

extension ObjectRefusal {
    /// Message `LeftOut` of record.proto.
    fileprivate static let wire = WireTable(
        ObjectRefusal(list: "", index: 0, reason: ""),
        [.text(1, \.list), .number(2, \.number, omitted: 0), .text(3, \.field), .text(4, \.reason)])

    private var number: UInt64 {
        get { UInt64(index) }
        set { index = Int(clamping: newValue) }
    }
}

extension Flush.Rejection {
    /// Message `Rejection` of record.proto.
    fileprivate static let wire = WireTable(
        Flush.Rejection(position: .start, reason: ""), [.number(1, \.position.rawValue), .text(2, \.reason)])
}
