internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogNativeAPI

struct TailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "tail", "Follow the log: every event as it is stored, by any program.",
        "Prints the last events, then waits for more until Ctrl-C; with --reverse it begins with the newest, and ends.",
        examples: """
            profilecli tail
            profilecli tail --kind customEventLogged --format json
            profilecli tail --after 1200 --no-follow
            profilecli tail --user jane
            profilecli tail --reverse -n 100
            """)

    @Option(
        name: [.customShort("n", allowingJoined: true), .long], parsing: .unconditional,
        help: .init(
            "Begin this many positions before the end; with --user, so many of the user's events; with --reverse, end "
                + "after so many events.",
            valueName: "count"))
    var lines: UInt64 = 10

    @Option(
        parsing: .unconditional,
        help: .init(
            "Begin after this position, or `cursor` of an answer; with --reverse, before it.", valueName: "position"))
    var after: String?

    @Option(help: "Of this USER only, in any form that `profilecli --help` lists, and of who was merged into them.")
    var user: String?

    @Flag(help: "The newest first. Does not wait for others.") var reverse = false

    @Flag(inversion: .prefixedNo, help: "Wait for new events.") var follow = true
    @OptionGroup var filter: FilterOptions
    @OptionGroup var place: PlaceOptions

    /// Short, so that a new log of the service is noticed.
    private static let waitSeconds = 5

    func run() async throws {
        let connection = try place.connect()
        if follow { Reader.endProcessWhenGone() }
        var pages = Pages.events(isJSON: place.isJSON, withUser: true)
        let filter = self.filter.query + parameters(("user", user))
        if reverse { return try await printBackward(filter, connection, &pages) }
        var after = after ?? "0"
        if self.after == nil { after = try await start(connection) }
        var hasRead = false
        while true {
            let range = parameters(
                ("after", after), ("limit", "1000"), ("wait_s", follow ? "\(Self.waitSeconds)" : nil))
            let request = APIRequest(.get, "/v1/events", query: filter + range)
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

    /// The position after which the last events begin.
    private func start(_ connection: any Connection) async throws -> String {
        let last = try await connection.get("/v1/events", [("limit", "1")]).count("last")
        guard user != nil else { return "\(last - min(lines, last))" }
        if lines == 0 { return "\(last)" }
        let own = parameters(("user", user), ("reverse", "true"), ("limit", min(lines, 1_000)))
        let oldest = try await connection.get("/v1/events", own).objects("events").last
        return "\(oldest.map { $0.count("position") - 1 } ?? last)"
    }

    private func printBackward(
        _ filter: Parameters, _ connection: any Connection, _ pages: inout Pages
    ) async throws {
        var after = after
        while UInt64(pages.count) < lines {
            let wanted = min(lines - UInt64(pages.count), 1_000)
            let range = parameters(("reverse", "true"), ("after", after), ("limit", wanted))
            let answer = try await connection.get("/v1/events", filter + range, notes: pages.count == 0)
            try pages.print(answer.objects("events"))
            after = answer["cursor"].text
            if answer.count("scanned") <= 1 { return }
        }
    }
}
