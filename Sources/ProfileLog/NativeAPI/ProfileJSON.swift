internal import ProfileLogRequests

/// A profile as JSON: of `GET /v1/profile` and of exports (docs/api.md).
struct ProfileJSON {
    let log: LogReader

    /// Writes who it is, as members of an object.
    func write(_ user: UserInfo, to json: inout JSONWriter) {
        json.member("user", user)
        json.array("ids", user.ids) { $0.value($1.description) }
        json.member("braze_id", user.brazeID)
    }

    /// Writes what `state` says, as members of an object.
    ///
    /// - Parameter createdAt: when the log recorded the user's first event; read if it is nil.
    func write(_ state: ProfileState, createdAt: Timestamp? = nil, to json: inout JSONWriter) throws {
        let view = log.named(state)
        json.member("version", state.version.rawValue)
        json.member("position", state.lastPosition.rawValue)
        json.member("created_at", try createdAt ?? log.event(at: state.created)?.recordedAt)
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
            json.member("product", purchase.name.text)
            json.members(of: purchase.occurrences)
            json.member("revenue", purchase.paid)
        }
        json.object("orders") { $0.member("revenue", state.orders) }
        json.member("total_revenue", state.totalRevenue)
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
        _ key: String, _ fields: [Profile.Field], _ write: (inout JSONWriter, Profile.Field) -> Void
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

// MARK: - The form of what it writes

extension ProfileJSON {
    private static let who: AnswerShape = ["user": .user, "ids": [.text], "braze_id": .text]

    private static let occurrences: AnswerShape = [
        "count": .integer, "first": .orNull(.time), "last": .orNull(.time), "position": .position,
    ]

    static let state: AnswerShape = .named(
        "Profile",
        [
            "version": .integer, "position": .integer, "created_at": .orNull(.time), "first_seen": .orNull(.time),
            "last_seen": .orNull(.time), "attributes": .map(.any), "custom_attributes": .map(.any),
            "set_by": ["attributes": .map(.integer), "custom_attributes": .map(.integer)],
            "custom_events": [["name": .text] + occurrences],
            "purchases": [["product": .text] + occurrences + ["revenue": .map(.number)]],
            "orders": ["revenue": .map(.number)], "total_revenue": .map(.number),
            "launches": occurrences, "flushes": occurrences,
            "pending": ["total": .integer] + PendingKind.shape(.integer)
                + ["queued": .integer, "hidden_from_app": .integer],
        ])

    /// A profile in an export.
    static let row: AnswerShape = .named("ProfileRow", who + state + ["traits?": .map(.any)])
}
