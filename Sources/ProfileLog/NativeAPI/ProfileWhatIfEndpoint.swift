internal import ProfileLogRequests

/// `GET /v1/whatif/profiles`: which profiles would differ if the history were another one.
struct ProfileWhatIfEndpoint {
    let store: RequestStore

    static let inputs: [EndpointInput] = [
        .init("without"), .init("correct"), .init("rules"), .init("where"), .init("user"),
        .init("sample", .integer, limits: 0...1_000, standard: 10), .init("seed", .integer, standard: 1),
        .init("budget_ms", .integer, limits: 1...3_600_000), .init("after"),
    ]

    /// Users are folded on so many threads.
    private static let threads = 2

    func answer(_ request: APIRequest) async throws -> APIAnswer {
        var query = Query(request)
        let (without, correct) = (query.all("without"), query.all("correct"))
        let (rules, text, id) = (try query.text("rules"), try query.text("where"), try query.user())
        var options = WhatIfOptions()
        options.threads = Self.threads
        options.samples = Int(try query.number("sample", 0...1_000, standard: 10))
        options.seed = try query.number("seed", 0 ... .max, standard: 1)
        let budget = try query.number("budget_ms", 1...3_600_000, standard: .max)
        if budget != .max { options.end = ContinuousClock.now + .milliseconds(budget) }
        let cursor = try query.choice("after", "must be the `next` of an answer") { WhatIfCursor($0) }
        try query.end()
        options.after = cursor?.user ?? options.after
        let mark = WhatIfCursor.mark(of: [without, correct, [rules ?? "", text ?? "", id?.description ?? ""]])
        let (alteration, user, condition) = try store.read { log in
            try cursor?.check(mark, log)
            let history = try AlteredHistoryReader(log: log).history(without: without, correct: correct, rules: rules)
            let user = try id.map { try log.users.canonicalUser(of: log.users.knownUser(meantBy: $0).number) }
            return (
                try Alteration(history, of: log, upTo: cursor?.position), user,
                try text.map { try Condition(whereParameter: $0, log) }
            )
        }
        options.user = user
        if let condition {
            let now = store.log.options.now()
            options.passes = { [store] user, state, alteration in
                try condition.accepts(ProfileSubject(user, state, of: alteration, in: store.reader), at: now)
            }
        }
        return try await store.performSlowly { [options] log in
            // Stops when the caller has gone or the service ends.
            let impact = try log.whatIf(alteration, options) { _ in !Task.isCancelled }
            if Task.isCancelled { throw AppendError.closed }
            return try log.withReader { log in
                try APIAnswer.ok { json in
                    try impact.write(of: log, hasCondition: condition != nil, to: &json)
                    json.member("next", try WhatIfCursor(after: impact, mark, log)?.text)
                }
            }
        }
    }
}

/// The place at which a stopped what-if goes on: after a user, in the history up to a position, with the mark of the
/// question. `16384@120034-0c11d2fe@5f3a9c0d`; a person may type `16384@120034`.
private struct WhatIfCursor {
    let user: UserNumber
    private let history: HistoryCursor
    /// The mark of the question; nil in what a person typed.
    private let mark: String?

    var position: Position { history.position }

    /// The place after what `impact` has compared; nil if that is all.
    init?(after impact: ProfileImpact, _ mark: String, _ log: LogReader) throws {
        if impact.isComplete { return nil }
        (user, self.mark) = (UserNumber(rawValue: impact.reached), mark)
        history = try log.cursor(at: impact.position)
    }

    init?(_ text: String) {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false).map(String.init)
        guard (2...3).contains(parts.count), let user = UInt64(parts[0]), let history = HistoryCursor(parts[1]) else {
            return nil
        }
        (self.user, self.history) = (UserNumber(rawValue: user), history)
        mark = parts.count == 3 ? parts[2] : nil
    }

    var text: String { "\(user.rawValue)@\(history)" + (mark.map { "@\($0)" } ?? "") }

    /// The mark of a question with these parameters, whatever the order of the values of one: 8 hexadecimal digits.
    static func mark(of parameters: [[String]]) -> String {
        var bytes: [UInt8] = []
        for values in parameters {
            for value in values.sorted() {
                bytes += value.utf8
                bytes.append(0xFE)
            }
            // No text has these two bytes.
            bytes.append(0xFF)
        }
        let number = ContentHash.of(bytes).prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// Refuses a place in another history, and that of another question.
    func check(_ mark: String, _ log: LogReader) throws {
        if let own = self.mark, own != mark {
            throw APIError.invalidHere(
                "after", "is of another question: counts of both would not add up",
                remedy: "Send the question that it is of, with all its parameters, or begin again without it.")
        }
        do {
            try log.refuseForeign(history)
        } catch let other as OtherHistory {
            throw APIError(other, "after")
        }
        let last = try log.lastPosition()
        guard position <= last else {
            throw APIError.invalidHere(
                "after", "is of a history that ends at position \(position.rawValue), and this log at \(last.rawValue)",
                remedy: "Begin again without it.")
        }
    }
}

