internal import ArgumentParser
internal import ProfileLog

struct BlameCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "blame", "Show which event set each attribute of a user or raised a count, and what was before.",
        """
        FIELD is an attribute, or a part of its value: address.city, pets[0].name. "user email" in the answer is the \
        user attribute, "email" a custom one. Without it all attributes are shown, with events and products, and every \
        value inside arrays and objects on a line of its own. BEFORE is what the last write replaced. \
        What a merge brought names the user whose event it was; with --log void writes are shown too.

        Of a FIELD, updates that had no effect are listed below: refused, lost, void, or still waiting on a device.

        event:NAME is a custom event and product:ID a product: how often, the first and the last time, and the event \
        that was counted last. With --log all of them, with the COUNT after each.

        --limit shows so many entries of each log, --reverse the newest first; their numbers count from 1 in the order \
        in which they took effect, and --after goes on after one of them. --as-of shows the values of then, in the \
        order of recording.
        """,
        examples: """
            profilecli blame jane
            profilecli blame jane email
            profilecli blame jane address.city --log
            profilecli blame jane event:"Viewed Home" --log
            profilecli blame jane product:shoes
            profilecli blame jane email --as-of "yesterday 14:00"
            profilecli blame jane level --log --reverse --limit 20
            profilecli blame jane --format json
            """)

    @Argument(help: .user) var user: String
    @Argument(help: "An attribute, or a part of its value; event:NAME or product:ID.") var field: String?
    @Flag(help: "All values that it had, or all that was counted, the first one first.") var log = false
    @Flag(help: "With --log: the newest first.") var reverse = false

    @Option(parsing: .unconditional, help: .init("With --log: go on after this entry.", valueName: "number"))
    var after: UInt64?

    @Option(parsing: .unconditional, help: .when("The values at that moment")) var asOf: String?
    @OptionGroup var limit: LimitOption
    @OptionGroup var place: PlaceOptions

    mutating func validate() throws {
        let parts = [("--reverse", reverse), ("--after", after != nil), ("--limit", limit.limit != nil)]
        if !log, let (name, _) = parts.first(where: { $0.1 }) {
            throw ValidationError("\(name) is about a log. Add --log, or omit it.")
        }
    }

    func run() async throws {
        let query = parameters(
            ("user", user), ("field", field), ("as_of", asOf.map(LocalMoment.text)), ("log", log ? "true" : nil),
            ("after", after), ("limit", limit.limit), ("reverse", reverse ? "true" : nil))
        let answer = try await place.show("/v1/blame", query) { answer in
            let fields = answer.objects("fields")
            let counts = answer.objects("custom_events") + answer.objects("purchases")
            let misses = Misses.lines(answer, "Without effect:")
            if log { return fields.flatMap(Self.logLines) + counts.flatMap(Self.countLogLines) + misses }
            let tables = [Self.table(fields).linesIfAny(), Self.table(ofCounts: counts).linesIfAny(), misses]
            return Array(tables.filter { !$0.isEmpty }.joined(separator: [""]))
        }
        if !place.isJSON { reportMore(answer) }
    }

    /// Tells where the logs go on that have more entries.
    private func reportMore(_ answer: JSONObject) {
        for key in ["fields", "custom_events", "purchases"] as [Name] {
            for value in answer.objects(key) where value.flag("log_more") {
                let name = key == "fields" ? value["field"].cell : Self.name(ofCount: value)
                let next = value.objects("log").last?["number"].cell ?? "0"
                Output.message(
                    "The log of \(name.oneLine) has \(Number.grouped(value.count("log_total"))) entries; "
                        + "go on with --after \(next).")
            }
        }
    }

    private static func table(ofCounts counts: [JSONObject]) -> Table {
        Table("WHAT", "#COUNT", "FIRST!", "LAST!", "#POS", "BY!", "FROM", of: counts) { count in
            let set = count.object("set")
            return [
                name(ofCount: count), count["count"].cell, Phrase.time(count["first"]), Phrase.time(count["last"]),
                set["position"].cell, how(set), origin(set),
            ]
        }
    }

    private static func countLogLines(_ count: JSONObject) -> [String] {
        let table = Table("#COUNT", "AT!", "#POS", "BY!", "FROM", of: count.objects("log")) { one in
            [one["count"].cell, Phrase.time(one["at"]), one["position"].cell, how(one), origin(one)]
        }
        return [Style.bold(name(ofCount: count).oneLine)] + table.lines() + [""]
    }

    /// `event:Viewed Home`, `product:shoes`: as the command takes it.
    private static func name(ofCount count: JSONObject) -> String {
        count["name"].text.map { "event:\($0)" } ?? "product:\(count["product"].text ?? "")"
    }

    private static func table(_ fields: [JSONObject]) -> Table {
        Table("FIELD", "VALUE", "SINCE!", "#POS", "BY!", "FROM", "BEFORE", of: fields) { field in
            let set = field.object("set")
            return [
                name(field), field.flag("removed") ? "(removed)" : field["value"].valueCell, Phrase.time(set["at"]),
                set["position"].cell, how(set), origin(set), field.object("previous")["value"].valueCell,
            ]
        }
    }

    private static func logLines(_ field: JSONObject) -> [String] {
        let table = Table("VALUE", "SINCE!", "#POS", "BY!", "FROM", of: field.objects("log")) { write in
            [
                write["value"] == .null ? "(removed)" : write["value"].valueCell, Phrase.time(write["at"]),
                write["position"].cell, how(write), origin(write),
            ]
        }
        return [Style.bold(name(field).oneLine)] + table.lines() + [""]
    }

    /// The field; `user email` for one that an SDK knows, as it may have the name of a custom one.
    private static func name(_ field: JSONObject) -> String {
        (field["group"].text == "attributes" ? "user " : "") + field["field"].cell
    }

    /// `attributes saved`, `user attributes`, and whether it is void.
    static func how(_ write: JSONObject) -> String {
        let words = EventKind(name: write["kind"].text ?? "")?.words ?? ""
        return write["voided_by"] == .null ? words : "\(words), void @\(write["voided_by"].cell)"
    }

    /// `extension Push on phone, launch @7, of device:phone`.
    static func origin(_ write: JSONObject) -> String {
        var parts = [Phrase.origin(write)]
        if write["launch"] != .null { parts.append("launch @\(write["launch"].cell)") }
        if let key = write["key"].text { parts.append("request \(key)") }
        if write["of_user_number"] != .null {
            let id = write["of_user"].text ?? "user \(write["of_user_number"].cell)"
            let merge = write["merge"] == .null ? "" : " merged @\(write["merge"].cell)"
            parts.append("of \(id)\(merge)")
        }
        return parts.joined(separator: ", ")
    }
}
