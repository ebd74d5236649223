internal import ProfileLogRequests

/// `/v1/replay`: stored states are folded again next to those that are read, and swapped in.
struct ReplayEndpoints {
    let store: RequestStore

    private static let threads: ClosedRange<UInt64> = 1...16
    private static let seconds: ClosedRange<UInt64> = 1...60

    static let inputs: [EndpointInput] = [
        .init("users", .array), .init("where"), .init("until", .integer), .init("generation", .integer),
        .init("threads", .integer, limits: threads, standard: 1), .init("verify", .boolean),
        .init("for_s", .integer, limits: seconds, standard: 5),
    ]

    /// The generation that the caller has seen: no other shadow is swapped.
    static let swapInputs: [EndpointInput] = [.required("generation", .integer)]
    static let discardInputs: [EndpointInput] = [.init("generation", .integer)]

    func report(_ request: APIRequest) throws -> APIAnswer {
        try Query(request).end()
        let (report, users) = (try store.log.shadowReport(), try store.log.userCount())
        return APIAnswer.ok { json in
            if let report { json.shadow(report, of: users) } else { json.member("shadow", .null) }
        }
    }

    /// A request folds for some seconds; the next one goes on there.
    func fold(_ request: APIRequest) async throws -> APIAnswer {
        let fields = try Fields(withoutConditions: request, mayBeEmpty: true)
        let choice = try Self.choice(fields)
        let threads = try Self.number("threads", Self.threads, fields) ?? 1
        let seconds = try Self.number("for_s", Self.seconds, fields) ?? 5
        let verify = try fields.flag("verify")
        let (report, count) = try await store.performSlowly { [store] log in
            let clock = ContinuousClock()
            let end = clock.now + .seconds(seconds)
            let request = try choice.request(store)
            do {
                let report = try log.replayIntoShadow(request, threads: threads, verify: verify) { _ in
                    clock.now < end
                }
                return (report, try log.userCount())
            } catch let error as AppendError {
                throw APIError(refusedHere: error)
            }
        }
        return APIAnswer.ok { json in
            json.shadow(report, of: count)
            json.array("damaged", report.damaged) { $0.value($1.rawValue) }
            if verify { json.array("differing", report.differing) { $0.value($1.rawValue) } }
        }
    }

    /// The states to fold.
    fileprivate enum Choice {
        /// The states of these users, or of all; without events after `until`.
        case users([UserID], until: Position?)
        /// The states of the users who pass now.
        case passing(String, until: Position?)
        /// The states of the shadow with this generation, which is there already.
        case generation(UInt64)
    }

    private static func choice(_ fields: Fields) throws -> Choice {
        let users = try (fields.array("users") ?? []).map { value in
            guard case .string(let text) = value else { throw APIError.invalid("users", "must be IDs of users") }
            return try Identifiers.user(text)
        }
        let until = try fields.integer("until", in: 0 ... .max, "must be a position of the log")
            .map { Position(rawValue: UInt64($0)) }
        let condition = try fields.text("where")
        if let generation = try generation(fields) {
            guard users.isEmpty, until == nil, condition == nil else {
                throw APIError.invalid(
                    "generation", "cannot be combined with users, where or until", remedy: "Omit these.")
            }
            return .generation(generation)
        }
        guard let condition else { return .users(users, until: until) }
        guard users.isEmpty else {
            throw APIError.invalid("where", "cannot be combined with users", remedy: "Omit one of them.")
        }
        return .passing(condition, until: until)
    }

    private static func number(_ name: Name, _ range: ClosedRange<UInt64>, _ fields: Fields) throws -> Int? {
        let (least, most) = (Int64(range.lowerBound), Int64(range.upperBound))
        return try fields.integer(name, in: least...most, "must be from \(least) to \(most)").map { Int($0) }
    }

    func swap(_ request: APIRequest) async throws -> APIAnswer {
        guard let generation = try generation(request) else { throw APIError.invalid("generation", "is missing") }
        let (report, count) = try await APIError.decidingHere {
            try await store.performSlowly { log in
                (try log.swapShadow(ifGeneration: generation), try log.userCount())
            }
        }
        return APIAnswer.ok { json in
            json.shadow(report, of: count)
            json.member("swapped", true)
        }
    }

