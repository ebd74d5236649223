internal import ArgumentParser
internal import ProfileLog

/// `profilecli history`
struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "history", "One user's events, in order.",
        examples: """
            profilecli history jane
            profilecli history jane --reverse --limit 10
            profilecli history jane --kind customAttributesChanged --name level
            profilecli history jane --since 2026-01-01T00:00:00Z --format json
            profilecli history jane --from 5 --to 9
            """)

    @Argument(help: .user)
    var user: String

    @Option(parsing: .unconditional, help: .init("The first version.", valueName: "version"))
    var from: UInt64?

    @Option(parsing: .unconditional, help: .init("The last version.", valueName: "version"))
    var to: UInt64?

    @Flag(help: "The latest first.")
    var reverse = false

    @OptionGroup var limit: LimitOption
    @OptionGroup var filter: FilterOptions
    @OptionGroup var place: PlaceOptions

    mutating func validate() throws {
        if let from, let to, from > to { throw ValidationError("--from must not be greater than --to.") }
    }

    func run() async throws {
        let connection = try place.connect()
        var pages = Pages.events(isJSON: place.isJSON, withUser: false)
        var (from, to) = (from, to)
        while let wanted = limit.wanted(after: pages.count) {
            let range = parameters(
                ("user", user), ("limit", "\(wanted)"), ("reverse", "\(reverse)"), ("from", from.map { "\($0)" }),
                ("to", to.map { "\($0)" }))
            let answer = try await connection.get("/v1/history", filter.query + range)
            let events = answer.objects("events")
            try pages.print(events)
            guard answer["more"].flag == true, let last = events.last?.count("version") else { break }
            if reverse { to = last - 1 } else { from = last + 1 }
        }
        if pages.count == 0 { Output.message("The user has no such event.") }
    }
}
