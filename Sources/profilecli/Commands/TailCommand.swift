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
        name: [.customShort("n", allowingJoined: true), .long], parsing: .unconditional,
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

    /// The next answer may tell that the log was begun anew.
    private static let waitSeconds = 5

    func run() async throws {
        let connection = try place.connect()
        if follow { Reader.endProcessWhenGone() }
        var pages = Pages.events(isJSON: place.isJSON, withUser: true)
        var after = after ?? 0
        /// The store that is followed: the service may be told to begin another one.
        var store: String?
        if self.after == nil {
            let answer = try await connection.get("/v1/events", [("limit", "1")])
            let last = Self.position(answer["last"])
            after = last - min(lines, last)
            store = answer["store"].text
        }
        while true {
            var query = filter.query + [("after", "\(after)"), ("limit", "1000")]
            if follow { query.append(("wait_s", "\(Self.waitSeconds)")) }
            let answer = try await connection.get("/v1/events", query)
            let isAnother = store != nil && answer["store"].text != store
            store = answer["store"].text
            if isAnother {
                Output.message("The log was begun anew; this follows it from its start.")
                after = 0
                continue
            }
            try pages.print(answer.objects("events"))
            let scanned = Self.position(answer["scanned"])
            after = max(after, scanned)
            if !follow, after >= Self.position(answer["last"]) || scanned == 0 { return }
        }
    }

    private static func position(_ value: AttributeValue) -> UInt64 { UInt64(max(0, value.integer ?? 0)) }
}
