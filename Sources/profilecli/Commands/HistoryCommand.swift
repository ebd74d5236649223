internal import ArgumentParser
internal import ProfileLog

struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "history", "List one user's events, in order.",
        examples: """
            profilecli history jane
            profilecli history jane --reverse --limit 10
            profilecli history jane --kind customAttributesChanged --name level
            profilecli history jane --field address.city --since -7d
            profilecli history jane --launch -1
            profilecli history jane --merged
            profilecli history jane --graph
            profilecli history jane --times --merged
            profilecli history jane --since 2026-01-01T00:00:00Z --format json
            profilecli history jane --from 5 --to 9
            """)

    @Argument(help: .user) var user: String
    @Option(parsing: .unconditional, help: .init("The first version.", valueName: "version")) var from: UInt64?
    @Option(parsing: .unconditional, help: .init("The last version.", valueName: "version")) var to: UInt64?
    @Flag(help: "The latest first.") var reverse = false

    @Option(help: "Changes of this attribute only, or of a part of it, as in address.city.") var field: String?
    @Option(help: .init("On this device only.", valueName: "id")) var device: String?

    @Option(
        parsing: .unconditional,
        help: .init("A launch, its flushes and their items: 1 is the first, -1 the last.", valueName: "number"))
    var launch: Int?

    @Flag(help: "With the events of users who were merged into this one, in the order of the log.") var merged = false
    @Flag(help: "A timeline: what happened when, by device and kind.") var graph = false
    @Flag(help: "When it happened and what became of it, without values: for histories of 100,000 events.")
    var times = false

    @OptionGroup var limit: LimitOption
    @OptionGroup var filter: FilterOptions
    @OptionGroup var place: PlaceOptions

    mutating func validate() throws {
        if let from, let to, from > to { throw ValidationError("--from must not be greater than --to.") }
        if merged, from != nil || to != nil || launch != nil {
            throw ValidationError("--merged has several users' events. Omit --from, --to and --launch.")
        }
        if graph, times { throw ValidationError("--graph and --times show two things. Choose one.") }
        if graph, place.isJSON { throw ValidationError("--graph is for people. Omit --format json.") }
    }

    func run() async throws {
        var pages = Pages.events(isJSON: place.isJSON, withUser: merged)
        let query =
            filter.query
            + parameters(
                ("user", user), ("reverse", reverse), ("field", field), ("device", device), ("launch", launch),
                ("merged", merged ? "true" : nil))
        func following(_ position: AttributeValue, _ version: AttributeValue) -> Parameters {
            if merged { return [("after", position.cell)] }
            let version = version.integer ?? 0
            return reverse
                ? parameters(("from", from), ("to", version - 1)) : parameters(("from", version + 1), ("to", to))
        }
        func next(_ last: JSONObject) -> Parameters { following(last["position"], last["version"]) }
        let range = parameters(("from", from), ("to", to))
        let connection = try place.connect()
        if times {
            return try await showTimes(connection, query, from: range) {
                following($0.position, $0.version)
            }
        }
        if graph {
            var timeline = Timeline()
            let damaged = try await Pages.forEach(
                "events", of: "/v1/history", by: connection, query, from: range, limit, next: next
            ) { page, _ in
                for event in page { timeline.add(event) }
            }
            try Output.print(timeline.lines())
            return try damaged.report()
        }
        try await pages.print("events", of: "/v1/history", by: connection, query, from: range, limit, next: next)
        if pages.count == 0 {
            let answer = try await connection.get("/v1/history", query + range)
            for line in Misses.lines(answer, "Without effect:") { Output.message(line) }
        }
    }

    /// Prints events without their values: as a table, or each answer as a line of JSON.
    private func showTimes(
        _ connection: any Connection, _ query: Parameters, from first: Parameters,
        next: (EventTimesTable.Row) -> Parameters
    ) async throws {
        var (range, count) = (first, 0)
        var damaged = Damaged()
        var form: Table.Form?
        while count < limit.limit ?? .max {
            let wanted = min(100_000, (limit.limit ?? .max) - count)
            let answer = try await connection.get(
                "/v1/history", query + range + parameters(("parts", "times"), ("limit", wanted)), notes: count == 0)
            damaged.take(answer)
            let rows = EventTimesTable.rows(answer.object("times"))
            count += rows.count
            if place.isJSON {
                try Output.print(answer.line)
            } else if !rows.isEmpty {
                try Output.print(EventTimesTable.table(rows, withUser: merged).lines(continuing: &form))
            }
            guard answer.flag("more"), let last = rows.last else { break }
            range = next(last)
        }
        try damaged.report()
    }
}
