internal import ArgumentParser
internal import ProfileLog

struct UsersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "users", "List all users, those who pass a condition, or those with an ID that begins with a text.",
        """
        They come in the order in which they were created; with --prefix in that of their identifiers and addresses. A \
        user is there once for each of these.
        """,
        examples: """
            profilecli users
            profilecli users --as-of monday
            profilecli users --limit 20 --after 100
            profilecli users --prefix ana
            profilecli users --prefix email:ana@ --limit 10
            profilecli users --where 'country = "DE" and custom.level >= 3'
            profilecli users --where 'events.purchase.count >= 3 in 30d'
            profilecli users --where 'not exists(custom.level)' --count
            profilecli users --where 'last_seen < 30d ago' --as-of monday
            profilecli users --as-of 2025-06-30 --occurred
            profilecli users --format json | wc -l
            """)

    @Option(parsing: .unconditional, help: .init("Begin after the user with this number.", valueName: "number"))
    var after: UInt64 = 0

    @Option(
        parsing: .unconditional,
        help: .init(
            "Only users with an identifier or address that begins with this, maybe after alias:LABEL:, braze:, device:, "
                + "email:, id: or phone:.", valueName: "text"))
    var prefix: String?

    @Flag(help: "With --prefix: the last one first.") var reverse = false

    @Option(
        name: .customLong("where"),
        help: .init("Only users who pass this condition (docs/where.md).", valueName: "condition"))
    var condition: String?

    @Option(parsing: .unconditional, help: .when("The users at that moment, with the IDs that they had"))
    var asOf: String?
    @OptionGroup var occurred: OccurredOption
    @Flag(help: "Only say how many there are.") var count = false
    @OptionGroup var limit: LimitOption
    @OptionGroup var traits: TraitsOption
    @OptionGroup var place: PlaceOptions

    mutating func validate() throws {
        let others = condition != nil || asOf != nil || occurred.occurred || count || after > 0
        if prefix != nil, others {
            throw ValidationError("--prefix goes with --limit and --reverse only. Omit it, or the other options.")
        }
        if prefix == nil, reverse { throw ValidationError("--reverse belongs to --prefix. Say what to look for.") }
        if count, limit.limit != nil {
            throw ValidationError("--count and --limit exclude each other. Omit one of them.")
        }
    }

    func run() async throws {
        let connection = try place.connect(traits: traits)
        if let prefix { return try await search(prefix, connection) }
        let query = parameters(("where", condition), ("as_of", asOf.map(LocalMoment.text))) + occurred.query
        if count {
            let answer = try await connection.get("/v1/users", query + [("count", "true"), ("after", "\(after)")])
            try Output.print(place.isJSON ? answer.line : answer["count"].cell)
            var damaged = Damaged()
            damaged.take(answer)
            return try damaged.report()
        }
        var pages = Pages(isJSON: place.isJSON) { page in
            // Whole: it is typed in other commands.
            Table("#NUMBER", "USER!", "#EVENTS", "#CREATED@", "BRAZE_ID!", "ALSO", "#MERGED INTO", of: page) { user in
                let others = user["ids"].elements.map(\.cell).filter { $0 != user["id"].cell }
                return [
                    user["number"].cell, user["id"].cell, user["version"].cell, user["created"].cell,
                    user["braze_id"].cell, user.flag("erased") ? "erased" : others.joined(separator: ", "),
                    user["merged_into"].cell,
                ]
            }
        }
        try await pages.print(
            "users", of: "/v1/users", by: connection, query, from: [("after", "\(after)")], limit,
            scanned: { [("after", $0["scanned"].cell)] }, next: { [("after", $0["number"].cell)] })
        // The answer said that there are none.
        guard pages.count == 0, condition == nil, asOf == nil else { return }
        Output.message(Suggestion.next(after == 0 ? "log event jane hello" : "users"))
    }

    private func search(_ prefix: String, _ connection: any Connection) async throws {
        var pages = Pages(isJSON: place.isJSON) { page in
            // Whole: it is typed in other commands.
            Table("MATCHED!", "USER!", "#NUMBER", "#EVENTS", "BRAZE_ID!", of: page) { user in
                [
                    user["matched"].cell, user["id"].cell, user["number"].cell, user["version"].cell,
                    user["braze_id"].cell,
                ]
            }
        }
        var query = parameters(("prefix", prefix))
        if reverse { query.append(("reverse", "true")) }
        try await pages.print(
            "users", of: "/v1/users", by: connection, query, limit,
            scanned: { [("cursor", $0["cursor"].text ?? "")] }, next: { _ in [] })
    }
}
