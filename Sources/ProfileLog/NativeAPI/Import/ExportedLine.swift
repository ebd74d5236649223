internal import ProfileLogRequests

/// Lines in the form of `profilecli export`.
package enum ExportedLine {
    /// The kinds of events that can be imported.
    private static let kinds: [EventKind] = [
        .customEventLogged, .customAttributesChanged, .userAttributesChanged, .purchaseLogged, .customEventSaved,
        .customAttributesSaved, .userAttributeSaved,
    ]

    /// Options with which an export has no other kinds.
    package static let kindOptions = kinds.map { "--kind \($0.name)" }.joined(separator: " ")

    /// Whether the line is what an erasure left.
    static func isErased(_ kind: String, _ fields: ImportFields) -> Bool {
        kind == EventKind.userErased.name || fields["erased"] == .bool(true)
    }

    /// The fact of a line that was not erased; nil if it has none of its own.
    static func read(_ kind: String, _ fields: ImportFields) throws(ImportLine.Refusal) -> ImportLine.Fact? {
        guard let kind = EventKind(name: kind) else {
            throw .init("its \"kind\" is none that can be imported", remedy: .correctOrUpdate)
        }
        switch kind {
        case .userCreated:
            _ = try fields.user("user")
            return nil
        // About a request to that store; nothing that anybody has.
        case .objectsLeftOut: return nil
        case .customEventLogged, .customAttributesChanged, .userAttributesChanged, .purchaseLogged, .customEventSaved,
            .customAttributesSaved, .userAttributeSaved:
            return ImportLine.Fact(
                user: try fields.user("user"), context: try context(kind, fields), event: try event(kind, fields))
        case .unknown:
            throw .init("the program that exported it did not know its kind", remedy: .exportAgain)
        default:
            throw .init(
                "events of the kind \(kind.name) are made by the log alone and are not imported", remedy: .takeOut)
        }
    }

    private static func context(_ kind: EventKind, _ fields: ImportFields) throws(ImportLine.Refusal) -> EventContext {
        var context = EventContext(source: .import)
        // An attribute that the system gave a user updates them no more than it did where it was exported.
        if kind == .userAttributesChanged, try fields.text("source") == EventSource.system.name {
            context.source = .system
        }
        context.occurredAt = try fields.time("occurred_at")
        context.process = try fields.text("process").map { Name($0) }
        context.device = try fields.text("device")
        context.item = try fields.text("item")
        context.app = try fields.text("app")
        guard kind.isSaved, let storage = try fields.text("storage") else { return context }
        let own = "private:"
        context.storage =
            storage.hasPrefix(own)
            ? .privateTo(process: Name(String(storage.dropFirst(own.count)))) : .appGroup(Name(storage))
        return context
    }

    private static func event(_ kind: EventKind, _ fields: ImportFields) throws(ImportLine.Refusal) -> ProfileEvent {
        switch kind {
        case .customEventLogged: return .customEventLogged(try customEvent(fields))
        case .customEventSaved: return .customEventSaved(try customEvent(fields))
        case .customAttributesChanged: return .customAttributesChanged(try changes(fields))
        case .customAttributesSaved: return .customAttributesSaved(try changes(fields))
        case .userAttributeSaved: return .userAttributeSaved(try userAttribute(fields))
        case .userAttributesChanged:
            guard let members = try fields.object("user_attributes") else {
                return .userAttributesChanged([try userAttribute(fields)])
            }
            var changes: [UserAttributeChange] = []
            for member in members {
                guard let attribute = StandardAttribute(name: member.key.text) else {
                    throw .init("\"user_attributes\" has one that is no standard user attribute")
                }
                changes.append(UserAttributeChange(attribute, try value(member.value, "user_attributes")))
            }
            return .userAttributesChanged(changes)
        default:
            var purchase = try fields.purchase(productKey: "product")
            purchase.properties = try properties(fields)
            return .purchaseLogged(purchase)
        }
    }

    private static func customEvent(_ fields: ImportFields) throws(ImportLine.Refusal) -> CustomEvent {
        CustomEvent(name: Name(try fields.requiredText("name")), properties: try properties(fields))
    }

    private static func properties(_ fields: ImportFields) throws(ImportLine.Refusal) -> [AttributeValue.Member]? {
        guard let members = try fields.object("properties") else { return nil }
        do throws(JSONFormError) {
            return try JSONValues.members(members)
        } catch {
            throw .init("\"properties\" \(error.reason)")
        }
    }

    private static func userAttribute(_ fields: ImportFields) throws(ImportLine.Refusal) -> UserAttributeChange {
        guard let value = fields["value"] else { throw .init("it has no \"value\"") }
        return UserAttributeChange(try fields.attribute("attribute"), try self.value(value, "value"))
    }

    private static func value(
        _ json: AttributeValue, _ field: String
    ) throws(ImportLine.Refusal) -> AttributeValue {
        do throws(JSONFormError) {
            return try JSONValues.value(json)
        } catch {
            throw .init("\"\(field)\" \(error.reason)")
        }
    }

    private static func changes(_ fields: ImportFields) throws(ImportLine.Refusal) -> [AttributeChange] {
        guard let members = try fields.object("attributes") else { throw .init("it has no \"attributes\"") }
        var changes: [AttributeChange] = []
        for member in members { changes.append(AttributeChange(member.key, try operation(member.value))) }
        return changes
    }

    private static func operation(_ json: AttributeValue) throws(ImportLine.Refusal) -> AttributeOperation {
        do throws(JSONFormError) {
            let operations = try JSONOperations.operations(json)
            if operations.count == 1 { return operations[0] }
        } catch {
            throw .init("one of its \"attributes\" \(error.reason)")
        }
        throw .init("one of its \"attributes\" asks for two operations, which take an event each")
    }
}