    func discard(_ request: APIRequest) async throws -> APIAnswer {
        let generation = try generation(request)
        let discarded = try await APIError.decidingHere {
            try await store.performSlowly { log in try log.discardShadow(ifGeneration: generation) }
        }
        return APIAnswer.ok { $0.member("discarded", discarded) }
    }

    private func generation(_ request: APIRequest) throws -> UInt64? {
        try Self.generation(Fields(withoutConditions: request, mayBeEmpty: true))
    }

    private static func generation(_ fields: Fields) throws -> UInt64? {
        try fields.integer("generation", in: 1 ... .max, "must be a number from 1").map { UInt64($0) }
    }
}

extension ReplayEndpoints.Choice {
    fileprivate func request(_ store: RequestStore) throws -> ShadowStates.Request {
        let log = store.log
        switch self {
        case .users(let users, let until):
            return .init(users: try log.numbers(of: users), until: try Self.known(until, log))
        case .passing(let text, let until):
            return .init(users: try Self.users(passing: text, store), until: try Self.known(until, log))
        case .generation(let number):
            guard let shadow = try log.shadow.current(ifGeneration: number) else {
                throw APIError.invalidHere("generation", "names no shadow", remedy: "Send the request without it.")
            }
            return .init(users: shadow.users, until: shadow.until, generation: number)
        }
    }

    /// `until`, which must be a position of the log.
    private static func known(_ until: Position?, _ log: EventLog) throws -> Position? {
        try APIError.resolving("until") { try until.map { try log.reader.past.position(at: .position($0)) } }
    }

    private struct TooMany: Error {}

    private static func users(passing text: String, _ store: RequestStore) throws -> [UInt64] {
        let search = try store.read { try UserSearch(Condition(whereParameter: text, $0), $0) }
        var users: [UInt64] = []
        do {
            try search.forEach(in: store) { user in
                guard users.count < EventLog.mostChosenUsers else { throw TooMany() }
                users.append(user.number.rawValue)
            }
        } catch is TooMany {
            throw APIError.invalidHere(
                "where", "matches more than \(EventLog.mostChosenUsers) users, the limit of a partial replay",
                remedy: "Narrow the condition, or replay all users.")
        }
        // Without users, all would be folded.
        guard !users.isEmpty else {
            throw APIError.invalidHere("where", "matches no user", remedy: "There is nothing to replay.")
        }
        return users
    }
}

extension JSONWriter {
    /// Writes the member `shadow`, in a store of `count` users.
    fileprivate mutating func shadow(_ report: ShadowReport, of count: UInt64) {
        let shadow = report.shadow
        let total = shadow.users.isEmpty ? count : UInt64(shadow.users.count)
        let done = shadow.users.isEmpty ? shadow.user : UInt64(shadow.users.prefix { $0 <= shadow.user }.count)
        object("shadow") { json in
            json.member("generation", shadow.generation)
            json.array("projections", shadow.projections) { $0.value($1.name.text) }
            if let until = shadow.until { json.member("until", until) }
            json.member("users", total)
            json.member("users_done", min(done, total))
            json.member("pass", shadow.pass)
            json.member("states", shadow.states)
            json.member("events", shadow.events)
            json.member("complete", shadow.isComplete)
        }
    }
}

// MARK: - The form of the answers

extension ReplayEndpoints {
    private static let shadow: AnswerShape = .named(
        "Shadow",
        [
            "generation": .integer, "projections": [.text], "until?": .integer, "users": .integer,
            "users_done": .integer, "pass": .integer, "states": .integer, "events": .integer, "complete": .boolean,
        ])

    static let reported: AnswerShape = ["shadow": .orNull(shadow)]
    static let folded: AnswerShape = ["shadow": shadow, "damaged": [.integer], "differing?": [.integer]]
    static let swapped: AnswerShape = ["shadow": shadow, "swapped": .boolean]
    static let discarded: AnswerShape = ["discarded": .boolean]
}
