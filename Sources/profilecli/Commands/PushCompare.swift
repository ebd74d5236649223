internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogNativeAPI

/// `profilecli push compare`
struct PushCompare: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "compare", "Compare how long an event took by a launch, and by a server at once.",
        """
        deferred: an extension saved it, and a launch flushed it. real-time: a server sent it to /users/track. \
        EFFECTIVE is when the profile had it.
        """,
        examples: #"profilecli push compare jane "Viewed Session Progress""#)

    @Argument(help: .user) var user: String
    @Argument(help: .init("The name of the event.", valueName: "name")) var name: String
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        let connection = try place.connect()
        let named = try await history(connection, [("name", name)])
        let decisions = try await history(connection, [("kind", "pendingFlushed"), ("kind", "dataSent")])
        let rows = named.compactMap { Row($0, decisions) }
        if place.isJSON { return try Output.print(rows.map(\.json)) }
        if rows.isEmpty { return Output.message("The user has no such event by either way.") }
        let table = Table("WAY", "HAPPENED!", "EFFECTIVE!", "TOOK!", "#POSITION", of: rows) { row in
            [
                row.way, Phrase.time(.string(row.happened.rfc3339())),
                row.effective.map { Phrase.time(.string($0.rfc3339())) } ?? "not yet",
                row.seconds.map { Phrase.span(.double($0)) } ?? "", "\(row.position)",
            ]
        }
        try Output.print(table.lines())
    }

    private func history(_ connection: any Connection, _ filter: Parameters) async throws -> [JSONObject] {
        var events: [JSONObject] = []
        _ = try await Pages.forEach(
            "events", of: "/v1/history", by: connection, [("user", user)] + filter,
            next: { [("from", "\($0.count("version") + 1)")] }
        ) { page, _ in events += page }
        return events
    }

    /// One event and the way that it took.
    private struct Row {
        let way: String
        let position: Int64
        let happened: Timestamp
        /// The time at which the profile had it; nil if it waits.
        let effective: Timestamp?

        var seconds: Double? { effective.map { Double($0.rawValue - happened.rawValue) / 1_000_000 } }

        /// Returns nil if `event` went neither way.
        init?(_ event: JSONObject, _ decisions: [JSONObject]) {
            guard let position = event["position"].integer, let happened = Self.time(event["occurred_at"]) else {
                return nil
            }
            (self.position, self.happened) = (position, happened)
            switch (event["kind"].text, event["source"].text) {
            case ("customEventSaved", _):
                way = "deferred"
                let decision = decisions.last { decision in
                    let taken = decision.flag("queued") ? [] : decision["flushed"].elements
                    return (taken + decision["sent"].elements).contains { $0.integer == position }
                }
                effective = decision.flatMap { Self.time($0["occurred_at"]) }
            case ("customEventLogged", "rest"):
                way = "real-time"
                effective = Self.time(event["recorded_at"])
            default: return nil
            }
        }

        private static func time(_ value: AttributeValue) -> Timestamp? {
            value.text.flatMap(OccurredAt.init(iso8601:))?.timestamp
        }

        var json: String {
            JSONWriter.object { json in
                json.member("way", way)
                json.member("position", .int(position))
                json.member("happened", happened)
                json.member("effective", effective)
                json.member("took_s", seconds.map(AttributeValue.double) ?? .null)
            }
        }
    }
}
