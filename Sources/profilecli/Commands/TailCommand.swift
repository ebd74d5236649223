internal import ArgumentParser
internal import ProfileLog

struct TailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "tail", "Follow the log: every event as it is stored, by any program.",
        "Prints the last events, then waits for more until Ctrl-C.",
        examples: """
            profilecli tail
            profilecli tail --kind customEventLogged --format json
            profilecli tail --after 1200 --no-follow
            """)

    @Option(
        name: [.customShort("n", allowingJoined: true), .long], parsing: .unconditional,
        help: .init("Begin this many positions before the end.", valueName: "count"))
    var lines: UInt64 = 10

    @Option(parsing: .unconditional, help: .init("Begin after this position.", valueName: "position"))
    var after: UInt64?

    @Flag(inversion: .prefixedNo, help: "Wait for new events.") var follow = true
    @OptionGroup var filter: FilterOptions
    @OptionGroup var place: PlaceOptions

    /// Short, so that a new log of the service is noticed.
    private static let waitSeconds = 5

    func run() async throws {
        let connection = try place.connect()
        if follow { Reader.endProcessWhenGone() }
        var pages = Pages.events(isJSON: place.isJSON, withUser: true)
        var after = after ?? 0
        /// The store that is followed: a service may begin another one.
        var store: String?
        if self.after == nil {
            let answer = try await connection.get("/v1/events", [("limit", "1")])
            let last = answer.count("last")
            after = last - min(lines, last)
            store = answer["store"].text
        }
        while true {
            let range = parameters(
                ("after", "\(after)"), ("limit", "1000"), ("wait_s", follow ? "\(Self.waitSeconds)" : nil))
            let answer = try await connection.get("/v1/events", filter.query + range)
            let isAnother = store != nil && answer["store"].text != store
            store = answer["store"].text
            if isAnother {
                Output.message("The service has begun a new log; this follows it from its start.")
                after = 0
                continue
            }
            try pages.print(answer.objects("events"))
            let scanned = answer.count("scanned")
            after = max(after, scanned)
            if !follow, after >= answer.count("last") || scanned == 0 { return }
        }
    }
}
