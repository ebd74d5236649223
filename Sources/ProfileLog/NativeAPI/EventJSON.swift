internal import ProfileLogRequests

/// Recorded events as JSON objects: the one form of every answer and of the export (docs/api.md).
///
/// Keeps the IDs of the users that it met last, so that a long list asks the log once for each.
package struct EventJSON {
    private let log: EventLog
    private var ids: [UserNumber: String] = [:]

    private static let mostIDs = 65_536

    /// Writes events of `log`.
    package init(log: EventLog) { self.log = log }

    /// Writes `event` as one object.
    package mutating func write(_ event: RecordedEvent, to json: inout JSONWriter) throws {
        json.beginObject()
        json.key("position")
        json.value(event.position.rawValue)
        json.key("user")
        if let id = try id(of: event.user) { json.value(id) } else { json.null() }
        json.key("user_number")
        json.value(event.user.rawValue)
        json.key("version")
        json.value(event.version.rawValue)
        json.key("kind")
        json.value(event.event.kind.name)
        json.key("recorded_at")
        json.value(event.recordedAt)
        json.key("occurred_at")
        json.value(event.occurredAt)
        Self.write(event.context, to: &json)
        if let key = event.idempotencyKey {
            json.key("key")
            json.value(key)
        }
        if event.isErased {
            json.key("erased")
            json.value(true)
        }
        Self.writeContent(event.event, to: &json)
        json.endObject()
    }

    /// How `user` is best known, as a USER; nil for the system.
    package mutating func id(of user: UserNumber) throws -> String? {
        if let known = ids[user] { return known }
        guard user != .system, let id = try log.find(user)?.id.description else { return nil }
        if ids.count >= Self.mostIDs { ids.removeAll(keepingCapacity: true) }
        ids[user] = id
        return id
    }

    private static func write(_ context: EventContext, to json: inout JSONWriter) {
        json.key("source")
        json.value(context.source.name)
        json.member("process", context.process?.text)
        json.member("device", context.device)
        json.member("storage", context.storage?.name)
        json.member("item", context.item)
        json.member("app", context.app)
        if let replaced = context.replaces {
            json.key("replaces")
            json.value(replaced.rawValue)
        }
    }

    // MARK: - What the event says

    /// Writes the members that belong to the event's kind.
    static func writeContent(_ event: ProfileEvent, to json: inout JSONWriter) {
        switch event {
        case .userCreated(let ids), .userIdentified(let ids):
            json.key("ids")
            json.array(ids) { $0.value($1.description) }
        case .userErased(let actor, let reason):
            json.member("actor", actor)
            json.member("reason", reason)
        case .aliasAdded(let id): json.member("id", id.description)
        case .aliasRenamed(let old, let new), .externalIDRenamed(let old, let new):
            json.member("from", old.description)
            json.member("to", new.description)
        case .externalIDRemoved(let id): json.member("released", id.description)
        case .userChanged(let previous):
            if let previous {
                json.key("previous_user_number")
                json.value(previous.rawValue)
            }
        case .customEventSaved(let event), .customEventLogged(let event):
            json.key("name")
            json.value(event.name.text)
            write(properties: event.properties, to: &json)
        case .customAttributesSaved(let changes), .customAttributesChanged(let changes):
            json.key("attributes")
            json.beginObject()
            for change in changes {
                json.key(change.name)
                json.value(JSONOperations.json(change.operation))
            }
            json.endObject()
        case .userAttributeSaved(let change):
            json.key("attribute")
            json.value(change.attribute.name)
            json.key("value")
            json.value(JSONValues.json(change.value))
        case .userAttributesChanged(let changes): write(changes, to: &json)
        case .purchaseLogged(let purchase): write(purchase, to: &json)
        case .appLaunched(let kind, let lists):
            json.key("launch_kind")
            json.value(kind.name)
            if lists == PendingKind.all { break }
            json.key("only")
            json.beginArray()
            for list in lists.sorted() { json.value(list.word) }
            json.endArray()
        case .queued(let event): writeContent(event, to: &json)
        case .pendingFlushed, .pendingDiscarded, .dataSent, .deviceChanged, .sessionEnded, .usersMerged:
            writeDeviceContent(event, to: &json)
        case .objectsLeftOut(let items):
            json.key("left_out")
            json.array(items) { json, item in
                json.beginObject()
                json.leftOut(item)
                json.endObject()
            }
        case .appLeft, .sessionStarted, .userLoggedOut, .other: break
        }
    }

    /// One change looks as it was sent; several, which other formats can carry, are an object by name.
    private static func write(_ changes: [UserAttributeChange], to json: inout JSONWriter) {
        if changes.count == 1, let change = changes.first {
            json.key("attribute")
            json.value(change.attribute.name)
            json.key("value")
            json.value(JSONValues.json(change.value))
            return
        }
        json.key("user_attributes")
        json.beginObject()
        for change in changes {
            json.key(change.attribute.name)
            json.value(JSONValues.json(change.value))
        }
        json.endObject()
    }

    private static func write(_ purchase: Purchase, to json: inout JSONWriter) {
        json.key("product")
        json.value(purchase.product.text)
        json.key("currency")
        json.value(purchase.currency)
        json.key("price")
        json.value(purchase.price)
        json.key("quantity")
        json.value(Int(purchase.quantity))
        write(properties: purchase.properties, to: &json)
    }

    private static func write(properties: [AttributeValue.Member]?, to json: inout JSONWriter) {
        guard let properties else { return }
        json.key("properties")
        json.value(.object(JSONValues.json(properties)))
    }
}

extension JSONWriter {
    /// Writes what was left out, as members.
    mutating func leftOut(_ item: LeftOut) {
        member("input_array", item.list)
        key("index")
        value(item.index)
        member("field", item.field)
        member("reason", item.reason)
    }
}
