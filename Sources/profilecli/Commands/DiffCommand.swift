internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogNativeAPI

struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "diff", "Compare two moments, of one user or of all.",
        """
        A and B are WHEN in any form that `profilecli --help` lists; B is now if it is omitted. With --all, users who \
        changed between the two are printed one by one, then how many there are, and how often each field changed.
        """,
        examples: """
            profilecli diff jane monday
            profilecli diff jane version:3 version:7
            profilecli diff jane -1d --occurred
            profilecli diff --all yesterday today
            profilecli diff --all 1200 1300 --format json
            profilecli diff --all 2025-06-01 2025-07-01 --occurred
            """)

    @Argument(
        parsing: .allUnrecognized, help: .init("USER A [B], or with --all A [B].", valueName: "user-a-b"))
    var arguments: [String] = []

    @Flag(help: "All users who changed.") var all = false
    @OptionGroup var occurred: OccurredOption
    @Flag(help: "With --all: the counts alone.") var count = false
    @OptionGroup var place: PlaceOptions

    mutating func validate() throws {
        if let option = arguments.first(where: { $0.hasPrefix("--") }) {
            throw ValidationError("Unknown option '\(option)'")
        }
        if all, arguments.count > 2 || arguments.count == 2 && !LocalMoment.canRead(arguments[0]) {
            throw ValidationError("USER and --all exclude each other. Omit one of them.")
        }
        let range = all ? 1...2 : 2...3
        guard range.contains(arguments.count) else {
            throw ValidationError(all ? "Write --all A [B]." : "Write USER A [B], or --all A [B].")
        }
        if count, !all { throw ValidationError("--count is for all users. Add --all.") }
    }

    private var moments: Parameters {
        let moments = arguments.dropFirst(all ? 0 : 1).map(LocalMoment.text)
        return zip(["a", "b"], moments).map { ($0, $1) } + occurred.query
    }

    func run() async throws {
        if all { return try await diffOfAll(place.connect()) }
        try await place.show("/v1/diff", moments + parameters(("user", arguments[0]))) { answer in
            DiffText.lines(answer, DiffText.title("A", answer.object("a")), DiffText.title("B", answer.object("b")))
        }
    }

    private func diffOfAll(_ connection: any Connection) async throws {
        var (users, created) = (UInt64(0), UInt64(0))
        var fields: [String: UInt64] = [:]
        let damaged = try await Pages.forEach(
            "users", of: "/v1/diff", by: connection, moments,
            next: { [("after", $0.object("user")["number"].cell)] }
        ) { page, answer in
            users += answer.count("changed")
            created += answer.count("created")
            for user in page {
                for change in user.objects("changes") {
                    fields["\(DiffText.group(change)) \(change["field"].cell)", default: 0] += 1
                }
                if count { continue }
                try Output.print(place.isJSON ? [user.line] : lines(user))
            }
        }
        let counts = "\(Number.counted(users, "user")) changed, \(Number.grouped(created)) of them new."
        if !place.isJSON {
            let ordered = fields.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            let table = Table("CHANGED", "#USERS", of: ordered) { [$0.key, Number.grouped($0.value)] }
            try Output.print(table.linesIfAny() + [counts])
        } else if count {
            try Output.print(
                JSONWriter.object { json in
                    json.member("changed", users)
                    json.member("created", created)
                    json.object("fields") { json in
                        for (field, users) in fields.sorted(by: { $0.key < $1.key }) { json.member(field, users) }
                    }
                })
        }
        try damaged.report()
    }

    private func lines(_ user: JSONObject) -> [String] {
        let new = user.flag("created") ? "  new" : ""
        return [Style.bold(user.id("user") ?? "?") + new] + DiffText.lines(user, "A", "B") + [""]
    }
}

/// The changes of a profile, field by field.
enum DiffText {
    /// A table of the member `changes` of `answer`, in colours: what came green, what went red, the others yellow.
    static func lines(_ answer: JSONObject, _ before: String, _ after: String) -> [String] {
        let changes = answer.objects("changes")
        if changes.isEmpty { return [] }
        var table = Table("", "FIELD", before, after, "#SET AT@")
        for change in changes {
            var (old, new) = (cell(change, "before"), cell(change, "after"))
            // Times that differ by less than a second.
            if old != nil, old == new { (old, new) = (change["before"].cell, change["after"].cell) }
            let sign = old == nil ? "+" : new == nil ? "-" : "~"
            table.add(
                sign, "\(group(change)) \(change["field"].cell)", old ?? "", new ?? "", change["position"].cell)
        }
        return table.lines().map { line in
            let colour: Style? =
                switch line.first {
                case "+": .green
                case "-": .red
                case "~": .yellow
                default: nil
                }
            return colour?(line) ?? line
        }
    }

    /// The value in a cell; nil if the field had none.
    private static func cell(_ change: JSONObject, _ side: Name) -> String? {
        change.value[side].map { value in
            // Text of the profile itself is a time.
            change["group"].text == "profile" ? Phrase.time(value) : value == .null ? "null" : value.valueCell
        }
    }

    /// The part of the profile, in a word.
    static func group(_ change: JSONObject) -> String {
        switch change["group"].text {
        case "attributes": "user"
        case "custom_attributes": "custom"
        case "custom_events": "event"
        case "purchases": "bought"
        default: "profile"
        }
    }

    static func title(_ name: String, _ side: JSONObject) -> String {
        side["position"] == .null ? "\(name) (not there)" : "\(name) (version \(side["version"].cell))"
    }
}
