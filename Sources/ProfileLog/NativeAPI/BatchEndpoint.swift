internal import ProfileLogRequests

/// `POST /v1/batch`: many saves and loggings in one append, with a result for each.
struct BatchEndpoint {
    let writes: WriteEndpoints

    private var store: RequestStore { writes.store }
    private var log: EventLog { store.log }

    private static let mostItems = 1_000

    func batch(_ request: APIRequest) async throws -> APIAnswer {
        let fields = try Fields(request)
        let values = try fields.required("items", fields.array)
        guard (1...Self.mostItems).contains(values.count) else {
            throw APIError.invalid("items", "must have 1 to \(Self.mostItems) elements")
        }
        let isAtomic = try fields.flag("atomic")
        let key = try Self.key(fields, request)
        if let (receipt, note) = try store.append(under: key) {
            return try answer(to: receipt, remembered(note, of: values))
        }
        let items = values.map(item)
        let (results, receipt) = try await store.decide { [self] view in
            var builder = log.prepare(capacity: items.count)
            var results: [BatchResult] = []
            var given: [UserID: UserID] = [:]
            for item in items { results.append(try add(item, to: &builder, view, &given)) }
            let refused = results.count { $0.error != nil }
            if refused == results.count || isAtomic && refused > 0 { return Decision(results) }
            return Decision(
                results, storing: try builder.finish(under: key, remembering: BatchResult.text(results)))
        }
        guard let receipt else { return BatchResult.answerOfNothing(results) }
        guard let key, receipt.isRepetition else { return try answer(to: receipt, results) }
        return try answer(to: receipt, remembered(key.remembered(by: receipt), of: values))
    }

    private static func key(_ fields: Fields, _ request: APIRequest) throws -> RequestKey? {
        try request.refuseIfMatch(remedy: "Send `expect` in the items.")
        let members = try fields.text("key").map { [AttributeValue.Member("key", .string($0))] } ?? []
        let key = try WriteEndpoints.conditions(Fields(members, ["key", "expect"]), request).key
        return key.map { RequestKey($0, of: request) }
    }

    /// An item, read.
    private func item(_ value: AttributeValue) -> Result<Write, APIError> {
        Result { try write(value) }.mapError { APIError($0) }
    }

    private func write(_ value: AttributeValue) throws -> Write {
        guard case .object(let members) = value else { throw APIError.invalid("items", "must be objects") }
        guard let kind = WriteKind.all.first(where: { $0.name == value["kind"]?.asText }) else {
            let names = WriteKind.all.map(\.name).sorted().joined(separator: ", ")
            throw APIError.invalid("kind", "is missing or unknown", remedy: "The kinds are \(names).")
        }
        let fields = try Fields(members, kind.itemFields)
        return try writes.write(kind, fields, WriteEndpoints.expectation(fields.value("expect")) ?? .any, nil)
    }

    /// Adds what an item says, all of it or nothing. `given` has the users who get addresses by the items before it.
    private func add(
        _ item: Result<Write, APIError>, to builder: inout AppendBuilder, _ view: DecisionView,
        _ given: inout [UserID: UserID]
    ) throws -> BatchResult {
        do {
            let write = try item.get()
            try builder.add(write, view, given: given)
            // On a device the SDK may not send it yet.
            if write.context.device == nil {
                let user = given[write.user] ?? write.user
                for address in write.events.flatMap(\.givenAddresses) { given[address] = user }
            }
            return BatchResult(events: write.events.count, error: nil)
        } catch let error as APIError {
            return BatchResult(events: 0, error: error)
        } catch let error as AppendError {
            guard case .invalid = error else { throw error }
            return BatchResult(events: 0, error: APIError(error))
        }
    }

    /// Returns the outcomes of the items that `values` are, by what their batch remembers; nothing if that was erased.
    private func remembered(_ note: [UInt8], of values: [AttributeValue]) throws -> [BatchResult] {
        let view = DecisionView(log, .slow)
        var given: [UserID: UserID] = [:]
        return try zip(BatchResult.events(note), values).map { events, value in
            if let events { return BatchResult(events: events, error: nil) }
            // What is wrong with an item can be seen in the item.
            var trial = log.prepare()
            let result = try add(item(value), to: &trial, view, &given)
            return BatchResult(events: 0, error: result.error ?? .wasRefused)
        }
    }

    /// Returns the outcome of each item, by the receipt. The number of events of each item, and the refusals, were
    /// erased with the person of the first event, if that was erased.
    private func answer(to receipt: AppendReceipt, _ results: [BatchResult]) throws -> APIAnswer {
        try log.withReader { log in
            try APIAnswer.ok { json in
                try json.stored(receipt.last, in: log)
                json.member("events", receipt.places.count)
                json.member("repeated", receipt.isRepetition)
                if receipt.isErased { return json.member("erased", true) }
                try Self.write(results, of: receipt, log, to: &json)
            }
        }
    }

