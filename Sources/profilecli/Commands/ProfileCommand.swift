internal import ArgumentParser
internal import ProfileLog

struct ProfileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "profile", "Show a user's profile, now or at a moment of the past.",
        examples: """
            profilecli profile jane
            profilecli profile jane --include-pending
            profilecli profile jane --as-of 1200
            profilecli profile alias:crm:4711 --as-of 2026-01-31T14:03:00+01:00
            profilecli profile jane --as-of version:7 --format json
            profilecli profile jane --as-of "yesterday 14:00" --occurred
            profilecli profile jane --at-launch -1
            """)

    @Argument(help: .user) var user: String
    @Flag(help: "Also show what the profile would be if all that waits were flushed.") var includePending = false

    @Option(parsing: .unconditional, help: .when("The profile at that moment")) var asOf: String?

    @OptionGroup var occurred: OccurredOption

    @Option(
        parsing: .unconditional,
        help: .init(
            "What a launch flushed, and the profile before and after: 1 is the first, -1 the last.",
            valueName: "number"))
    var atLaunch: Int?

    @OptionGroup var traits: TraitsOption
    @OptionGroup var place: PlaceOptions

    mutating func validate() throws {
        if atLaunch != nil, asOf != nil || occurred.occurred || includePending {
            throw ValidationError("--at-launch shows both sides of a launch. Omit the other options.")
        }
    }

    func run() async throws {
        let query =
            parameters(
                ("user", user), ("include_pending", includePending ? "true" : nil),
                ("as_of", asOf.map(LocalMoment.text)), ("at_launch", atLaunch)) + occurred.query
        try await place.show("/v1/profile", query, traits: traits) { answer in
            atLaunch == nil ? ProfileText(answer).lines() : LaunchText(answer).lines()
        }
    }
}

/// A launch of a user: the flushed items, and the changes.
private struct LaunchText {
    private let answer: JSONObject

    init(_ answer: JSONObject) { self.answer = answer }

    func lines() -> [String] {
        let event = answer.object("event")
        let items = Table("OUTCOME", "#SAVED@", "LIST!", "WHAT", "REASON", of: answer.objects("flushed")) { item in
            [
                item["outcome"].cell, item["position"].cell, Phrase.list(item), Phrase.content(item.withoutReason),
                item["reason"].cell,
            ]
        }
        let heading =
            "\(Style.bold(answer.id("user") ?? "?"))  launch \(answer["launch"].cell) of "
            + "\(answer["launches"].cell), at position \(event["position"].cell), "
            + "\(Phrase.time(event["occurred_at"])), \(Phrase.origin(event))"
        let changes = DiffText.lines(answer, "BEFORE", "AFTER")
        return [heading] + (items.rows.isEmpty ? ["It flushed nothing of this user."] : [""] + items.lines())
            + (changes.isEmpty ? [] : [""] + changes)
    }
}

struct ProfileText {
    private let profile: JSONObject
    private let pending: JSONObject?

    init(_ answer: JSONObject) {
        profile = answer
        pending = answer["with_pending"] == .null ? nil : answer.object("with_pending")
    }

    func lines() -> [String] {
        var lines = [
            "\(Style.bold(profile.object("user")["id"].cell.oneLine))  version \(profile["version"].cell), position "
                + "\(profile["position"].cell), braze_id \(profile["braze_id"].cell)"
        ]
        let others = profile["ids"].elements.map(\.cell).filter { $0 != profile.object("user")["id"].cell }
        if !others.isEmpty { lines.append("also known as \(others.joined(separator: ", ").oneLine)") }
        lines.append("first seen \(Phrase.time(profile["first_seen"])), last seen \(Phrase.time(profile["last_seen"]))")
        let tables = [
            attributes("attributes", "USER ATTRIBUTE"), attributes("custom_attributes", "CUSTOM ATTRIBUTE"), traits(),
            events(), purchases(),
        ]
        return lines + tables.filter { !$0.rows.isEmpty }.flatMap { [""] + $0.lines() } + ["", footer()]
    }

    /// Returns the rows of attributes; without pending items the last column is empty, and an empty column is not
    /// printed.
    private func attributes(_ group: Name, _ title: String) -> Table {
        let (now, then) = (profile.object(group), pending?.object(group))
        let setBy = profile.object("set_by").object(group)
        var table = Table(title + "!", "VALUE", "#SET AT@", "WITH PENDING")
        for key in Set((now.value.members + (then?.value.members ?? [])).map(\.key)).sorted() {
            let later = then.map { later in
                later.value[key] == now.value[key] ? "same" : later.value[key]?.valueCell ?? "(unset)"
            }
            table.add(key.text, now[key].valueCell, setBy[key].cell, later ?? "")
        }
        return table
    }

    private func traits() -> Table {
        Table("TRAIT!", "VALUE", of: profile["traits"].members) { [$0.key.text, Phrase.value($0.value)] }
    }

    private func events() -> Table {
        let then = pending?.objects("custom_events") ?? []
        var table = Table("CUSTOM EVENT!", "#COUNT", "FIRST!", "LAST!", "#WITH PENDING")
        let now = profile.objects("custom_events")
        let times = ShortTimes(now.flatMap { [$0["first"], $0["last"]] }, width: Terminal.outputWidth)
        let names = Set(now.map { $0["name"] })
        let later = Dictionary(then.map { ($0["name"], $0) }) { first, _ in first }
        for event in now + then.filter({ !names.contains($0["name"]) }) {
            let isNew = !names.contains(event["name"])
            table.add(
                event["name"].cell, isNew ? "0" : event["count"].cell, isNew ? "" : times.text(event["first"]),
                isNew ? "" : times.text(event["last"]), later[event["name"]]?["count"].cell ?? "")
        }
        return table
    }

    private func purchases() -> Table {
        var table = Table("PRODUCT!", "#COUNT", "REVENUE", "LAST!")
        func revenue(_ object: JSONObject) -> String {
            object["revenue"].members.map { "\($0.value.cell) \($0.key.text)" }.joined(separator: ", ")
        }
        for purchase in profile.objects("purchases") {
            table.add(
                purchase["product"].cell, purchase["count"].cell, revenue(purchase), Phrase.time(purchase["last"]))
        }
        let orders = revenue(profile.object("orders"))
        if !orders.isEmpty { table.add("(orders)", "", orders, "") }
        return table
    }

    private func footer() -> String {
        let (launches, pending) = (profile.object("launches"), profile.object("pending"))
        let count = launches.count("count")
        let last = launches["last"] == .null ? "" : ", the last \(Phrase.time(launches["last"]))"
        let queued = pending.count("queued") > 0 ? ", \(pending.count("queued")) in the SDK's queue" : ""
        return "\(Number.grouped(count)) \(count == 1 ? "launch" : "launches")\(last); "
            + "\(Phrase.waiting(pending.count("total")))\(queued)."
    }
}
