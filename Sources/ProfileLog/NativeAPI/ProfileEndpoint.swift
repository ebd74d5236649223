internal import ProfileLogRequests

/// `GET /v1/profile`.
struct ProfileEndpoint {
    let log: EventLog

    func profile(_ request: APIRequest) throws -> APIAnswer {
        var query = Query(request)
        let id = try Identifiers.user(query.requiredText("user"))
        let asOf = try query.moment("as_of", now: log.options.now())
        let launch = try query.launch("at_launch")
        let order = try query.order()
        let includePending = try query.flag("include_pending")
        try query.end()
        let user = try log.knownUser(meantBy: id)
        if let launch {
            guard asOf == nil, order == .recorded, !includePending else {
                throw APIProblem.invalid(
                    "at_launch", "shows both sides of a launch, without other options", remedy: "Omit the others.")
            }
            return try profile(of: user, atLaunch: launch)
        }
        let state = try APIProblem.resolving("as_of") {
            try log.profile(of: user.number, asOf: asOf ?? .now, order: order)
        }
        return try APIAnswer.ok(version: state.version) { json in
            write(user, to: &json)
            try write(state, to: &json)
            if includePending {
                try json.object("with_pending") { try write(state.flushingAllPending(), to: &$0) }
            }
        }
    }

    /// The profile right before a launch and after its last flush, what it flushed, and what that changed.
    private func profile(of user: UserInfo, atLaunch number: Int) throws -> APIAnswer {
        let read = try APIProblem.resolving("at_launch") { try log.launch(number, of: user.number) }
        let before = read.before == .none ? nil : try log.profile(of: user.number, asOf: read.before)
        let after = try log.profile(of: user.number, asOf: read.after)
        var events = EventJSON(log: log)
        return try APIAnswer.ok(version: after.version) { json in
            write(user, to: &json)
            json.member("launch", read.number)
            json.member("launches", read.count)
            json.key("event")
            try events.write(read.launch, to: &json)
            if let before {
                try json.object("before") { try write(before, to: &$0) }
            } else {
                json.member("before", AttributeValue.null)
            }
            try json.object("after") { try write(after, to: &$0) }
            json.key("flushed")
            json.beginArray()
            for event in read.flushes {
                guard case .pendingFlushed(let flush) = event.event else { continue }
                let outcome = flush.isQueued ? "queued" : "flushed"
                for item in flush.flushed {
                    try events.write(item, .init(outcome: outcome, decision: event), to: &json)
                }
                for item in flush.rejected {
                    try events.write(
                        item.position, .init(outcome: "rejected", reason: item.reason, decision: event), to: &json)
                }
            }
            json.endArray()
            json.changes(log.changes(from: before, to: after))
        }
    }

    private func write(_ user: UserInfo, to json: inout JSONWriter) {
        json.member("user", user)
        json.array("ids", user.ids) { $0.value($1.description) }
        json.member("braze_id", user.brazeID)
    }

    /// Writes what `state` says, as members of an object.
    private func write(_ state: ProfileState, to json: inout JSONWriter) throws {
        let view = log.profileView(state)
        json.member("version", state.version.rawValue)
        json.member("position", state.lastPosition.rawValue)
        json.member("created_at", try log.event(at: state.created)?.recordedAt)
        json.member("first_seen", state.firstSeen)
        json.member("last_seen", state.lastSeen)
        json.fields("attributes", view.attributes) { $0.value(JSONValues.json($1.value)) }
        json.fields("custom_attributes", view.customAttributes) { $0.value(JSONValues.json($1.value)) }
        json.object("set_by") { json in
            json.fields("attributes", view.attributes) { $0.value($1.position.rawValue) }
            json.fields("custom_attributes", view.customAttributes) { $0.value($1.position.rawValue) }
        }
        json.objects("custom_events", view.customEvents) { json, event in
            json.member("name", event.name.text)
            json.members(of: event.occurrences)
        }
        json.objects("purchases", view.purchases) { json, purchase in
            json.member("product", purchase.product.text)
            json.members(of: purchase.occurrences)
            json.object("revenue") { json in
                for revenue in purchase.revenue {
                    // A sum of finite numbers may leave the range of a double.
                    json.member(
                        revenue.currency, revenue.amount.isFinite ? AttributeValue.double(revenue.amount) : .null)
                }
            }
        }
        json.object("launches") { $0.members(of: state.launches) }
        json.object("flushes") { $0.members(of: state.flushes) }
        json.object("pending") { json in
            let waiting = view.pending.filter { !$0.isQueued }
            json.member("total", waiting.count)
            for kind in PendingKind.allCases { json.member(kind.key, waiting.count { $0.kind == kind }) }
            json.member("queued", view.pending.count - waiting.count)
            json.member("hidden_from_app", waiting.count { !$0.storage.isVisibleToApp })
        }
    }
}

extension JSONWriter {
    fileprivate mutating func fields(
        _ key: String, _ fields: [ProfileView.Field], _ write: (inout JSONWriter, ProfileView.Field) -> Void
    ) {
        object(key) { json in
            for field in fields { json.member(field.name.text) { write(&$0, field) } }
        }
    }

    /// `count`, `first`, `last` and `position`; the last three are `null` if it never happened.
    fileprivate mutating func members(of occurrences: ProfileState.Occurrences) {
        member("count", occurrences.count)
        let happened = occurrences.count > 0
        member("first", happened ? occurrences.first : nil)
        member("last", happened ? occurrences.last : nil)
        member("position", occurrences.position)
    }
}
