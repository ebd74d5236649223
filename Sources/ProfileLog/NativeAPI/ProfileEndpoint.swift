internal import ProfileLogRequests

/// `GET /v1/profile`.
struct ProfileEndpoint {
    let log: LogReader

    private var profiles: ProfileJSON { ProfileJSON(log: log) }

    func profile(_ request: APIRequest) throws -> APIAnswer {
        var query = Query(request)
        let id = try Identifiers.user(query.requiredText("user"))
        let asked = try query.past(now: log.options.now())
        let launch = try query.launch("at_launch")
        let includePending = try query.flag("include_pending")
        try query.end()
        let user = try log.users.knownUser(meantBy: id, in: asked)
        if let launch {
            guard asked.isPresent, !includePending else {
                throw APIError.invalid(
                    "at_launch", "shows both sides of a launch, without other options", remedy: "Omit the others.")
            }
            return try profile(of: user, atLaunch: launch)
        }
        let state = try asked.profile(of: user.number, log)
        return try APIAnswer.ok(version: state.version) { json in
            profiles.write(user, to: &json)
            try profiles.write(state, to: &json)
            let time = try asked.time(at: state.lastPosition, log)
            let traits = TraitReader(log, in: try asked.history(of: user.number, log), at: time)
            try profiles.write(traits: traits, of: user.number, state, to: &json)
            if includePending {
                let isNow = asked.moment == nil
                let rules = try log.boundRules(asOf: isNow ? Position(rawValue: .max) : state.lastPosition)
                try json.object("with_pending") { try profiles.write(state.flushingAllPending(under: rules), to: &$0) }
            }
        }
    }

    /// The profile right before a launch and after its last flush, what it flushed, and what that changed.
    private func profile(of user: UserInfo, atLaunch number: Int) throws -> APIAnswer {
        let read = try APIError.resolving("at_launch") { try log.past.launch(number, of: user.number) }
        let before = read.before == .none ? nil : try log.profile(of: user.number, asOf: read.before)
        let after = try log.profile(of: user.number, asOf: read.after)
        var events = EventJSON(log: log)
        return try APIAnswer.ok(version: after.version) { json in
            profiles.write(user, to: &json)
            json.member("launch", read.number)
            json.member("launches", read.count)
            json.key("event")
            try events.write(read.launch, to: &json)
            if let before {
                try json.object("before") { try profiles.write(before, to: &$0) }
            } else {
                json.member("before", AttributeValue.null)
            }
            try json.object("after") { try profiles.write(after, to: &$0) }
            try json.array("flushed", read.flushes.flatMap { EventJSON.outcomes(of: $0) }) {
                try events.write($1.item, $1.state, to: &$0)
            }
            json.changes(log.changes(from: before, to: after))
        }
    }
}

// MARK: - The form of the answers

extension ProfileEndpoint {
    private static let launch: AnswerShape = .named(
        "LaunchSides",
        [
            "user": .user, "ids": [.text], "braze_id": .text, "launch": .integer, "launches": .integer,
            "event": EventJSON.shape, "before": .orNull(ProfileJSON.state), "after": ProfileJSON.state,
            "flushed": [EventJSON.outcome], "changes": DiffEndpoint.changes,
        ])

    private static let profile: AnswerShape = .named(
        "ProfileAnswer", ProfileJSON.row + ["with_pending?": ProfileJSON.state])

    /// A profile; with `at_launch`, both sides of that launch.
    static let shape: AnswerShape = .either([profile, launch])
}
