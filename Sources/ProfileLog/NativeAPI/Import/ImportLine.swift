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

    package typealias Fact = LineFact
    package typealias Refusal = LineRefusal
    package typealias Remedy = LineRefusal.Remedy

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
                fact = try ExportedLine.read(kind, fields, extras.times, Self.userAttribute)
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

    /// Reads the change of a standard attribute, by the rules of a request unless it was stored before.
    static func userAttribute(
        _ name: String, _ value: AttributeValue, _ asItIs: Bool
    ) throws(Refusal) -> UserAttributeChange {
        try reading { try ContentReader.userAttribute(name, value, asItIs: asItIs) }
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

extension ImportFields {
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
}

extension ExportedLine {
    /// Options with which an export has no other kinds.
    package static let kindOptions = kinds.map { "--kind \($0.name)" }.joined(separator: " ")
}
