/// The event of a line of an import.
package struct LineFact {
    package var user: UserID
    /// Tells whether an address belongs to the user who has it, as in a request; in an export it is the ID of a user.
    package var isRequest: Bool
    package var context: EventContext
    /// The events in order. More than one if an attribute asks for operations that follow each other.
    package var events: [ProfileEvent]

    package init(user: UserID, isRequest: Bool = false, context: EventContext, events: [ProfileEvent]) {
        (self.user, self.isRequest, self.context, self.events) = (user, isRequest, context, events)
    }
}

/// Lines in the form of an export: the events of a log, one a line.
package enum ExportedLine {
    /// The kinds of events that can be imported.
    package static let kinds = EventKind.allCases.filter(\.isLogged) + EventKind.allCases.filter(\.isSaved)

    /// Tells whether the line is the rest of an erased event.
    package static func isErased(_ kind: String, _ fields: ImportFields) -> Bool {
        kind == EventKind.userErased.name || fields["erased"] == .bool(true)
    }

    /// The fact of a line that was not erased; nil if it has none of its own. `userAttribute` reads a standard
    /// attribute.
    package static func read(
        _ kind: String, _ fields: ImportFields, _ times: ImportTimes, _ userAttribute: ContentJSON.UserAttributeReader
    ) throws(LineRefusal) -> LineFact? {
        guard let kind = EventKind(name: kind) else {
            throw .init("its \"kind\" is none that can be imported", remedy: .correctOrUpdate)
        }
        // About a request to that store; no event of a user.
        if kind == .objectsLeftOut { return nil }
        if kind == .userCreated {
            _ = try fields.user("user")
            return nil
        }
        if kind == .unknown { throw .init("the program that exported it did not know its kind", remedy: .exportAgain) }
        guard kinds.contains(kind) else {
            throw .init(
                "events of the kind \(kind.name) are made by the log alone and are not imported", remedy: .takeOut)
        }
        let (user, context) = (try fields.user("user"), try context(kind, fields, times))
        // Items saved by a device are stored with their times unchanged: a launch decides.
        if kind.isLogged, !fields.wasInLog { try times.check(context.occurredAt, "occurred_at") }
        let events = try ContentJSON.read(kind, fields, userAttribute)
        return events.isEmpty ? nil : LineFact(user: user, context: context, events: events)
    }

    private static func context(
        _ kind: EventKind, _ fields: ImportFields, _ times: ImportTimes
    ) throws(LineRefusal) -> EventContext {
        var context = EventContext(source: .import)
        // An attribute that the system gave a user updates them no more than it did where it was exported.
        if kind == .userAttributesChanged, try fields.text("source") == EventSource.system.name {
            context.source = .system
        }
        context.occurredAt = try times.read(fields["occurred_at"], "occurred_at")
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
}
