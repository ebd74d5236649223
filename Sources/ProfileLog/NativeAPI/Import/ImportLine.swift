internal import ProfileLogRequests

/// One line of an import, as an event: either the short form of generated and foreign data, or the form of `export`.
///
///     {"kind":"custom_event","user":"u-1","time":"2026-01-01T00:00:00Z","name":"played song","properties":{…}}
///     {"kind":"custom_attribute","user":"u-1","time":"…","attributes":{…}}
///     {"kind":"user_attribute","user":"u-1","time":"…","attribute":"email","value":"…"}
///     {"kind":"purchase","user":"u-1","time":"…","product_id":"p1","currency":"EUR","price":9.5,"quantity":1}
package struct ImportLine {
    /// The fact to append; nil for a line that carries no fact of its own, as `userCreated`, which the user's first
    /// event implies.
    package var fact: Fact?
    /// Tells whether the line is the rest of an erased event: a tombstone, or the erasure itself.
    package var isErased = false
    /// The identity of the line wherever it comes again, if that was asked for.
    package var id: String?
    /// The idempotency key of its append, in which the lines that follow with the same key are too.
    package var key: String?
    /// The time at which it was recorded, if that was asked for.
    package var recordedAt: Timestamp?
    /// Tells whether it has a time of recording that was not asked for.
    package var hasUnreadRecording = false

    /// Members that are read of a line besides its event.
    package struct Extras: Sendable {
        /// The field that identifies the line.
        let idField: String?
        let takesRecordedAt: Bool
        /// The form of times.
        let times: ImportTimes
        /// Every field of the short forms, ascending.
        let shortFields: [String]

        /// The event only, with times that a device's clock may show now.
        package static var none: Extras {
            Extras(idField: nil, takesRecordedAt: false, times: ImportTimes(now: .now()))
        }

        init(idField: String?, takesRecordedAt: Bool, times: ImportTimes) {
            (self.idField, self.takesRecordedAt, self.times) = (idField, takesRecordedAt, times)
            let more = [idField, takesRecordedAt ? "recorded_at" : nil].compactMap { $0 }
            let names = Set((ImportLine.shortFields + more).map { Name($0) })
            shortFields = more.isEmpty ? ImportLine.shortFields : names.sorted().map(\.text)
        }
    }

    package struct Fact {
        package var user: UserID
        /// Tells whether an address belongs to the user who has it, as in a request; in an export it is the ID of a
        /// user.
        package var isRequest = false
        package var context: EventContext
        /// The events in order. More than one if an attribute asks for operations that follow each other.
        package var events: [ProfileEvent]
    }

    /// The reason why a line cannot be imported: a clause that names fields and never shows values.
    package struct Refusal: Error {
        package var reason: String
        package var remedy: Remedy

        init(_ reason: String, remedy: Remedy = .correct) {
            self.reason = reason
            self.remedy = remedy
        }
    }

    /// The next step after a refusal.
    package enum Remedy: Sendable {
        /// Correct the line.
        case correct
        /// Correct the line, or give a unit for all times that are numbers.
        case timeUnit
        /// Correct the line, or set no bounds on times.
        case anyTime
        /// Correct the line, or use the newer program that may have written it.
        case correctOrUpdate
        /// Export again: the exporting program did not know the kind of event, so the line has no content.
        case exportAgain
        /// Take the line out: only the log makes events of its kind.
        case takeOut
        /// Put as many empty lines before it as a chunk has: what is there already leaves no room for it.
        case setApart
    }

    /// Reads one line of JSON.
    package init(_ line: UnsafeRawBufferPointer, _ extras: Extras = .none) throws(Refusal) {
        if line.first(where: { $0 != 0x20 && $0 != 0x09 }) == UInt8(ascii: "[") {
            throw Refusal("it is no JSON object, but begins an array: write one object a line, as with `jq -c '.[]'`")
        }
        let value: AttributeValue
        do {
            value = try JSON.parse(line)
        } catch {
            let isCut = line.first == UInt8(ascii: "{") && error.kind == .unexpectedEnd
            throw Refusal(
                "it is no valid JSON at byte \(error.offset): \(error.kind)"
                    + (isCut ? "; write one object a line, as with `jq -c .`" : ""))
        }
        guard case .object(let members) = value else { throw Refusal("it is no JSON object") }
        try self.init(members, extras)
    }

    /// Reads the event of one line, its times by `times`.
    package init(_ line: UnsafeRawBufferPointer, _ times: ImportTimes) throws(Refusal) {
        try self.init(line, Extras(idField: nil, takesRecordedAt: false, times: times))
    }

    /// Reads a line that is an object of `members`, which ascend.
    init(_ members: [AttributeValue.Member], _ extras: Extras) throws(Refusal) {
        let fields = ImportFields(members)
        guard let kind = try fields.text("kind") else {
            throw Refusal("it has no \"kind\": lines of other programs are read by a map (docs/import.md)")
        }
        switch kind {
        case "custom_event", "custom_attribute", "user_attribute", "purchase":
            try fields.refuseOthers(than: extras.shortFields)
            let (user, context) = try Self.shortContext(fields, extras.times)
            let events = try Self.reading { try Self.shortEvents(kind, fields) }
            fact = Fact(user: user, isRequest: true, context: context, events: events)
        default:
            if ExportedLine.isErased(kind, fields) {
                isErased = true
            } else {
                fact = try ExportedLine.read(kind, fields, extras.times)
            }
        }
        guard fact != nil else { return }
        if let field = extras.idField { id = try fields.id(field) } else { key = try fields.key() }
        if extras.takesRecordedAt {
            recordedAt = try extras.times.read(fields["recorded_at"], "recorded_at")?.timestamp
        } else {
            hasUnreadRecording = fields["recorded_at"] != nil
        }
    }

    /// Every field of the short forms: a misspelled one would be lost without a word.
    fileprivate static let shortFields: [String] = [
        "attribute", "attributes", "currency", "key", "kind", "name", "price", "product_id", "properties", "quantity",
        "time",
        "user", "value",
    ]

    /// The user of a short line: an e-mail address in lower case, so that each spelling is the same user.
    private static func user(_ fields: ImportFields) throws(Refusal) -> UserID {
        let id = try fields.user("user")
        if case .email(let text) = id, let address = NormalContact.email(text) { return .email(address) }
        return id
    }

    private static func shortContext(
        _ fields: ImportFields, _ times: ImportTimes
    ) throws(Refusal) -> (UserID, EventContext) {
        var context = EventContext(source: .import)
        context.occurredAt = try times.read(fields["time"], "time")
        try times.check(context.occurredAt, "time")
        return (try user(fields), context)
    }

    /// As the native API reads the same content.
    private static func shortEvents(_ kind: String, _ fields: ImportFields) throws -> [ProfileEvent] {
        switch kind {
        case "custom_event":
            let properties = try fields.object("properties").map { try ContentReader.properties($0) }
            return [
                .customEventLogged(CustomEvent(name: Name(try fields.requiredText("name")), properties: properties))
            ]
        case "custom_attribute":
            guard let members = try fields.object("attributes") else { throw Refusal("it has no \"attributes\"") }
            return try ContentReader.changes(members).map { .customAttributesChanged($0) }
        case "user_attribute":
            guard let value = fields["value"] else { throw Refusal("it has no \"value\"") }
            let attribute = try fields.attribute("attribute")
            return [.userAttributesChanged([try ContentReader.userAttribute(attribute.name, value)])]
        default:
            return [.purchaseLogged(try ContentReader.checked(fields.purchase(productKey: "product_id")))]
        }
    }

    /// Runs `read`, with an error of its content as a refusal of the line.
    static func reading<Value>(_ read: () throws -> Value) throws(Refusal) -> Value {
        do {
            return try read()
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            let apiError = APIError(error)
            let remedy = apiError.remedy == APIError.correctIt ? "" : ". \(apiError.remedy.dropLast())"
            throw Refusal(apiError.error.prefix(1).lowercased() + apiError.error.dropFirst().dropLast() + remedy)
        }
    }
}