/// Reads an altered history as a request or a command line writes it.
struct AlteredHistoryReader {
    let log: LogReader

    /// - Parameters:
    ///   - without: as in `event:17`, `name:level`, `source:import`, `device:phone` and `user:jane`.
    ///   - correct: as in `17={"name":"played"}`.
    ///   - rules: as in `{"attribute_policies":{"level":"first"}}`.
    func history(without: [String], correct: [String], rules: String?) throws -> AlteredHistory {
        var history = AlteredHistory()
        for text in without { history.without.insert(try omission(text)) }
        for text in correct { try addCorrection(text, to: &history) }
        if let rules { history.rules = try Self.rules(rules) }
        if without.isEmpty, correct.isEmpty, rules == nil {
            throw APIError.invalid(
                "without", "is missing",
                remedy: "Name what did not happen, as in event:17, name:level or source:import.")
        }
        return history
    }

    private static func rules(_ text: String) throws -> FoldRules {
        do {
            return try FoldRules(JSON.parse(Array(text.utf8)))
        } catch let error as JSONError {
            throw APIError.invalid("rules", "has no valid JSON at byte \(error.offset): \(error.kind)")
        } catch let error as DocumentError {
            throw APIError.invalid("rules", "has a `\(error.place)` that \(error.reason)", remedy: error.remedy)
        }
    }

    // MARK: - What is omitted

    private static let words = ["event", "name", "source", "device", "user"]

    private func omission(_ text: String) throws -> AlteredHistory.Omission {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[1].isEmpty else {
            throw APIError.invalid(
                "without", "must be a word, a colon and a value",
                remedy: "Write event:17, name:level, source:import, device:phone or user:jane.")
        }
        let value = parts[1]
        switch parts[0] {
        case "event":
            guard let position = UInt64(value) else {
                throw APIError.invalid("without", "must be event: and a position of the log")
            }
            return try checked(.event(Position(rawValue: position)))
        case "name": return .name(try name(value))
        case "source":
            let names = EventSource.allCases.map(\.name)
            guard let source = EventSource(name: value) else {
                throw Self.unknown("source", NearestNames(to: value, among: names))
            }
            return .source(source)
        case "device":
            // A device on which events were only logged has no state.
            let filter = EventFilter(device: value)
            guard
                try log.devices.find(value) != nil
                    || !log.events.page(from: .start, limit: 1, where: filter, scanLimit: .max)
                        .events.isEmpty
            else { throw APIError.unknownDevice }
            return .device(Name(value))
        case "user": return .user(try log.users.knownUser(meantBy: Identifiers.user(value)).number)
        default: throw Self.unknown("word", NearestNames(to: parts[0], among: Self.words))
        }
    }

    /// Refuses an unknown value without repeating it, as it may be a person's.
    private static func unknown(_ what: String, _ nearest: NearestNames) -> APIError {
        APIError.invalid("without", "has an unknown \(what)", remedy: nearest.remedy("Write one of"))
    }

    /// A name that the store has seen, or that of a standard attribute.
    private func name(_ text: String) throws -> Name {
        let name = Name(text)
        if try log.number(of: name) != nil || StandardAttribute(name: text) != nil { return name }
        let names = WhereNames(log)
        let known = try names.all(.customAttribute) + names.all(.event) + names.all(.product)
        let nearest = NearestNames(to: text, among: known + StandardAttribute.allCases.map(\.name))
        throw APIError.invalidHere(
            "without", "names what the store has never seen",
            remedy: nearest.question("") ?? "Name an event, a product or an attribute.")
    }

    /// Refuses an event that cannot be altered.
    private func checked(_ omission: AlteredHistory.Omission) throws -> AlteredHistory.Omission {
        do {
            _ = try Alteration(AlteredHistory(without: [omission]), of: log)
        } catch let error as AppendError {
            throw APIError(refusedHere: error)
        }
        return omission
    }

    // MARK: - What is corrected

