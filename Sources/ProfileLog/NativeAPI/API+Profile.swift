internal import ProfileLogRequests

extension NativeAPI {
    /// A moment of the past at which a profile is asked for.
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
        guard let user = try log.user(meantBy: id) else { throw APIProblem.unknownUser(id) }
        let version = try version(of: user, asOf)
        let state = try log.profile(of: user.number, asOf: version)
        return try APIAnswer.ok(version: state.version) { json in
            json.key("user")
            json.user(user)
            json.key("ids")
            json.array(user.ids) { $0.value($1.description) }
            json.key("braze_id")
            json.value(user.brazeID)
            try write(state, to: &json)
            if includePending {
                json.key("with_pending")
                json.beginObject()
                try write(state.flushingAllPending(), to: &json)
                json.endObject()
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
        json.key("version")
        json.value(state.version.rawValue)
        json.key("position")
        json.value(state.lastPosition.rawValue)
        json.member("created_at", try log.event(at: state.created)?.recordedAt)
        json.member("first_seen", state.firstSeen)
        json.member("last_seen", state.lastSeen)
        json.key("attributes")
        json.fields(view.attributes) { $0.value(JSONValues.json($1.value)) }
        json.key("custom_attributes")
        json.fields(view.customAttributes) { $0.value(JSONValues.json($1.value)) }
        json.key("set_by")
        json.beginObject()
        json.key("attributes")
        json.fields(view.attributes) { $0.value($1.position.rawValue) }
        json.key("custom_attributes")
        json.fields(view.customAttributes) { $0.value($1.position.rawValue) }
        json.endObject()
        json.key("custom_events")
        json.array(view.customEvents) { json, event in
            json.beginObject()
            json.key("name")
            json.value(event.name.text)
            json.members(of: event.occurrences)
            json.endObject()
        }
        json.key("purchases")
        json.array(view.purchases) { $0.purchase($1) }
        json.key("launches")
        json.beginObject()
        json.members(of: state.launches)
        json.endObject()
        json.key("flushes")
        json.beginObject()
        json.members(of: state.flushes)
        json.endObject()
        json.key("pending")
        json.pendingCounts(view.pending)
    }
}

extension JSONWriter {
    fileprivate mutating func fields(
        _ fields: [ProfileView.Field], _ write: (inout JSONWriter, ProfileView.Field) -> Void
    ) {
        beginObject()
        for field in fields {
            key(field.name)
            write(&self, field)
        }
        endObject()
    }

    /// `count`, `first`, `last` and `position`; the last three are `null` if it never happened.
    fileprivate mutating func members(of occurrences: ProfileState.Occurrences) {
        key("count")
        value(occurrences.count)
        let happened = occurrences.count > 0
        member("first", happened ? occurrences.first : nil)
        member("last", happened ? occurrences.last : nil)
        key("position")
        position(occurrences.position)
    }

    fileprivate mutating func purchase(_ purchase: ProfileView.Purchased) {
        beginObject()
        key("product")
        value(purchase.product.text)
        members(of: purchase.occurrences)
        key("revenue")
        beginObject()
        for revenue in purchase.revenue {
            key(revenue.currency)
            // A sum of finite numbers may leave the range of a double.
            if revenue.amount.isFinite { value(revenue.amount) } else { null() }
        }
        endObject()
        endObject()
    }

    fileprivate mutating func pendingCounts(_ items: [ProfileView.Waiting]) {
        beginObject()
        let waiting = items.filter { !$0.isQueued }
        key("total")
        value(waiting.count)
        for kind in PendingKind.allCases {
            key(kind.key)
            value(waiting.count { $0.kind == kind })
        }
        key("queued")
        value(items.count - waiting.count)
        key("hidden_from_app")
        value(waiting.count { !$0.storage.isVisibleToApp })
        endObject()
    }
}