/// The members of a line, asked for by name.
struct ImportFields {
    private let members: [AttributeValue.Member]

    init(_ members: [AttributeValue.Member]) { self.members = members }

    /// Tells whether a log had the line, and so took what it says: then it is taken again.
    var wasInLog: Bool { self["position"] != nil }

    /// `names` ascend, as the members of an object do. They are ASCII, so that nothing else is equal to one of them.
    func refuseOthers(than names: [String]) throws(ImportLine.Refusal) {
        var rest = names[...]
        for member in members {
            guard let place = rest.firstIndex(of: member.key.text) else {
                let isRecording = member.key == "recorded_at"
                throw ImportLine.Refusal(
                    isRecording
                        ? "\"recorded_at\" is read with --recorded only, into an empty store"
                        : "\"\(member.key)\" is no field of such a line")
            }
            rest = rest[(place + 1)...]
        }
    }

    /// The member with this name. A line has few, so they are looked at one by one.
    @inline(__always)
    subscript(name: String) -> AttributeValue? {
        for member in members where member.key.text == name { return member.value }
        return nil
    }

    func text(_ name: String) throws(ImportLine.Refusal) -> String? {
        switch self[name] {
        case nil, .null: return nil
        case .string(let text): return text
        default: throw .init("\"\(name)\" must be text")
        }
    }

