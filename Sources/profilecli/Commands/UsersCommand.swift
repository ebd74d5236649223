internal import ArgumentParser
internal import ProfileLog

struct UsersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "users", "List all users, or those who pass a condition, in the order in which they were created.",
        examples: """
            profilecli users
            profilecli users --as-of monday
            profilecli users --limit 20 --after 100
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
        if count, limit.limit != nil {
            throw ValidationError("--count and --limit exclude each other. Omit one of them.")
        }
    }

    func run() async throws {
        let connection = try place.connect(traits: traits)
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
}
