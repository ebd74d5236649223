internal import ArgumentParser
internal import ProfileLog

/// `profilecli tail`
struct TailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail",
        abstract: "Follow the log: every event as it is stored, by whatever program.",
        discussion: """
            Prints the last events, then waits for more until Ctrl-C.

            EXAMPLES
              profilecli tail
              profilecli tail --kind customEventLogged --format json
              profilecli tail --after 1200 --no-follow
            """)

    @Option(
        name: [.customShort("n"), .long], parsing: .unconditional,
        help: ArgumentHelp("Begin so many positions before the end.", valueName: "count"))
    var lines: UInt64 = 10

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp("Begin behind this position.", valueName: "position"))
    var after: UInt64?

    @Flag(name: .long, inversion: .prefixedNo, help: "Wait for what comes.")
    var follow = true

    @OptionGroup var filter: FilterOptions
    @OptionGroup var place: PlaceOptions

    /// An answer without events may tell that the log was begun anew.
    private static let waitSeconds = 5

    func run() async throws {
        let connection = try place.connect()
        if follow { Reader.endProcessWhenGone() }
        var pages = Pages.events(isJSON: place.isJSON, withUser: true)
        var after = after ?? 0
        if self.after == nil {
            let last = try await connection.get("/v1/events", [("limit", "1")])["last"].integer ?? 0
            after = UInt64(max(0, last)) - min(lines, UInt64(max(0, last)))
        }
        /// How long the log was when it was last looked at.
        var seen: UInt64 = 0
        while true {
            var query = filter.query + [("after", "\(after)"), ("limit", "1000")]
            if follow { query.append(("wait_s", "\(Self.waitSeconds)")) }
            let answer = try await connection.get("/v1/events", query)
            try pages.print(answer.objects("events"))
            let scanned = UInt64(max(0, answer["scanned"].integer ?? 0))
            let last = UInt64(max(0, answer["last"].integer ?? 0))
            if last < seen {
                Output.message("The log was begun anew; this follows it from its start.")
                (after, seen) = (0, 0)
                continue
            }
            seen = last
            after = max(after, scanned)
            if !follow, after >= last || scanned == 0 { return }
        }
    }
}
