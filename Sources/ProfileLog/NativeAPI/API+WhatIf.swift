internal import ProfileLogRequests

extension NativeAPI {
    private static let mostAffectedItems = 10_000

    /// What the published snippets would have done to the items of the log.
    func whatIf(_ request: APIRequest) throws -> APIAnswer {
        var query = Query(request)
        let policy = try query.publishedPolicy()
        let user = try query.text("user").map { try Identifiers.user($0) }
        var scope = WhatIfScope()
        scope.device = try query.text("device").map { try Identifiers.device($0) }
        let since = try query.text("since")
        let until = try query.text("until")
        let most = Int(try query.number("items", 0...UInt64(Self.mostAffectedItems), standard: 100))
        try query.end()
        scope.user = try user.map { id in
            guard let user = try log.user(meantBy: id) else { throw APIProblem.unknownUser(id) }
            return user.number
        }
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
            json.key("warnings")
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
        json.key("policy")
        json.value(policy.faults.isEmpty ? "standard" : "faithful")
        json.key("switched_on")
        json.array(policy.faults.sorted()) { $0.value($1.number) }
        json.key("position")
        json.position(report.position)
        for (key, count) in [
            ("devices", report.devices), ("users", report.users), ("items", report.items),
            ("delivered_right", report.deliveredRight), ("affected", report.affected),
            ("affected_users", report.affectedUsers), ("waiting", report.waiting), ("stranded", report.stranded),
            ("rejected", report.rejected), ("discarded", report.discarded),
        ] {
            json.key(key)
            json.value(count)
        }
        json.key("effects")
        json.counts(report.byEffect)
        json.key("faults")
        json.array(report.byFault.sorted { $0.key < $1.key }) { json, row in
            json.beginObject()
            json.key("fault")
            json.value(row.key.number)
            json.key("title")
            json.value(row.key.title)
            json.key("items")
            json.value(row.value.items)
            json.key("users")
            json.value(row.value.users)
            json.key("effects")
            json.counts(row.value.effects)
            json.endObject()
        }
        json.key("affected_items")
        try json.array(report.affectedItems) { json, item in try write(item.outcome, on: item.device, to: &json) }
    }

    private func write(_ outcome: PublishedOutcome, on device: String, to json: inout JSONWriter) throws {
        let item = outcome.item
        json.beginObject()
        json.key("position")
        json.position(item.position)
        json.key("user")
        json.user(try log.find(item.user))
        json.key("received_by")
        json.user(try outcome.receivedBy.flatMap { try log.find($0) })
        json.key("device")
        json.value(device)
        json.key("kind")
        json.value(item.content.kind.key)
        json.key("saved_at")
        json.value(OccurredAt(item.savedAt))
        json.key("delivered_at")
        if let time = outcome.deliveredAt { json.value(OccurredAt(time)) } else { json.null() }
        json.key("names")
        json.array(item.content.names) { $0.value($1.text) }
        json.key("fate")
        json.value(outcome.fate.rawValue)
        json.key("deviations")
        json.array(outcome.deviations) { json, deviation in
            json.beginObject()
            json.key("fault")
            json.value(deviation.fault.number)
            json.key("effect")
            json.value(deviation.effect.rawValue)
            json.key("sentence")
            json.value(deviation.sentence)
            json.endObject()
        }
        json.endObject()
    }
}

extension JSONWriter {
    /// An object with the effects that occurred, the worst first.
    fileprivate mutating func counts(_ effects: [FaultEffect: Int]) {
        beginObject()
        for (effect, count) in effects.sorted(by: { $0.key < $1.key }) {
            key(effect.rawValue)
            value(count)
        }
        endObject()
    }
}
