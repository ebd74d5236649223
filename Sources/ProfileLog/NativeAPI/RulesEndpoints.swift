internal import ProfileLogRequests

/// `/v1/rules`: by which rules the next events are folded (docs/workspace.md).
struct RulesEndpoints {
    let store: RequestStore

    static let inputs: [EndpointInput] = [.required(FoldRules.Part.policies.rawValue, .object)]

    /// `POST /v1/rules`: replaces the rules.
    func set(_ request: APIRequest) async throws -> APIAnswer {
        let fields = try Fields(withoutConditions: request)
        let key = FoldRules.Part.policies.rawValue
        guard let policies = fields.value(Name(key)) else {
            throw APIError.invalid(key, "is missing", remedy: "Send the policies of all attributes that have one.")
        }
        let rules: FoldRules
        do {
            rules = try FoldRules(.object([.init(Name(key), JSONValues.value(policies))]), parts: [.policies])
        } catch let error as DocumentError {
            throw APIError.invalid(error.place, error.reason, remedy: error.remedy)
        } catch let error as JSONFormError {
            throw APIError.invalid(key, error.reason)
        }
        let receipt = try await store.perform { log in try log.setRules(rules, source: .rest) }
        return try store.read {
            try answer(asOf: receipt.places.isEmpty ? nil : receipt.last, isChanged: !receipt.places.isEmpty, in: $0)
        }
    }

    /// `GET /v1/rules`: the rules now, or as of an earlier moment.
    func rules(_ request: APIRequest, _ log: LogReader) throws -> APIAnswer {
        var query = Query(request)
        let asked = try query.past(now: log.options.now())
        try query.end()
        // Rules happen when they are recorded: both orders have the same ones.
        let position = try APIError.resolving("as_of") { try asked.moment.map { try log.past.position(at: $0) } }
        let note = ListNote(
            "policies of attributes", request, past: asked,
            none: "No attribute has a policy: the last arrival wins.")
        return try answer(asOf: position, isChanged: nil, note, in: log)
    }

    private func answer(
        asOf position: Position?, isChanged: Bool?, _ note: ListNote? = nil, in log: LogReader
    ) throws -> APIAnswer {
        let (position, rules) = try log.rules(asOf: position ?? Position(rawValue: .max))
        return try APIAnswer.ok { json in
            json.member("position", position.rawValue)
            try json.cursor(position, in: log)
            json.object(FoldRules.Part.policies.rawValue) { json in
                for (name, policy) in rules.policies.sorted(by: { $0.key < $1.key }) {
                    json.member(name.text, policy.rawValue)
                }
            }
            if let isChanged { json.member("changed", isChanged) }
            json.member("note", try note?.text(isEmpty: rules.policies.isEmpty, in: log))
        }
    }
}

extension RulesEndpoints {
    static let shape: AnswerShape =
        .storedAlways + ["attribute_policies": .map(.text), "changed?": .boolean] + .note
}
