internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogNativeAPI

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

    @Option(
        parsing: .unconditional,
        help: .init("Begin after this position, or `cursor` of an answer.", valueName: "position"))
    var after: String?

    @Flag(inversion: .prefixedNo, help: "Wait for new events.") var follow = true
    @OptionGroup var filter: FilterOptions
    @OptionGroup var place: PlaceOptions

    /// Short, so that a new log of the service is noticed.
    private static let waitSeconds = 5

    func run() async throws {
        let connection = try place.connect()
        if follow { Reader.endProcessWhenGone() }
        var pages = Pages.events(isJSON: place.isJSON, withUser: true)
        var after = after ?? "0"
        if self.after == nil {
            let last = try await connection.get("/v1/events", [("limit", "1")]).count("last")
            after = "\(last - min(lines, last))"
        }
        var hasRead = false
        while true {
            let range = parameters(
                ("after", after), ("limit", "1000"), ("wait_s", follow ? "\(Self.waitSeconds)" : nil))
            let request = APIRequest(.get, "/v1/events", query: filter.query + range)
            let (answer, refusal) = try await connection.exchange(
                request, notes: !follow && pages.count == 0)
            if let refusal {
                // A service may begin another log, or go on with a restored one.
                guard hasRead, answer["code"].text == "other_history" else { throw refusal }
                Output.message("The service has begun a new log; this follows it from its start.")
                after = "0"
                continue
            }
            hasRead = true
            try pages.print(answer.objects("events"))
            after = answer["cursor"].text ?? after
            let scanned = answer.count("scanned")
            if !follow, scanned >= answer.count("last") { return }
        }
    }
}
