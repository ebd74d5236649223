internal import ArgumentParser
internal import ProfileLog

struct StatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "stats", "How much the store holds.",
        examples: """
            profilecli stats
            profilecli stats --url http://127.0.0.1:8080 --format json
            """)

    @OptionGroup var place: PlaceOptions

    func run() async throws {
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
        let times = WaitingTable.lines(pending.object("waiting_s"), least: 1)
        try Output.print(table.lines() + times + ["store \(answer["store"].cell)"])
    }

    /// What to say of events that were recorded while the clock was ahead.
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
