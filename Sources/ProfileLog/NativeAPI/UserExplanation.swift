internal import ProfileLogRequests

/// `GET /v1/users/explain`: why a user passes a condition, or does not, now or as of an earlier moment.
struct UserExplanation {
    let log: LogReader
    /// The segments of the workspace file.
    let segments: [Segment]

    static let inputs: [EndpointInput] = [
        .required("user"), .init("where"), .init("segment"), .init("as_of"), .init("order"),
    ]

    func explain(_ request: APIRequest) throws -> APIAnswer {
        var query = Query(request)
        let id = try Identifiers.user(query.requiredText("user"))
        let text = try query.text("where")
        let name = try query.text("segment")
        let asked = try query.past(now: log.options.now())
        try query.end()
        let (condition, segment) = try self.condition(text, name)
        let user = try log.users.knownUser(meantBy: id, in: asked)
        let past = try asked.history(of: user.number, log) ?? PastHistory(to: log.lastPosition())
        let now = try asked.time(at: past.position, log)
        var answer: APIAnswer?
        // As a search looks at them: so both say the same.
        let number = user.number.rawValue
        try log.forEachSubject(in: number - 1..<number, of: past, at: now) { user, subject in
            answer = try Self.answer(
                condition, segment, user, Causes(log: log, user: user, state: subject.state, past: past, now: now),
                condition.findings(for: subject, at: now))
        }
        guard let answer else {
            _ = try asked.profile(of: user.number, log)
            throw APIError.unknownUser(id)
        }
        return answer
    }

    private func condition(_ text: String?, _ name: String?) throws -> (WrittenCondition, Segment?) {
        guard (text == nil) != (name == nil) else {
            throw APIError.invalid("where", "or `segment` is needed, and not both")
        }
        if let text { return (try WrittenCondition(whereParameter: text, log), nil) }
        let name = name ?? ""
        let found = segments.first { $0.id.hasSameBytes(as: name) } ?? segments.first { $0.name.hasSameBytes(as: name) }
        guard let found else {
            let nearest = NearestNames(to: name, among: segments.map(\.id) + segments.map(\.name))
            throw APIError.invalid(
                "segment", "names no segment of the workspace file",
                remedy: nearest.question()
                    ?? "Declare it in the workspace file, and name that file with --workspace or PROFILELOG_WORKSPACE.")
        }
        return (WrittenCondition(writing: found.rule), found)
    }

    private static func answer(
        _ condition: WrittenCondition, _ segment: Segment?, _ user: UserInfo, _ causes: Causes,
        _ findings: [WrittenCondition.Finding]
    ) throws -> APIAnswer {
        var causes = causes
        return try APIAnswer.ok { json in
            json.member("user", user)
            json.member("version", user.version.rawValue)
            json.member("time", causes.now)
            json.member("where", condition.text)
            json.member("segment", segment?.id)
            json.member("holds", findings[0].holds)
            json.member("reason", sentence(findings))
            try json.objects("parts", findings) { json, finding in
                json.member("kind", finding.kind.rawValue)
                json.member("depth", finding.depth)
                json.member("text", finding.text)
                json.object("columns") { json in
                    json.member("from", finding.range.lowerBound + 1)
                    json.member("to", finding.range.upperBound)
                }
                json.member("holds", finding.holds)
                json.member("decides", finding.decides)
                if let subject = finding.subject { try causes.write(subject, to: &json) }
            }
        }
    }

    // MARK: - In one sentence

    /// Comparisons that the sentence names; `decides` tells all.
    private static let mostReasons = 3

    /// Says why the user passes, or does not: by the first comparisons that decide it.
    private static func sentence(_ findings: [WrittenCondition.Finding]) -> String {
        let isPassed = findings[0].holds
        let deciding = findings.filter { $0.decides && $0.kind == .comparison }
        let said = deciding.prefix(mostReasons).map { finding in
            let verb = finding.holds ? "holds" : "does not hold"
            // Under a `not`.
            let negated = finding.holds == isPassed ? "" : ", and is negated"
            return "`\(finding.text)` \(verb) (\(value(of: finding)))\(negated)"
        }
        let more = deciding.count - said.count
        let reasons =
            said.isEmpty
            ? "it is for \(isPassed ? "everybody" : "nobody")"
            : said.joined(separator: "; ") + (more > 0 ? "; and \(more) more" : "")
        return "The user \(isPassed ? "passes" : "does not pass"): \(reasons)."
    }

    private static let mostCharacters = 60

    private static func value(of finding: WrittenCondition.Finding) -> String {
        guard let subject = finding.subject, let value = subject.value else { return "there is no value" }
        let text: String
        if let sum = subject.sum {
            text = sum.description
        } else if case .date(let date) = value {
            text = date.timestamp.rfc3339()
        } else {
            text = value.json
        }
        return "the value is \(text.prefix(mostCharacters))\(text.count > mostCharacters ? "…" : "")"
    }

    // MARK: - What set the values

    /// The events that set the values of one user. Each is looked for once.
    private struct Causes {
        let log: LogReader
        let user: UserInfo
        let state: ProfileState
        let past: PastHistory
        let now: Timestamp
        private var events: EventJSON
        private var known: [Key: FieldCause] = [:]

        private struct Key: Hashable {
            let field: Condition.Field
            let path: [Name]
        }

        init(log: LogReader, user: UserInfo, state: ProfileState, past: PastHistory, now: Timestamp) {
            (self.log, self.user, self.state, self.past, self.now) = (log, user, state, past, now)
            events = EventJSON(log: log)
        }

        private mutating func cause(of subject: WrittenCondition.Subject) throws -> FieldCause {
            let key = Key(field: subject.field, path: subject.path)
            if let cause = known[key] { return cause }
            let cause = try log.withCauses(of: user, state, in: past, at: now) { search in
                try search.cause(of: subject.field, at: subject.path)
            }
            known[key] = cause
            return cause
        }

        /// Writes the value of a comparison's field, and what set it, as members.
        mutating func write(_ subject: WrittenCondition.Subject, to json: inout JSONWriter) throws {
            json.member("field", subject.name)
            if let sum = subject.sum {
                json.member("value", sum)
            } else {
                json.member("value", subject.value.map(JSONValues.json) ?? .null)
            }
            switch try cause(of: subject) {
            case .event(let write):
                let blame = BlameEndpoint(log: log)
                try json.object("set") { try blame.write(write, user, &events, to: &$0) }
            case .nothing(let reason):
                json.member("set", AttributeValue.null)
                json.member("reason", reason)
            }
        }
    }
}

// MARK: - The form of the answer

extension UserExplanation {
    private static let part: AnswerShape = .named(
        "ConditionPart",
        [
            "kind": .text, "depth": .integer, "text": .text, "columns": ["from": .integer, "to": .integer],
            "holds": .boolean, "decides": .boolean, "field?": .text, "value?": .any,
            "set?": .orNull(BlameEndpoint.write), "reason?": .text,
        ])

    static let shape: AnswerShape = [
        "user": .user, "version": .integer, "time": .time, "where": .text, "segment?": .text, "holds": .boolean,
        "reason": .text, "parts": [part],
    ]
}
