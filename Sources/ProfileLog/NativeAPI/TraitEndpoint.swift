internal import ProfileLogRequests

/// `GET /v1/traits`: the declared traits, and their values for one user.
struct TraitEndpoint {
    let log: LogReader

    func traits(_ request: APIRequest) throws -> APIAnswer {
        var query = Query(request)
        let id = try query.user()
        let asked = try query.past(now: log.options.now())
        try query.end()
        let note = ListNote(
            "computed traits", request,
            none: "No computed traits are declared: the workspace file has them (docs/traits.md).")
        guard let id else {
            if !asked.isPresent {
                throw APIError.invalid(
                    asked.moment == nil ? "order" : "as_of", "is for the traits of a user",
                    remedy: "Add `user`, or omit it.")
            }
            let traits = log.traits
            return try APIAnswer.ok { json in
                json.array("traits", traits) { $0.value($1.declaration) }
                try json.note(note, isEmpty: traits.isEmpty, in: log)
            }
        }
        let user = try log.users.knownUser(meantBy: id, in: asked)
        let state = try asked.profile(of: user.number, log)
        let time = try asked.time(at: state.lastPosition, log)
        let reader = TraitReader(log, in: try asked.history(of: user.number, log), at: time)
        let folds = try reader.folds(of: user.number, state)
        return try APIAnswer.ok(version: state.version) { json in
            json.member("user", user)
            json.member("version", state.version.rawValue)
            json.member("time", time)
            json.objects("traits", zip(reader.traits, folds)) { json, trait in
                if case .object(let members) = trait.0.declaration {
                    for member in members { json.member(member.key.text, member.value) }
                }
                json.member("value", trait.1)
                json.member("skipped", trait.1.skipped)
            }
            try json.note(note, isEmpty: folds.isEmpty, in: log)
        }
    }
}

extension ProfileJSON {
    /// Writes the member `traits` with the values of computed traits, if any are declared.
    func write(traits reader: TraitReader, of user: UserNumber, _ state: ProfileState, to json: inout JSONWriter) throws
    {
        if reader.traits.isEmpty { return }
        let folds = try reader.folds(of: user, state)
        json.object("traits") { json in
            for (trait, fold) in zip(reader.traits, folds) {
                json.member(trait.name.text, fold)
            }
        }
    }
}

extension JSONWriter {
    /// The value of a trait; a sum with all its digits.
    fileprivate mutating func member(_ key: String, _ fold: TraitFold) {
        if let sum = fold.sum { return member(key, sum) }
        member(key, fold.value.map(JSONValues.json) ?? .null)
    }
}

extension TraitEndpoint {
    private static let declaration: AnswerShape = [
        "name": .text, "function": .text, "event?": .text, "purchase?": .text, "purchases?": .text, "app?": .text,
        "property?": .text, "within?": .text, "where?": .any,
    ]

    private static let declarations: AnswerShape = .named("TraitDeclarations", ["traits": [declaration]] + .note)

    private static let values: AnswerShape = .named(
        "TraitValues",
        [
            "user": .user, "version": .integer, "time": .time,
            "traits": [declaration + ["value": .any, "skipped": .integer]],
        ] + .note)

    static let shape: AnswerShape = .either([values, declarations])
}
