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
        guard writeContent(event, &names, &writer) else { return false }
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
        writeDetails(event, &writer)
        if let item = context.item { writer.field(RecordField.item, text: item) }
        if let app = context.app { writer.field(RecordField.app, text: app) }
        writeDeviceDetails(event, &writer)
        if let replaces = context.replaces { writer.field(RecordField.replaces, varint: replaces.rawValue) }
        switch event {
        case .appLaunched(_, let lists) where lists != PendingKind.all:
            writer.field(RecordField.skippedLists, varint: PendingKind.skippedMask(lists))
        default: break
        }
        for identity in event.released { IdentityCodec.write(identity, field: RecordField.released, to: &writer) }
        switch event {
        case .objectsLeftOut(let items): for item in items { LeftOutCodec.write(item, to: &writer) }
        default: break
        }
        return true
    }

    /// Fields 33 to 35.
    private static func writeDeviceDetails(_ event: borrowing ProfileEvent, _ writer: inout WireWriter) {
        switch event {
        case .pendingFlushed(let flush):
            if flush.chunk > 0 { writer.field(RecordField.chunk, varint: UInt64(flush.chunk)) }
            if flush.isQueued { writer.field(RecordField.queued, varint: 1) }
        case .deviceChanged(let settings): SettingsCodec.write(settings, to: &writer)
        default: break
        }
    }

    /// Fields `name` and `entries`.
    private static func writeContent(
        _ event: borrowing ProfileEvent, _ names: inout some NameNumbering, _ writer: inout WireWriter
    ) -> Bool {
        switch event {
        case .customEventSaved(let event), .customEventLogged(let event):
            return writeName(event.name, &names, &writer) && writeProperties(event.properties, &names, &writer)
        case .purchaseLogged(let purchase):
            return writeName(purchase.product, &names, &writer) && writeProperties(purchase.properties, &names, &writer)
        case .customAttributesSaved(let changes), .customAttributesChanged(let changes):
            return writeSorted(changes, &names, &writer) { change, names in
                names.number(change.name)
            } writeValue: { change, writer in
                writeOperation(change.operation, &writer)
            }
        case .userAttributeSaved(let change):
            writeUserAttribute(change, &writer)
            return true
        case .userAttributesChanged(let changes):
            let changes = changes.span
            for index in changes.indices { writeUserAttribute(changes[index], &writer) }
            return true
        case .queued(let event): return writeContent(event, &names, &writer)
        default: return true
        }
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

    /// Up to this many items an insertion sort is fastest.
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

    /// Fields 15 to 30, of single kinds.
    private static func writeDetails(_ event: borrowing ProfileEvent, _ writer: inout WireWriter) {
        switch event {
        case .customEventSaved(let event), .customEventLogged(let event):
            if event.properties?.isEmpty == true { writer.field(RecordField.emptyProperties, varint: 1) }
        case .purchaseLogged(let purchase):
            if purchase.properties?.isEmpty == true { writer.field(RecordField.emptyProperties, varint: 1) }
            writer.field(RecordField.currency, text: purchase.currency)
            writer.field(RecordField.price, double: purchase.price)
            writer.field(RecordField.quantity, varint: UInt64(purchase.quantity))
        case .appLaunched(let kind, _):
            if kind != .cold { writer.field(RecordField.launchKind, varint: UInt64(kind.rawValue)) }
        case .pendingFlushed(let flush):
            writer.field(RecordField.launch, varint: flush.launch.rawValue)
            writePositions(flush.flushed, RecordField.flushed, &writer)
            for rejection in flush.rejected {
                let begin = writer.beginMessage(RecordField.rejected)
                writer.field(1, varint: rejection.position.rawValue)
                writer.field(2, text: rejection.reason)
                writer.endMessage(begin)
            }
        case .pendingDiscarded(let discard):
            writePositions(discard.positions, RecordField.discarded, &writer)
            writer.field(RecordField.reason, text: discard.reason)
            writer.field(RecordField.actor, text: discard.actor)
        case .userErased(let actor, let reason):
            writer.field(RecordField.reason, text: reason)
            writer.field(RecordField.actor, text: actor)
        case .userCreated(let identities), .userIdentified(let identities): writeIdentities(identities, &writer)
        case .aliasAdded(let alias), .aliasRenamed(_, let alias): writeIdentities([alias], &writer)
        case .externalIDRenamed(let old, let new): writeIdentities([old, new], &writer)
        case .userChanged(let previous):
            if let previous { writer.field(RecordField.otherUser, varint: previous.rawValue) }
        case .usersMerged(let merge):
            writeIdentities(merge.identities, &writer)
            writer.field(RecordField.otherUser, varint: merge.source.rawValue)
            writer.field(RecordField.otherVersion, varint: merge.version.rawValue)
        case .sessionEnded(let started): writer.field(RecordField.launch, varint: started.rawValue)
        case .dataSent(let positions): writePositions(positions, RecordField.flushed, &writer)
        case .queued(let event): writeDetails(event, &writer)
        default: break
        }
    }

    private static func writeIdentities(_ identities: [UserID], _ writer: inout WireWriter) {
        for identity in identities { IdentityCodec.write(identity, field: RecordField.identities, to: &writer) }
    }

    private static func writePositions(_ positions: [Position], _ field: UInt32, _ writer: inout WireWriter) {
        guard !positions.isEmpty else { return }
        let begin = writer.beginMessage(field)
        for position in positions { writer.varint(position.rawValue) }
        writer.endMessage(begin)
    }
}

extension ProfileEvent {
    /// IDs that resolve to no user after the event.
    fileprivate var released: [UserID] {
        switch self {
        case .usersMerged(let merge): merge.released
        case .aliasRenamed(let old, _), .externalIDRemoved(let old): [old]
        default: []
        }
    }
}
