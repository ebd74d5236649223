internal import ArgumentParser
internal import ProfileLog

/// `profilecli history`
struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "One user's events, in order.",
        discussion: """
            EXAMPLES
              profilecli history jane
              profilecli history jane --reverse --limit 10
              profilecli history jane --kind customAttributesChanged --name level
              profilecli history jane --since 2026-01-01T00:00:00Z --format json
              profilecli history jane --from 5 --to 9
            """)

    @Argument(help: .user)
    var user: String

    @Option(name: .long, parsing: .unconditional, help: ArgumentHelp("The first version.", valueName: "version"))
    var from: UInt64?

    @Option(name: .long, parsing: .unconditional, help: ArgumentHelp("The last version.", valueName: "version"))
    var to: UInt64?

    @Flag(name: .long, help: "The latest first.")
    var reverse = false

    @Option(
        name: [.customShort("n", allowingJoined: true), .long], parsing: .unconditional, help: "At most so many.")
    var limit: Int?

    @OptionGroup var filter: FilterOptions
    @OptionGroup var place: PlaceOptions

    mutating func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") }
        if let from, let to, from > to { throw ValidationError("--from must not be greater than --to.") }
    }

    func run() async throws {
        let connection = try place.connect()
        var pages = Pages.events(isJSON: place.isJSON, withUser: false)
        var (from, to) = (from, to)
        while true {
            let wanted = min(1_000, (limit ?? .max) - pages.count)
            if wanted == 0 { return }
            var query = filter.query + [("user", user), ("limit", "\(wanted)"), ("reverse", "\(reverse)")]
            if let from { query.append(("from", "\(from)")) }
            if let to { query.append(("to", "\(to)")) }
            let answer = try await connection.get("/v1/history", query)
            let events = answer.objects("events")
            try pages.print(events)
            guard answer["more"].flag == true, let last = events.last?["version"].integer.flatMap(UInt64.init(exactly:))
            else { break }
            if reverse { to = last - 1 } else { from = last + 1 }
        }
        if pages.count == 0 { Output.message("The user has no such event.") }
    }
}