    func requiredText(_ name: String) throws(ImportLine.Refusal) -> String {
        guard let text = try text(name) else { throw .init("it has no \"\(name)\"") }
        return text
    }

    func user(_ name: String) throws(ImportLine.Refusal) -> UserID { UserID(try requiredText(name)) }

    /// Returns the identity of the line: text, or a whole number.
    func id(_ name: String) throws(ImportLine.Refusal) -> String {
        switch self[name] {
        case .string(let text) where !text.isEmpty: return text
        case .int(let number): return "\(number)"
        case nil, .null, .string: throw .init("it has no \"\(name)\"")
        default: throw .init("\"\(name)\" must be text or a whole number")
        }
    }

    /// An idempotency key.
    func key() throws(ImportLine.Refusal) -> String? {
        guard let key = try text("key") else { return nil }
        guard 1...Limits.bytesPerKey ~= key.utf8.count else {
            throw .init("\"key\" must have 1 to \(Limits.bytesPerKey) bytes")
        }
        return key
    }

    func object(_ name: String) throws(ImportLine.Refusal) -> [AttributeValue.Member]? {
        switch self[name] {
        case nil, .null: return nil
        case .object(let members): return members
        default: throw .init("\"\(name)\" must be an object")
        }
    }

    func attribute(_ name: String) throws(ImportLine.Refusal) -> StandardAttribute {
        guard let attribute = StandardAttribute(name: try requiredText(name)) else {
            throw .init("\"\(name)\" names no standard user attribute; a custom one has the kind custom_attribute")
        }
        return attribute
    }

    func purchase(productKey: String) throws(ImportLine.Refusal) -> Purchase {
        let price: Double
        switch self["price"] {
        case .int(let number): price = Double(number)
        case .double(let number): price = number
        default: throw .init("\"price\" must be a number")
        }
        let quantity: UInt32
        switch self["quantity"] {
        case nil, .null: quantity = 1
        case .int(let number) where 1...100 ~= number: quantity = UInt32(number)
        default: throw .init("\"quantity\" must be a whole number from 1 to 100")
        }
        return Purchase(
            product: Name(try requiredText(productKey)), currency: try requiredText("currency"), price: price,
            quantity: quantity,
            properties: try object("properties").map { members throws(ImportLine.Refusal) in
                try ImportLine.reading { try ContentReader.properties(members) }
            })
    }
}

/// Lines in the form of `profilecli export`.
package enum ExportedLine {
    /// The kinds of events that can be imported.
    private static let kinds = EventKind.allCases.filter(\.isLogged) + EventKind.allCases.filter(\.isSaved)

    /// Options with which an export has no other kinds.
    package static let kindOptions = kinds.map { "--kind \($0.name)" }.joined(separator: " ")

    /// Tells whether the line is the rest of an erased event.
    static func isErased(_ kind: String, _ fields: ImportFields) -> Bool {
        kind == EventKind.userErased.name || fields["erased"] == .bool(true)
    }

    /// The fact of a line that was not erased; nil if it has none of its own.
    static func read(
        _ kind: String, _ fields: ImportFields, _ times: ImportTimes
    ) throws(ImportLine.Refusal) -> ImportLine.Fact? {
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
        let events = try ImportLine.reading { try EventJSON.readContent(kind, fields) }
        return events.isEmpty ? nil : ImportLine.Fact(user: user, context: context, events: events)
    }

    private static func context(
        _ kind: EventKind, _ fields: ImportFields, _ times: ImportTimes
    ) throws(ImportLine.Refusal) -> EventContext {
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
