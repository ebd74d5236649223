internal import ArgumentParser
internal import ProfileLog

/// `profilecli rejected`
struct RejectedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rejected",
        abstract: "Saved items that the SDK refused at a launch, of all users, with the reason.",
        discussion: """
            EXAMPLES
              profilecli rejected
              profilecli rejected --user jane --format json
              profilecli rejected --repaired
              profilecli pending retry 12 email jane@example.org
            """)

    @Option(name: .long, help: "Of this USER only, in any form that `profilecli --help` lists.")
    var user: String?

    @Flag(name: .long, help: "Those too that were repaired.")
    var repaired = false

    @OptionGroup var place: PlaceOptions

    func run() async throws {
        var query = [(name: "limit", value: "10000"), (name: "repaired", value: "\(repaired)")]
        if let user { query.append(("user", user)) }
        let answer = try await place.connect().get("/v1/rejected", query)
        let items = answer.objects("rejected")
        let total = Int(answer["total"].integer ?? 0)
        if total > items.count {
            Output.message("\(total - items.count) more are rejected; ask for one user with --user.")
        }
        if place.isJSON {
            for item in items { try Output.print(item.line) }
            return
        }
        guard let last = items.last(where: { $0["repaired_by"] == .null }) ?? items.last else {
            return try Output.print("Nothing is rejected. \(Suggestion.next("pending"))")
        }
        var table = Table("#SAVED@", "DEVICE", "USER", "LIST", "WHAT", "REASON", "#REPAIRED BY@")
        for item in items {
            table.add(
                item["position"].cell, item["device"].cell, item["user"].cell, item["kind"].cell,
                Phrase.content(item.withoutReason), item["reason"].cell, item["repaired_by"].cell)
        }
        let open = UInt64(items.count { $0["repaired_by"] == .null })
        let next =
            open == 0 ? "pending" : "pending retry \(last["position"].cell)\(Self.form(last))"
        try Output.print(
            table.lines() + ["\(Number.counted(open, "item")) to be repaired. \(Suggestion.next(next))"])
    }

    /// What a correction of the item looks like.
    private static func form(_ item: JSONObject) -> String {
        if let attribute = item["attribute"].text { return " \(attribute) VALUE" }
        return item["attributes"] == .null ? " NAME" : " KEY=VALUE"
    }
}
