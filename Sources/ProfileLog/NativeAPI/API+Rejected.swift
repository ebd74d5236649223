internal import ProfileLogRequests

/// Saved items that the SDK refused, and their repair.
extension NativeAPI {
    private static let mostRejected = 10_000

    func rejected(_ request: APIRequest) throws -> APIAnswer {
        var query = Query(request)
        let id = try query.text("user").map { try Identifiers.user($0) }
        let withRepaired = try query.flag("repaired")
        let after = try query.number("after", 0...UInt64.max, standard: 0)
        let limit = try query.limit(standard: 1_000, most: Self.mostRejected)
        try query.end()
        let number = try id.map { id in
            guard let user = try log.user(meantBy: id) else { throw APIProblem.unknownUser(id) }
            return user.number
        }
        let saved = try log.rejected(of: number, isOpen: !withRepaired).map(Refused.item)
        let leftOut = try log.leftOut(of: number).map(Refused.object)
        let all = (saved + leftOut).enumerated().filter { $1.position.rawValue > after }
            .sorted { ($0.element.position, $0.offset) < ($1.element.position, $1.offset) }.map(\.element)
        // What one event of the log says stays on one page.
        let cut = all.dropFirst(limit).firstIndex { $0.position != all[limit - 1].position } ?? all.count
        var events = EventJSON(log: log)
        return try APIAnswer.ok { json in
            json.key("rejected")
            try json.array(all[..<cut]) { json, refused in
                json.beginObject()
                switch refused {
                case .item(let item): try Self.write(item, &events, to: &json)
                case .object(let object): try Self.write(object, &events, to: &json)
                }
                json.endObject()
            }
            json.key("total")
            json.value(saved.count + leftOut.count)
            json.key("last")
            json.value(cut == 0 ? after : all[cut - 1].position.rawValue)
            json.key("more")
            json.value(cut < all.count)
        }
    }

    /// Something that was not taken, at the position of the event that says so.
    private enum Refused {
        case item(RejectedItem)
        case object(LeftOutObject)

        var position: Position {
            switch self {
            case .item(let item): item.flush
            case .object(let object): object.position
            }
        }
    }

    private static func write(_ rejected: RejectedItem, _ events: inout EventJSON, to json: inout JSONWriter) throws {
        try write(rejected.item, &events, to: &json)
        json.member("device", rejected.item.context.device)
        json.key("reason")
        json.value(rejected.reason)
        json.key("flush")
        json.value(rejected.flush.rawValue)
        json.key("repaired_by")
        json.position(rejected.repairedBy ?? .start)
    }

    private static func write(_ object: LeftOutObject, _ events: inout EventJSON, to json: inout JSONWriter) throws {
        json.key("position")
        json.value(object.position.rawValue)
        json.member("kind", EventKind.objectsLeftOut.name)
        json.key("user")
        if let id = try events.id(of: object.user) { json.value(id) } else { json.null() }
        json.key("recorded_at")
        json.value(object.recordedAt)
        json.leftOut(object.what)
    }

    func retry(_ request: APIRequest) async throws -> APIAnswer {
        try Self.refuseConditions(request)
        let content = Self.eventFields.union(Self.attributesFields).union(Self.userAttributeFields)
        let fields = try Fields(request.body, content.union(["position"]))
        guard let number = try fields.integer("position") else { throw APIProblem.invalid("position", "is missing") }
        guard number > 0 else { throw APIProblem.invalid("position", "must be a position of the log") }
        let position = Position(rawValue: UInt64(number))
        let item = try log.event(at: position)
        guard let item, item.event.kind.isSaved else {
            throw APIProblem.invalid(
                "position", "is not that of a saved item", remedy: "`profilecli rejected` lists those to be repaired.")
        }
        guard case .rejected = try log.outcome(of: position) else {
            throw APIProblem.invalid(
                "position", "is that of an item that is not rejected",
                remedy: "`profilecli rejected` lists those to be repaired.")
        }
        let correction = try Self.correction(of: item.event, fields)
        let process = item.context.process ?? DeviceStorage.app
        let source: EventSource = process == DeviceStorage.app ? .app : .extension
        let receipt: AppendReceipt
        do {
            receipt = try await store.perform { log in try log.retry(position, with: correction, source: source) }
        } catch AppendError.keyReused(let repair) {
            throw APIProblem(
                status: 409, code: "already_repaired",
                error: "The item was repaired before, with other content, by the one at position \(repair.rawValue).",
                remedy: "If that one is rejected too, retry it.", place: "position",
                facts: [("actual", repair.rawValue)])
        }
        return try answer(to: receipt, savedOn: item.context.device, requested: item.context.storage) { json in
            json.key("replaces")
            json.value(position.rawValue)
            json.key("device")
            json.value(item.context.device ?? Self.defaultDevice)
        }
    }

    /// `saved` with what the fields correct; nil if they correct nothing. What is left out stays as it was saved.
    private static func correction(of saved: ProfileEvent, _ fields: Fields) throws -> ProfileEvent? {
        let own: Set<Name>
        switch saved {
        case .customEventSaved: own = eventFields
        case .customAttributesSaved: own = attributesFields
        default: own = userAttributeFields
        }
        /// `null` is missing, but as the value of a user attribute, which it unsets.
        func isGiven(_ name: Name) -> Bool {
            guard let value = fields.value(name) else { return false }
            return value != .null || name == "value" && own == userAttributeFields
        }
        let others = eventFields.union(attributesFields).union(userAttributeFields).subtracting(own)
        if let other = others.sorted().first(where: isGiven) {
            throw APIProblem.invalid(
                other.text, "corrects no \(saved.kind.name)",
                remedy: "It has the fields \(own.sorted().map(\.text).joined(separator: ", ")).")
        }
        guard own.contains(where: isGiven) else { return nil }
        switch saved {
        case .customEventSaved(var event):
            if let name = try fields.text("name") { event.name = Name(name) }
            if isGiven("properties") { event.properties = try properties(fields) }
            return .customEventSaved(event)
        case .customAttributesSaved:
            let steps = try attributeChanges(fields)
            guard steps.count == 1 else {
                throw APIProblem.invalid("attributes", "must have one operation for each attribute")
            }
            return .customAttributesSaved(steps[0])
        case .userAttributeSaved(var change):
            if let name = try fields.text("attribute") {
                guard let attribute = StandardAttribute(name: name) else { throw APIProblem.unknownAttribute(name) }
                change.attribute = attribute
            }
            if let value = fields.value("value") {
                change.value = try APIProblem.at("value") { try JSONValues.value(value) }
            }
            return .userAttributeSaved(try UserAttributeChange(change.attribute, requested: change.value))
        default: return nil
        }
    }
}
