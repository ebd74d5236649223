internal import ArgumentParser
internal import ProfileLog

struct RejectedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "rejected", "List what was refused, of all users, with the reason.",
        """
        Saved items that the SDK refused at a launch: save them once more, corrected or as they are. And whole objects \
        or single fields that the service refused in a request in Braze's format, although it answered 201. A request \
        of which everything was refused (400) is not listed.
        """,
        examples: """
            profilecli rejected
            profilecli rejected --user jane --format json
            profilecli rejected --repaired
            profilecli pending retry 12 email jane@example.org
            """)

    @Option(help: "Of this USER only, in any form that `profilecli --help` lists.") var user: String?
    @Flag(help: "Also those that were repaired.") var repaired = false
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        let connection = try place.connect()
        let query = parameters(("limit", "10000"), ("repaired", "\(repaired)"), ("user", user))
        var items: [JSONObject] = []
        var leftOut = Pages(isJSON: place.isJSON, Self.leftOutTable)
        var after: String? = "0"
        while let next = after {
            let answer = try await connection.get("/v1/rejected", query + [("after", next)])
            let page = answer.objects("rejected")
            if !place.isJSON { items += page.filter { !Self.isRefusedObject($0) } }
            try leftOut.print(place.isJSON ? page : page.filter(Self.isRefusedObject))
            after = answer.flag("more") ? answer["last"].cell : nil
        }
        if place.isJSON { return }
        guard let last = items.last(where: { $0["repaired_by"] == .null }) ?? items.last else {
            let parts = Number.counted(UInt64(leftOut.count), "part")
            let beginning = leftOut.count == 0 ? "" : "\(parts) of requests refused. "
            return try Output.print(beginning + Suggestion.next("pending"))
        }
        if leftOut.count > 0 { try Output.print("") }
        let table = Table("#SAVED@", "DEVICE", "USER", "LIST!", "WHAT", "REASON", "#REPAIRED BY@", of: items) { item in
            [
                item["position"].cell, item["device"].cell, item["user"].cell, Phrase.list(item),
                Phrase.content(item.withoutReason), item["reason"].cell, item["repaired_by"].cell,
            ]
        }
        let open = UInt64(items.count { $0["repaired_by"] == .null })
        let next = open == 0 ? "pending" : "pending retry \(last["position"].cell)\(Self.form(last))"
        try Output.print(table.lines() + ["\(Number.counted(open, "item")) to be repaired. \(Suggestion.next(next))"])
    }

    private static func isRefusedObject(_ item: JSONObject) -> Bool {
        item["kind"].text == EventKind.objectsLeftOut.name
    }

    private static func leftOutTable(_ items: [JSONObject]) -> Table {
        Table("#POSITION", "WHEN!", "USER", "INPUT ARRAY", "#INDEX", "FIELD", "REASON", of: items) { item in
            [
                item["position"].cell, Phrase.time(item["recorded_at"]), item["user"].cell, item["input_array"].cell,
                item["index"].cell, item["field"].cell, item["reason"].cell,
            ]
        }
    }

    private static func form(_ item: JSONObject) -> String {
        if let attribute = item["attribute"].text { return " \(attribute) VALUE" }
        return item["attributes"] == .null ? " NAME" : " KEY=VALUE"
    }
}
