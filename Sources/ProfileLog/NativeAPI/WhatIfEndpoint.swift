internal import ProfileLogRequests

/// `GET /v1/whatif`.
struct WhatIfEndpoint {
    let log: EventLog

    private static let mostAffectedItems = 10_000

    /// What the published snippets would have done to the items of the log.
    func whatIf(_ request: APIRequest) throws -> APIAnswer {
        var query = Query(request)
        let policy = try query.publishedPolicy()
        let user = try query.user()
        var scope = WhatIfScope()
        scope.device = try query.device()
        let since = try query.text("since")
        let until = try query.text("until")
        let most = Int(try query.number("items", 0...UInt64(Self.mostAffectedItems), standard: 100))
        try query.end()
        scope.user = try user.map { try log.knownUser(meantBy: $0).number }
        if let device = scope.device, try log.device(device) == nil { throw APIProblem.unknownDevice }
        scope.since = try since.map { try position($0, "since", isStart: true) }
        scope.until = try until.map { try position($0, "until", isStart: false) }
        try Self.refuseBackwards(since, until, scope)
        // Stops when the caller has gone or the service ends.
        let report = try log.whatIf(policy, in: scope, mostItems: most) { _ in !Task.isCancelled }
        guard report.isComplete else { throw AppendError.closed }
        let warnings = try WhatIfWarnings(request, policy, report)
        return try APIAnswer.ok { json in
            try write(report, policy, to: &json)
            warnings.write(to: &json)
        }
    }

    /// Two times between which nothing was recorded are no mistake.
    private static func refuseBackwards(_ since: String?, _ until: String?, _ scope: WhatIfScope) throws {
        guard let from = scope.since, let to = scope.until else { return }
        let times = [since, until].compactMap { $0.flatMap { UInt64($0) == nil ? OccurredAt(iso8601: $0) : nil } }
        let isBackwards = times.count == 2 ? times[0].timestamp > times[1].timestamp : from > to
        if isBackwards { throw APIProblem.invalid("since", "must not be behind the end of the history") }
    }

    /// A position, or a time of recording: the first event from then on as a start, the last one up to then as an end.
    private func position(_ text: String, _ place: String, isStart: Bool) throws -> Position {
        if let number = UInt64(text) { return Position(rawValue: number) }
        guard let time = OccurredAt(iso8601: text)?.timestamp else {
            throw APIProblem.invalid(place, "must be a position or a time as in RFC 3339, like 2026-01-31T23:59:59Z")
        }
        return isStart ? try log.position(at: Timestamp(rawValue: time.rawValue - 1)).next : try log.position(at: time)
    }

    private func write(_ report: WhatIfReport, _ policy: PublishedPolicy, to json: inout JSONWriter) throws {
        json.member("policy", policy.faults.isEmpty ? "standard" : "faithful")
        json.array("switched_on", policy.faults.sorted()) { $0.value($1.number) }
        json.member("position", report.position)
        for (key, count) in [
            ("devices", report.devices), ("users", report.users), ("items", report.items),
            ("delivered_right", report.deliveredRight), ("affected", report.affected),
            ("affected_users", report.affectedUsers), ("waiting", report.waiting), ("stranded", report.stranded),
            ("rejected", report.rejected), ("discarded", report.discarded),
        ] {
            json.member(key, count)
        }
        json.counts("effects", report.byEffect)
        json.objects("faults", report.byFault.sorted { $0.key < $1.key }) { json, row in
            json.member("fault", row.key.number)
            json.member("title", row.key.title)
            json.member("items", row.value.items)
            json.member("users", row.value.users)
            json.counts("effects", row.value.effects)
        }
        try json.array("affected_items", report.affectedItems) { json, item in
            try write(item.outcome, on: item.device, to: &json)
        }
    }

    private func write(_ outcome: PublishedOutcome, on device: String, to json: inout JSONWriter) throws {
        let item = outcome.item
        try json.object { json in
            json.member("position", item.position)
            json.member("user", try log.find(item.user))
            json.member("received_by", try outcome.receivedBy.flatMap { try log.find($0) })
            json.member("device", device)
            json.member("kind", item.content.kind.key)
            json.member("saved_at", OccurredAt(item.savedAt))
            json.key("delivered_at")
            if let time = outcome.deliveredAt { json.value(OccurredAt(time)) } else { json.null() }
            json.array("names", item.content.names) { $0.value($1.text) }
            json.member("fate", outcome.fate.rawValue)
            json.objects("deviations", outcome.deviations) { json, deviation in
                json.member("fault", deviation.fault.number)
                json.member("effect", deviation.effect.rawValue)
                json.member("sentence", deviation.sentence)
            }
        }
    }
}

extension JSONWriter {
    /// An object with the effects that occurred, the worst first.
    fileprivate mutating func counts(_ key: String, _ effects: [FaultEffect: Int]) {
        object(key) { json in
            for (effect, count) in effects.sorted(by: { $0.key < $1.key }) { json.member(effect.rawValue, count) }
        }
    }
}
