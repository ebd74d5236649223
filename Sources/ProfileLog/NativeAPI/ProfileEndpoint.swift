internal import ProfileLogRequests

/// `GET /v1/profile`.
struct ProfileEndpoint {
    let log: EventLog

    /// The past moment of which a profile is read.
    private enum AsOf {
        case now
        case position(Position)
        case time(Timestamp)
        case version(Version)

        /// Reads a position, a time as in RFC 3339, or `version:N`.
        init(_ text: String?) throws {
            guard let text else {
                self = .now
                return
            }
            if text.hasPrefix("version:"), let version = UInt64(text.dropFirst("version:".count)) {
                self = .version(Version(rawValue: version))
            } else if let position = UInt64(text) {
                self = .position(Position(rawValue: position))
            } else if let time = OccurredAt(iso8601: text) {
                self = .time(time.timestamp)
            } else {
                throw APIProblem.invalid("as_of", "must be a position, a time as in RFC 3339, or version:N")
            }
        }
    }

    func profile(_ request: APIRequest) throws -> APIAnswer {
        var query = Query(request)
        let id = try Identifiers.user(query.requiredText("user"))
        let asOf = try AsOf(query.text("as_of"))
        let includePending = try query.flag("include_pending")
        try query.end()
        let user = try log.knownUser(meantBy: id)
        let version = try version(of: user, asOf)
        let state = try log.profile(of: user.number, asOf: version)
        return try APIAnswer.ok(version: state.version) { json in
            json.member("user", user)
            json.array("ids", user.ids) { $0.value($1.description) }
            json.member("braze_id", user.brazeID)
            try write(state, to: &json)
            if includePending {
                try json.object("with_pending") { try write(state.flushingAllPending(), to: &$0) }
            }
        }
    }

    private func version(of user: UserInfo, _ asOf: AsOf) throws -> Version {
        let version: Version
        switch asOf {
        case .now: return Version(rawValue: .max)
        case .version(let asked):
            guard asked <= user.version else {
                throw APIProblem.invalid(
                    "as_of", "is beyond the user's last version, \(user.version.rawValue)",
                    remedy: "Ask for an earlier one.")
            }
            version = asked
        case .position(let position):
            let last = try log.lastPosition()
            guard position <= last else {
                throw APIProblem.invalid(
                    "as_of", "is beyond the log's last position, \(last.rawValue)", remedy: "Ask for an earlier one.")
            }
            version = try log.version(of: user.number, at: position)
        case .time(let time): version = try log.version(of: user.number, at: log.position(at: time))
        }
        guard version > .none else {
            throw APIProblem(
                status: 404, code: "unknown_user", error: "The user did not exist yet at that point.",
                remedy: "Their first event is at position \(user.created.rawValue).", place: "as_of")
        }
        return version
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
