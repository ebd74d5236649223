internal import ProfileLogRequests

/// Lines in the form of `profilecli export`.
package enum ExportedLine {
    /// The kinds of events that can be imported.
    private static let kinds = EventKind.allCases.filter(\.isLogged) + EventKind.allCases.filter(\.isSaved)

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
        let (user, context) = (try fields.user("user"), try context(kind, fields))
        return try EventJSON.readContent(kind, fields).map { ImportLine.Fact(user: user, context: context, event: $0) }
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
}