    private func addCorrection(_ text: String, to history: inout AlteredHistory) throws {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let position = UInt64(parts[0]).map(Position.init(rawValue:)) else {
            throw APIError.invalid(
                "correct", "must be a position, an equals sign and the event",
                remedy: #"Write it as in 17={"name":"played"}."#)
        }
        _ = try checked(.event(position))
        guard history.corrections[position] == nil, let original = try log.event(at: position) else {
            throw APIError.invalid("correct", "corrects the event at position \(position.rawValue) twice")
        }
        let value: AttributeValue
        do {
            value = try JSON.parse(Array(parts[1].utf8))
        } catch {
            throw APIError.invalid("correct", "has no valid JSON at byte \(error.offset): \(error.kind)")
        }
        guard case .object(let members) = value else { throw APIError.invalid("correct", "has no JSON object") }
        do throws(ImportLine.Refusal) {
            history.corrections[position] = try content(ImportFields(members), original)
            history.times[position] = try ImportTimes(now: log.options.now()).read(value["occurred_at"], "occurred_at")
        } catch {
            throw APIError.invalid("correct", "has an event that cannot be: \(error.reason)")
        }
        try refuseOthers(members, history.corrections[position], original)
        do {
            _ = try Alteration(history, of: log)
        } catch let error as AppendError {
            guard case .invalid(let place, let reason, _) = error else { throw error }
            throw APIError.invalid(
                "correct", "has an event that cannot be: \(place.prefix(1).lowercased())\(place.dropFirst()) \(reason)",
                remedy: error.commandRemedy)
        }
    }

    /// The event that `fields` describe: of the kind that they name, or that of `original`.
    private func content(
        _ fields: ImportFields, _ original: RecordedEvent
    ) throws(ImportLine.Refusal) -> ProfileEvent {
        var kind = original.event.kind
        if let name = try fields.text("kind") {
            guard let named = EventKind(name: name) else { throw .init("its \"kind\" is unknown") }
            kind = named
        }
        // The queued form of a kind has the content of the other one.
        let logged = EventKind.allCases.first { $0.queued == kind }
        let events = try ContentJSON.read(logged ?? kind, fields, ImportLine.userAttribute)
        guard let event = events.first else {
            throw .init("events of the kind \(kind.name) have no content that a profile shows")
        }
        guard events.count == 1 else {
            throw .init("one of its \"attributes\" asks for two operations, which take an event each")
        }
        return logged == nil ? event : .queued(event)
    }

    /// Refuses members that are no content. Those that an answer shows besides may be there if they are as they were.
    private func refuseOthers(
        _ members: [AttributeValue.Member], _ event: ProfileEvent?, _ original: RecordedEvent
    ) throws {
        guard let event else { return }
        var whole = JSONWriter()
        var events = EventJSON(log: log)
        try events.write(original, to: &whole)
        let known = try JSON.parse(JSONWriter.bytes { EventJSON.writeContent(event, to: &$0) })
        let before = try JSON.parse(whole.bytes)
        for member in members where !["kind", "occurred_at"].contains(member.key.text) && known[member.key] == nil {
            guard before[member.key] != member.value else { continue }
            let names = (known.keys + ["kind", "occurred_at"]).map(\.text)
            let nearest = NearestNames(to: member.key.text, among: names)
            throw APIError.invalid(
                "correct", "cannot change \(member.key.text.shown)",
                remedy: nearest.remedy("An event's content has"))
        }
    }
}

extension AttributeValue {
    /// The names of an object's members.
    fileprivate var keys: [Name] { if case .object(let members) = self { members.map(\.key) } else { [] } }
}

extension ProfileImpact {
    /// Writes it as members; with who entered and left if there was a condition.
    package func write(of log: LogReader, hasCondition: Bool, to json: inout JSONWriter) throws {
        json.member("position", position)
        json.member("users", users)
        json.member("changed", changed)
        json.member("lost", lost)
        json.member("complete", isComplete)
        json.member("reached_user_number", reached)
        json.member("total", total)
        if hasCondition {
            json.member("entered", entered)
            json.member("left", left)
        }
        json.objects("fields", fields.sorted { $0.key < $1.key }) { json, row in
            json.member("group", row.key.group.rawValue)
            json.member("field", row.key.name)
            json.member("set", row.value.set)
            json.member("changed", row.value.changed)
            json.member("lost", row.value.lost)
        }
        try json.objects("samples", samples) { json, sample in
            json.member("user", try log.past.user(sample.user, asOf: position))
            if let passes = sample.passes {
                json.member("passed", passes.before)
                json.member("passes", passes.after)
            }
            json.changes(sample.changes)
        }
    }
}

extension ProfileImpact {
    static let shape: AnswerShape = [
        "position": .integer, "users": .integer, "changed": .integer, "lost": .integer, "complete": .boolean,
        "reached_user_number": .integer, "total": .integer, "next?": .text, "entered?": .integer, "left?": .integer,
        "fields": [["group": .text, "field": .text, "set": .integer, "changed": .integer, "lost": .integer]],
        "samples": [
            ["user": .orNull(.user), "passed?": .boolean, "passes?": .boolean, "changes": DiffEndpoint.changes]
        ],
    ]
}
