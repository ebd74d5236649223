/// Events as JSON: the members that every form of an event has, and what an event says about a profile.
package enum ContentJSON {
    /// The next step after most mistakes.
    static let correctIt = "Correct it and try again."

    // MARK: - Writing

    /// Writes the place, user, times and origin of an event, as members. `profile` is the user that its user is
    /// part of.
    package static func writeHeader(
        of event: RecordedEvent, user: String?, profile: UserNumber? = nil, to json: inout JSONWriter
    ) {
        json.member("position", event.position.rawValue)
        json.member("user", user.map(AttributeValue.string) ?? .null)
        json.member("user_number", event.user.rawValue)
        if let profile { json.member("profile_number", profile.rawValue) }
        json.member("version", event.version.rawValue)
        json.member("kind", event.event.kind.name)
        json.member("recorded_at", event.recordedAt)
        json.member("occurred_at", event.occurredAt)
        writeOrigin(event.context, to: &json)
        if let replaced = event.context.replaces { json.member("replaces", replaced.rawValue) }
        if let key = event.idempotencyKey { json.member("key", key) }
        if event.isErased { json.member("erased", true) }
    }

    /// Writes where an event comes from, as members.
    package static func writeOrigin(_ context: EventContext, to json: inout JSONWriter) {
        json.member("source", context.source.name)
        json.member("process", context.process?.text)
        json.member("device", context.device)
        json.member("storage", context.storage?.name)
        json.member("item", context.item)
        json.member("app", context.app)
    }

    /// Writes what is saved or logged, as members.
    package static func write(_ content: EventContent, to json: inout JSONWriter) {
        switch content {
        case .customEvent(let event):
            json.member("name", event.name.text)
            write(properties: event.properties, to: &json)
        case .customAttributes(let changes):
            json.object("attributes") { json in
                for change in changes { json.member(change.name.text, JSONOperations.json(change.operation)) }
            }
        case .userAttributes(let changes): write(changes, to: &json)
        case .purchase(let purchase):
            json.member("product", purchase.product.text)
            json.member("currency", purchase.currency)
            json.member("price", purchase.price)
            json.member("quantity", Int(purchase.quantity))
            write(properties: purchase.properties, to: &json)
        }
    }

    /// A single change is written as it was sent; several, which other formats can carry, are an object by name.
    private static func write(_ changes: [UserAttributeChange], to json: inout JSONWriter) {
        if changes.count == 1, let change = changes.first {
            json.member("attribute", change.attribute.name)
            json.member("value", JSONValues.json(change.value))
            return
        }
        json.object("user_attributes") { json in
            for change in changes { json.member(change.attribute.name, JSONValues.json(change.value)) }
        }
    }

    private static func write(properties: [AttributeValue.Member]?, to json: inout JSONWriter) {
        guard let properties else { return }
        json.member("properties", .object(JSONValues.json(properties)))
    }

    // MARK: - Reading

    /// Reads the change of a standard attribute. The last argument tells whether the value was stored before, on a
    /// device or in a log: then no rule is applied to it again.
    package typealias UserAttributeReader = (String, AttributeValue, Bool) throws(LineRefusal) -> UserAttributeChange

    /// Reads the members that `write` wrote for an event of `kind`; nothing for kinds that only the log makes.
    package static func read(
        _ kind: EventKind, _ fields: ImportFields, _ userAttribute: UserAttributeReader
    ) throws(LineRefusal) -> [ProfileEvent] {
        switch kind {
        case .customEventLogged: return [.customEventLogged(try customEvent(fields))]
        case .customEventSaved: return [.customEventSaved(try customEvent(fields))]
        case .customAttributesChanged: return try changes(fields).map { .customAttributesChanged($0) }
        case .customAttributesSaved: return try changes(fields).map { .customAttributesSaved($0) }
        case .userAttributeSaved: return [.userAttributeSaved(try self.userAttribute(fields, true, userAttribute))]
        case .userAttributesChanged:
            guard let members = try fields.object("user_attributes") else {
                return [.userAttributesChanged([try self.userAttribute(fields, fields.wasInLog, userAttribute)])]
            }
            var changes: [UserAttributeChange] = []
            for member in members { changes.append(try userAttribute(member.key.text, member.value, fields.wasInLog)) }
            return [.userAttributesChanged(changes)]
        case .purchaseLogged: return [.purchaseLogged(try fields.purchase(productKey: "product"))]
        case .userCreated, .userIdentified, .userChanged, .userErased, .userLoggedOut, .usersMerged, .aliasAdded,
            .aliasRenamed, .externalIDRenamed, .externalIDRemoved, .customEventQueued, .customAttributesQueued,
            .userAttributesQueued, .purchaseQueued, .appLaunched, .appLeft, .sessionStarted, .sessionEnded,
            .pendingFlushed, .pendingDiscarded, .dataSent, .deviceChanged, .appRemoved, .eventVoided, .eventUnvoided,
            .objectsLeftOut, .rulesChanged, .messageSent, .messageNotSent, .pushReceived, .pushNotReceived,
            .pushCaptured, .pushExpanded, .pushOpened, .pushActionChosen, .pushDismissed, .pushProcessed,
            .inAppMessageShown, .inAppMessageWaiting, .inAppMessageIgnored, .inAppMessageDiscarded,
            .inAppMessageClicked, .inAppMessageClosed, .messageScheduled, .messageUnscheduled, .unknown:
            return []
        }
    }

    private static func customEvent(_ fields: ImportFields) throws(LineRefusal) -> CustomEvent {
        let name = Name(try fields.requiredText("name"))
        guard let members = try fields.object("properties") else { return CustomEvent(name: name) }
        return CustomEvent(
            name: name,
            properties: try LineRefusal.reading { () throws(DocumentError) in try properties(members) })
    }

    private static func userAttribute(
        _ fields: ImportFields, _ asItIs: Bool, _ read: UserAttributeReader
    ) throws(LineRefusal) -> UserAttributeChange {
        guard let value = fields["value"] else { throw LineRefusal("it has no \"value\"") }
        return try read(fields.attribute("attribute").name, value, asItIs)
    }

    private static func changes(_ fields: ImportFields) throws(LineRefusal) -> [[AttributeChange]] {
        guard let members = try fields.object("attributes") else { throw LineRefusal("it has no \"attributes\"") }
        return try LineRefusal.reading { () throws(DocumentError) in try changes(members) }
    }

    // MARK: - Values

    /// The properties of a custom event or a purchase.
    package static func properties(
        _ members: [AttributeValue.Member]
    ) throws(DocumentError) -> [AttributeValue.Member] {
        if members.allSatisfy(\.value.isScalar) { return members }
        var read: [AttributeValue.Member] = []
        read.reserveCapacity(members.count)
        for member in members {
            let value = try at("properties.\(member.key.text)") { () throws(JSONFormError) in
                try JSONValues.value(member.value)
            }
            read.append(.init(member.key, value))
        }
        return read
    }

    /// The changes that `attributes` asks for, as lists that become events one after the other: each attribute is in a
    /// list once.
    package static func changes(
        _ attributes: [AttributeValue.Member], merging: Bool = false
    ) throws(DocumentError) -> [[AttributeChange]] {
        var merging = merging
        for member in attributes where member.key == JSONOperations.mergeObjects {
            guard case .bool(let flag) = member.value else {
                throw DocumentError(place: member.key.text, reason: "must be true or false", remedy: correctIt)
            }
            merging = merging || flag
        }
        var steps: [[AttributeChange]] = [[]]
        steps[0].reserveCapacity(attributes.count)
        for member in attributes where member.key != JSONOperations.mergeObjects {
            switch member.value {
            case .bool, .int, .double, .string: steps[0].append(AttributeChange(member.key, .set(member.value)))
            case .null: steps[0].append(AttributeChange(member.key, .unset))
            case .array, .object, .date:
                let operations = try at("attributes.\(member.key.text)") { () throws(JSONFormError) in
                    try JSONOperations.operations(member.value, merging: merging)
                }
                for (step, operation) in operations.enumerated() {
                    if step == steps.count { steps.append([]) }
                    steps[step].append(AttributeChange(member.key, operation))
                }
            }
        }
        if steps[0].isEmpty {
            throw DocumentError(place: "attributes", reason: "must not be empty", remedy: correctIt)
        }
        return steps
    }

    /// Runs `read`; a `JSONFormError` that it throws is about `place`.
    private static func at<Value>(
        _ place: @autoclosure () -> String, _ read: () throws(JSONFormError) -> Value
    ) throws(DocumentError) -> Value {
        do throws(JSONFormError) {
            return try read()
        } catch {
            throw DocumentError(place: place(), reason: error.reason, remedy: error.remedy ?? correctIt)
        }
    }
}

extension AttributeValue {
    /// Tells whether the value is of the kind that it looks like: no array and no object.
    fileprivate var isScalar: Bool {
        switch self {
        case .null, .bool, .int, .double, .string, .date: true
        case .array, .object: false
        }
    }
}
