internal import ArgumentParser
internal import ProfileLog

struct StatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "stats", "Show how much the store holds, or a number of it by day, hour or minute.",
        examples: """
            profilecli stats
            profilecli stats --audit
            profilecli stats --growth
            profilecli stats --plot purchases
            profilecli stats --plot dau --length 30
            profilecli stats --plot revenue:shoes --unit hour --where 'country = "DE"'
            profilecli stats --plot events --unit minute --length 60
            profilecli stats --plot late:3600 --length 30
            profilecli stats --url http://127.0.0.1:8080 --format json
            """)

    @Option(
        help: .init(
            "Draw how often a custom event happened, or purchases, revenue (each also :PRODUCT), sessions, dau, mau, "
                + "new_users; event:NAME for an event with such a name; or of all events how many were recorded (events), "
                + "and how many of them more than 60 seconds late (late, late:SECONDS). Days begin at midnight UTC.",
            valueName: "number"))
    var plot: String?

    @Option(help: .init("How many days, hours or minutes, 1 to 100.", valueName: "number")) var length = 14
    @Option(help: .init("day, hour or minute.", valueName: "unit"), completion: .list(["day", "hour", "minute"]))
    var unit = "day"

    @Option(parsing: .unconditional, help: .init("The time of the last bar; default now.", valueName: "time"))
    var endingAt: String?

    @Option(
        name: .customLong("where"),
        help: .init("Only users who pass this condition (docs/where.md).", valueName: "condition"))
    var condition: String?

    @Flag(help: "Up to which position the service has proven its store (docs/service.md), and what differs.")
    var audit = false

    @Flag(help: "What fills the store, by kind of event and by user, how fast it grows, and when its disk is full.")
    var growth = false

    @OptionGroup var traits: TraitsOption
    @OptionGroup var place: PlaceOptions

    mutating func validate() throws {
        if growth {
            if audit || plot != nil {
                throw ValidationError("--growth shows something else than --audit and --plot. Choose one.")
            }
            try place.refuseService()
        }
        if audit, plot != nil { throw ValidationError("--audit and --plot show two things. Choose one.") }
        if plot == nil, endingAt != nil || condition != nil {
            throw ValidationError("--ending-at and --where are for --plot. Say what to draw, as in --plot dau.")
        }
    }

    func run() async throws {
        if let plot { return try await draw(plot) }
        if audit { return try await showAudit() }
        if growth { return try StoreGrowth(path: place.path).print(isJSON: place.isJSON) }
        let answer = try await place.connect().get("/v1/stats")
        if place.isJSON { return try Output.print(answer.line) }
        var table = Table("WHAT", "#HOW MANY")
        for key in ["events", "users", "devices"] as [Name] { table.add(key.text, Self.number(answer[key])) }
        let pending = answer.object("pending")
        table.add("waiting for a launch", Self.number(pending["total"]))
        for kind in PendingKind.allCases { table.add("  \(kind.key)", Self.number(pending[Name(kind.key)])) }
        table.add("queued by SDKs", Self.number(answer["queued"]))
        table.add("rejected, to be repaired", Self.number(answer.object("rejected")["open"]))
        table.add("rejected and repaired", Self.number(answer.object("rejected")["repaired"]))
        table.add("indexed up to position", Self.number(answer["indexed_position"]))
        table.add("size", Number.bytes(answer.count("file_bytes")))
        for row in answer.object("rows").value.members {
            table.add("rows in table \(row.key.text)", Self.number(row.value))
        }
        let jump = answer.object("clock_ahead")
        if let position = jump["position"].integer {
            Output.message(Self.clockAhead(UInt64(position), seconds: jump["seconds"].integer ?? 0))
        }
        let outdated = answer["outdated_states"].elements.compactMap(\.text)
        if !outdated.isEmpty {
            Output.message(
                TypedPlace.completing(
                    in: "States of \(outdated.joined(separator: ", ").oneLine) are of another revision, and not used. "
                        + "`profilecli replay --shadow --swap` folds them again."))
        }
        let times = WaitingTable.lines(pending.object("waiting_s"), least: 1)
        try Output.print(table.lines() + times + ["store \(answer["store"].cell)"])
    }

    private func showAudit() async throws {
        let status = try await place.connect().get("/v1/status")
        if place.isJSON { return try Output.print(status.line) }
        let audit = status.object("audit")
        let differences = audit.objects("differences")
        let running = audit.object("running")
        if audit["at"] != .null {
            let count = Number.counted(UInt64(differences.count), "difference")
            let took = audit["took_s"].integer.map { " The round took \(Self.time($0))." } ?? ""
            try Output.print([
                "Proven up to position \(Self.number(audit["position"])) at \(audit["at"].cell): \(count).\(took)"
            ])
        } else if running["done"] == .null {
            try Output.print([
                "No audit has begun. A service audits its store; `profilecli check --replay` does it now."
            ])
        }
        if running["done"] != .null {
            let users = Self.number(running["users"])
            var sentence = "The audit under way has compared \(Self.number(running["done"])) of \(users) users"
            if let rate = running["users_per_s"].asNumber, let left = running["left_s"].integer {
                sentence += ", \(rate) a second; the users take about \(Self.time(left)) more"
            } else if running["devices_left"] != .null {
                sentence += " and is comparing devices: \(Self.number(running["devices_left"])) to go"
            }
            try Output.print([sentence + "."])
        }
        if differences.isEmpty { return }
        let table = Table("USER NUMBER", "WHAT IS NOT AS THE LOG SAYS", of: differences) { difference in
            [difference["user_number"].cell, difference["place"].cell]
        }
        try Output.print(table.lines())
        Output.message("Stop the service and run `profilecli check --replay`.")
        throw ExitCode(ExitStatus.damaged.rawValue)
    }

    private static func time(_ seconds: Int64) -> String { DurationText.compact(.seconds(seconds)) }

    private static let numbers = [
        "event", "purchases", "revenue", "sessions", "dau", "mau", "new_users", "events", "late",
    ]

    private func draw(_ number: String) async throws {
        let isKnown = Self.numbers.contains { $0 == number.prefix { $0 != ":" } }
        let answer = try await place.connect(traits: traits).get(
            "/v1/series",
            parameters(
                ("of", isKnown ? number : "event:\(number)"), ("length", length), ("unit", unit),
                ("ending_at", endingAt), ("where", condition)))
        if place.isJSON { return try Output.print(answer.line) }
        let points = answer.objects("points")
        if answer.flag("more"), let first = points.first {
            Output.message(
                "Counted from \(first["time"].cell) on: one request looks at 1,000,000 events. "
                    + "--ending-at with an earlier time counts those before.")
        }
        func plot(_ value: (JSONObject) -> AttributeValue) -> [String] {
            Plot(points: points.map { ($0["time"].cell, value($0).asNumber ?? 0) }).lines()
        }
        guard number.prefix(while: { $0 != ":" }) == "revenue" else { return try Output.print(plot { $0["count"] }) }
        let currencies = Set(points.flatMap { $0["revenue"].members.map(\.key) }).sorted()
        if currencies.isEmpty { return try Output.print(plot { _ in .int(0) }) }
        for currency in currencies {
            try Output.print([Style.bold(currency.text)] + plot { $0.object("revenue")[currency] })
        }
    }

    /// Describes events that were recorded while the clock was ahead.
    static func clockAhead(_ position: UInt64, seconds: Int64) -> String {
        """
        The clock was ahead when position \(Number.grouped(position)) was recorded: by \(Self.span(seconds)), seen \
        from now. Later events have the same time, and \"as of\" a time before it does not see them; positions are \
        right. `profilecli replay --into FOLDER --mend-clock` makes a copy in which they have the time of now.
        """
    }

    private static func span(_ seconds: Int64) -> String {
        switch seconds {
        case ..<7_200: "\(seconds / 60) minutes"
        case ..<172_800: "\(seconds / 3_600) hours"
        default: "\(seconds / 86_400) days"
        }
    }

    private static func number(_ value: AttributeValue) -> String {
        value.integer.map { Number.grouped(Int($0)) } ?? value.cell
    }
}