    private static func write(
        _ results: [BatchResult], of receipt: AppendReceipt, _ log: LogReader, to json: inout JSONWriter
    ) throws {
        json.member("stored", results.count { $0.error == nil })
        json.member("refused", results.count { $0.error != nil })
        var offset = 0
        try json.objects("results", results.enumerated()) { json, element in
            json.member("index", element.offset)
            if let error = element.element.error {
                error.write(to: &json)
            } else {
                let start = offset
                offset = try self.offset(after: element.element.events, from: offset, receipt, log)
                let place = receipt.places[offset - 1]
                json.member("position", receipt.first.rawValue + UInt64(offset) - 1)
                json.member("version", receipt.version(after: place).rawValue)
                let user = try log.users.find(place.user)
                json.member("user", user)
                let isNew = receipt.places[start..<offset].contains { $0.version.rawValue == 1 }
                json.member("user_note", isNew ? receipt.doubt(of: user) : nil)
                let stored = try log.event(at: Position(rawValue: receipt.first.rawValue + UInt64(offset) - 1))?.event
                if case .queued = stored { json.member("queued", true) }
                if case .objectsLeftOut = stored {
                    json.member("lost", true)
                    json.member("reason", ObjectRefusal.reasonLost)
                }
                try NoEffect(of: start..<offset, receipt, in: log).write(to: &json)
            }
        }
    }

    /// The place in the receipt after the next `count` events that an item says; others are those of new users and
    /// devices.
    private static func offset(
        after count: Int, from offset: Int, _ receipt: AppendReceipt, _ log: LogReader
    ) throws -> Int {
        var (offset, rest) = (offset, count)
        while rest > 0, offset < receipt.places.count {
            let event = try log.event(at: Position(rawValue: receipt.first.rawValue + UInt64(offset)))
            if event.map({ $0.event.kind != .userCreated && $0.event.kind != .userChanged }) ?? true { rest -= 1 }
            offset += 1
        }
        return offset
    }
}

/// The outcome of an item of a batch, before it has a place.
private struct BatchResult {
    /// The number of events.
    var events: Int
    /// The reason why it is refused.
    var error: APIError?

    /// Writes the items' note for an append: numbers of events, and `null` for those that are refused. Why they are,
    /// may name what is another person's.
    static func text(_ results: [BatchResult]) -> [UInt8] {
        var json = JSONWriter()
        json.array(results) { json, result in
            if result.error == nil { json.value(result.events) } else { json.null() }
        }
        return json.bytes
    }

    /// Reads the note that `text` wrote: how many events each item is, nil if it was refused.
    static func events(_ text: [UInt8]) throws -> [Int?] {
        (try JSON.parse(text).asArray ?? []).map { $0.asInteger.map { Int($0) } }
    }

    /// Status 400: nothing of the batch is stored.
    static func answerOfNothing(_ results: [BatchResult]) -> APIAnswer {
        let refused = results.count { $0.error != nil }
        let error = APIError(
            status: 400, code: "nothing_valid",
            error: "\(refused) of \(results.count) items are refused; nothing was stored.",
            remedy: "Correct the items that `results` names, and send the batch again.", place: "items")
        var answer = APIAnswer.ok(status: error.status) { json in
            error.write(to: &json)
            json.objects("results", results.enumerated()) { json, element in
                json.member("index", element.offset)
                if let error = element.element.error {
                    error.write(to: &json)
                } else {
                    json.member("code", "not_stored")
                }
            }
        }
        answer.code = error.code
        return answer
    }
}

extension APIError {
    /// The reason of an item that was refused when its batch first came, and would be taken now.
    fileprivate static let wasRefused = APIError(
        status: 400, code: "invalid", error: "The item was refused when it was first sent.",
        remedy: "Send it again under another key.")
}

extension BatchEndpoint {
    private static let result: AnswerShape =
        [
            "index": .integer, "position?": .integer, "version?": .integer, "user?": .orNull(.user),
            "queued?": .boolean, "lost?": .boolean, "error?": .text, "remedy?": .text, "code?": .text,
            "place?": .text, "reason?": .text,
        ] + NoEffect.shape + ["user_note?": .text]

    static let shape: AnswerShape =
        .storedAlways + [
            "events": .integer, "repeated": .boolean, "erased?": .boolean, "stored?": .integer,
            "refused?": .integer, "results?": [result],
        ]
}
