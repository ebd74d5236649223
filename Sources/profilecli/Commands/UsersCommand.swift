internal import ArgumentParser
internal import ProfileLog

/// `profilecli users`
struct UsersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users",
        abstract: "All users, in the order in which they came.",
        discussion: """
            EXAMPLES
              profilecli users
              profilecli users --limit 20 --after 100
              profilecli users --format json | wc -l
            """)

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp("Begin behind the user with this number.", valueName: "number"))
    var after: UInt64 = 0

    @Option(
        name: [.customShort("n", allowingJoined: true), .long], parsing: .unconditional, help: "At most so many.")
    var limit: Int?

    @OptionGroup var place: PlaceOptions

    mutating func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") }
    }

    func run() async throws {
        let connection = try place.connect()
        var pages = Pages(isJSON: place.isJSON) { page in
            var table = Table("#NUMBER", "USER", "#EVENTS", "#CREATED@", "BRAZE_ID!", "ALSO", "#MERGED INTO")
            for user in page {
                let others = user["ids"].elements.map(\.cell).filter { $0 != user["id"].cell }
                table.add(
                    user["number"].cell, user["id"].cell, user["version"].cell, user["created"].cell,
                    user["braze_id"].cell, user["erased"].flag == true ? "erased" : others.joined(separator: ", "),
                    user["merged_into"].cell)
            }
            return table
        }
        var after = after
        while true {
            let wanted = min(1_000, (limit ?? .max) - pages.count)
            if wanted == 0 { return }
            let answer = try await connection.get("/v1/users", [("after", "\(after)"), ("limit", "\(wanted)")])
            let users = answer.objects("users")
            try pages.print(users)
            guard answer["more"].flag == true, let last = users.last?["number"].integer else { break }
            after = UInt64(max(0, last))
        }
        if pages.count > 0 { return }
        let isEmpty = self.after == 0
        Output.message(
            isEmpty
                ? "There are no users. \(Suggestion.next("log event jane hello"))"
                : "No user behind \(self.after). \(Suggestion.next("users"))")
    }
}
