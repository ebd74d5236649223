internal import ArgumentParser
internal import ProfileLog

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

    @Argument(help: .user) var user: String
    @Option(parsing: .unconditional, help: .init("The first version.", valueName: "version")) var from: UInt64?
    @Option(parsing: .unconditional, help: .init("The last version.", valueName: "version")) var to: UInt64?
    @Flag(help: "The latest first.") var reverse = false
    @OptionGroup var limit: LimitOption
    @OptionGroup var filter: FilterOptions
    @OptionGroup var place: PlaceOptions

    mutating func validate() throws {
        if let from, let to, from > to { throw ValidationError("--from must not be greater than --to.") }
    }

    func run() async throws {
        var pages = Pages.events(isJSON: place.isJSON, withUser: false)
        func range(from: UInt64?, to: UInt64?) -> [(name: String, value: String)] {
            parameters(("from", from.map { "\($0)" }), ("to", to.map { "\($0)" }))
        }
        let query = filter.query + [("user", user), ("reverse", "\(reverse)")]
        try await pages.print(
            "events", of: "/v1/history", by: place.connect(), query, from: range(from: from, to: to), limit
        ) { last in
            let version = last.count("version")
            return reverse ? range(from: from, to: version - 1) : range(from: version + 1, to: to)
        }
        if pages.count == 0 { Output.message("The user has no such event.") }
    }
}
