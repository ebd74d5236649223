internal import ProfileLog
internal import ProfileLogNativeAPI

/// `replay --shadow`, `--swap` and `--discard`, on a store or a service.
struct ShadowReplay {
    let connection: any Connection
    let isJSON: Bool

    /// Folds until the shadow is complete, or Ctrl-C. Each request works for a second.
    ///
    /// Unless `isLast`, a swap follows, which prints the result; users whose live states differ are no failure then.
    func fold(
        users: [String], condition: String?, until: UInt64?, threads: Int, verify: Bool, isLast: Bool
    ) async throws {
        Interrupt.watch()
        let earlier = try await connection.get("/v1/replay").object("shadow")
        var bar = ProgressBar()
        defer { bar.clear() }
        var damaged: [UInt64] = []
        var differing: [UInt64] = []
        var answer: JSONObject
        // Other users may pass during the replay: the next request names the shadow.
        var generation: UInt64?
        repeat {
            answer = try await connection.post("/v1/replay") { json in
                if let generation {
                    json.member("generation", generation)
                } else {
                    if !users.isEmpty { json.array("users", users) { $0.value($1) } }
                    if let condition { json.member("where", condition) }
                    if let until { json.member("until", until) }
                }
                json.member("threads", threads)
                json.member("verify", verify)
                json.member("for_s", 1)
            }
            damaged += answer["damaged"].elements.compactMap { $0.integer.map(UInt64.init) }
            differing += answer["differing"].elements.compactMap { $0.integer.map(UInt64.init) }
            let shadow = answer.object("shadow")
            if generation == nil { Self.noteStart(of: shadow, after: earlier) }
            generation = shadow.count("generation")
            bar.update(
                LogProgress(
                    stage: "shadow", done: shadow.count("users_done"), total: shadow.count("users"), unit: "users"))
        } while !answer.object("shadow").flag("complete") && !Interrupt.isRequested
        bar.clear()
        guard answer.object("shadow").flag("complete") else {
            throw CommandError(
                "The replay was stopped.", remedy: "Run the same command again: it goes on where it stopped.",
                status: Interrupt.status)
        }
        if isLast { try Output.print(isJSON ? [answer.line] : Self.lines(answer.object("shadow"), verify)) }
        if !damaged.isEmpty {
            throw CommandError(
                "\(Self.named(damaged)) damaged records and no states in the shadow.",
                remedy: "Run `profilecli check` to see where; the states of all others are there.", status: .damaged)
        }
        if differing.isEmpty { return }
        let sentence = "\(Self.named(differing)) live states that are not what their events say."
        if !isLast { return Output.message("\(sentence) The swap replaces them.") }
        throw CommandError(sentence, remedy: "`profilecli replay --swap` replaces them.", status: .damaged)
    }

    /// Tells the user where a resumed replay continues; `earlier` is the shadow before it.
    private static func noteStart(of shadow: JSONObject, after earlier: JSONObject) {
        let done = earlier.count("users_done")
        guard shadow["generation"] == earlier["generation"], !earlier.flag("complete"), done > 0 else { return }
        Output.message("Going on after \(Number.grouped(done)) of \(Number.counted(earlier.count("users"), "user")).")
    }

    /// `2 users (number 4, 17) have`
    private static func named(_ users: [UInt64]) -> String {
        let shown = users.prefix(10).map { "\($0)" }.joined(separator: ", ") + (users.count > 10 ? ", …" : "")
        return "\(Number.counted(UInt64(users.count), "user")) (number \(shown)) \(users.count == 1 ? "has" : "have")"
    }

    private static func lines(_ shadow: JSONObject, _ isVerified: Bool) -> [String] {
        let users = Number.counted(shadow.count("users"), "user")
        guard shadow.count("states") > 0 else {
            let compared = isVerified ? ", and none to compare" : ""
            return [
                "The shadow is complete: \(users), all with histories so short that no state is stored\(compared).",
                Suggestion.next("replay --verify"),
            ]
        }
        let states = Number.counted(shadow.count("states"), "state")
        let events = Number.counted(shadow.count("events"), "event")
        return [
            "The shadow is complete: \(states) of \(users) from \(events).",
            Suggestion.next("replay --swap"),
        ]
    }

    func swap() async throws {
        let known = try await connection.get("/v1/replay")
        guard let generation = known.object("shadow")["generation"].integer else {
            throw CommandError(
                "There is no shadow to swap.",
                remedy: TypedPlace.completing(in: "Make one with `profilecli replay --shadow`."))
        }
        let answer = try await connection.post("/v1/replay/swap") { $0.member("generation", UInt64(generation)) }
        let shadow = answer.object("shadow")
        try Output.print(
            isJSON
                ? [answer.line]
                : [
                    "Swapped: \(Number.counted(shadow.count("states"), "state")) of "
                        + "\(Number.counted(shadow.count("users"), "user")) are live."
                ])
    }

    func discard() async throws {
        let answer = try await connection.post("/v1/replay/discard") { _ in }
        let sentence = answer.flag("discarded") ? "The shadow is discarded." : "There is no shadow."
        try Output.print([isJSON ? answer.line : sentence])
    }
}
