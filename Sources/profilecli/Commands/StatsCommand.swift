internal import ArgumentParser
internal import ProfileLog

/// `profilecli stats`
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
        let times = WaitingTable(pending.object("waiting_s"), least: 1).lines()
        try Output.print(table.lines() + times + ["store \(answer["store"].cell)"])
    }

    private static func number(_ value: AttributeValue) -> String {
        value.integer.map { Number.grouped(Int($0)) } ?? value.cell
    }
}
