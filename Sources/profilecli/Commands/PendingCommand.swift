internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogNativeAPI

struct PendingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "pending", "List what waits for a launch or to be sent, by device and storage.",
        examples: """
            profilecli pending
            profilecli pending --device phone-1 --user jane
            profilecli pending retry 12 email jane@example.org
            profilecli pending discard --device phone-1 --reason "test data"
            """,
        subcommands: [PendingList.self, PendingDiscard.self, PendingRetry.self], defaultSubcommand: PendingList.self)
}

struct PendingList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "list", "List what waits (default).",
        """
        First what waits for a launch, then what the SDK has queued; below, storages that the app cannot see and \
        why, and how long items have waited.
        """,
        examples: """
            profilecli pending
            profilecli pending --device phone-1 --format json
            profilecli pending --as-of "yesterday 14:00"
            """)

    @Option(help: .init("On this device only.", valueName: "id")) var device: String?
    @Option(help: "Of this USER only, in any form that `profilecli --help` lists.") var user: String?

    @Option(help: .init("In this storage only: an app group, or private:PROCESS.", valueName: "name"))
    var storage: String?

    @Option(parsing: .unconditional, help: .when("What waited then")) var asOf: String?
    @OptionGroup var occurred: OccurredOption

    @OptionGroup var place: PlaceOptions

    func run() async throws {
        let query =
            parameters(
                ("limit", "100000"), ("device", device), ("user", user), ("storage", storage),
                ("as_of", asOf.map(LocalMoment.text)))
            + occurred.query
        let answer = try await place.connect().get("/v1/pending", query)
        let items = Self.items(answer)
        try Output.print(place.isJSON ? items.map(\.line) : lines(items, answer))
        let total = Int(answer.count("total") + answer.count("queued"))
        if total > items.count { Output.message("\(total - items.count) more wait; ask for one device with --device.") }
    }

    /// The waiting items of each device with device, storage and list, then what its SDK has not sent.
    private static func items(_ answer: JSONObject) -> [JSONObject] {
        answer.objects("devices").flatMap { device in
            device.objects("storages").flatMap { storage in
                PendingKind.allCases.flatMap { kind in
                    storage.object("kinds").objects(Name(kind.key)).map { item in
                        item.with([
                            .init("device", device["device"]), .init("visible_to_app", storage["visible_to_app"]),
                            .init("storage", storage["storage"]), .init("state", .string("waiting")),
                        ])
                    }
                }
            }
                + device.objects("queue").map { item in
                    item.with([.init("device", device["device"]), .init("state", .string("queued"))])
                }
        }
    }

    private func lines(_ items: [JSONObject], _ answer: JSONObject) -> [String] {
        if items.isEmpty {
            return asOf == nil ? [Suggestion.next("save event jane opened")] : []
        }
        let table = Table("DEVICE", "STORAGE", "LIST!", "#SAVED@", "USER", "WHAT", "AGE!", of: items) { item in
            let isQueued = item["state"].text == "queued"
            let hidden = item["visible_to_app"].flag == false ? " (hidden from the app)" : ""
            return [
                item["device"].cell,
                isQueued ? "SDK's queue (\(Phrase.why(item["why"])))" : item["storage"].cell + hidden,
                Phrase.list(item), item["position"].cell, item["user"].cell, Phrase.content(item),
                Phrase.span(item["age_s"]),
            ]
        }
        let waiting = items.filter { $0["state"].text == "waiting" }
        var summary = Phrase.waiting(UInt64(waiting.count))
        if items.count > waiting.count { summary += ", \(items.count - waiting.count) queued" }
        return table.lines() + Self.hidden(answer) + WaitingTable.lines(answer.object("waiting_s"), least: 2)
            + [
                asOf == nil
                    ? "\(summary). \(Suggestion.next(Self.next(items, answer)))" : "\(summary), as of that moment."
            ]
    }

    /// Suggests the command that flushes the first visible item, sends the first queued one, or discards one that no
    /// launch flushes.
    private static func next(_ items: [JSONObject], _ answer: JSONObject) -> String {
        if let visible = items.first(where: { $0.flag("visible_to_app") }) {
            let name = visible["device"].cell
            let device = answer.objects("devices").first { $0["device"].cell == name }
            return device?["sdk_enabled"].flag == false
                ? Suggestion.afterQueueing("disabled", name) : "launch \(Shell.device(name))"
        }
        if let queued = items.first(where: { $0["state"].text == "queued" }) {
            return Suggestion.afterQueueing(queued["why"].text, queued["device"].cell)
        }
        let device = Shell.option("--device", items[0]["device"].cell)
        return "pending discard \(device) \(Shell.option("--storage", items[0]["storage"].cell)) --reason TEXT"
    }

    private static func hidden(_ answer: JSONObject) -> [String] {
        var table = Table("HIDDEN STORAGE", "ON", "BECAUSE")
        for device in answer.objects("devices") {
            for storage in device.objects("storages") {
                guard let reason = storage["hidden_because"].text else { continue }
                table.add(storage["storage"].cell, device["device"].cell, reason)
            }
        }
        return table.rows.isEmpty ? [] : [""] + table.lines()
    }
}

struct PendingDiscard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "discard", "Discard what waits on a device, with a reason that stays in the log.",
        examples: """
            profilecli pending discard --reason "test data"
            profilecli pending discard --position 12 --position 13 --reason "twice"
            profilecli pending discard --device phone-1 --reason "a broken phone"
            profilecli pending discard --storage private:Push --reason "not seen"
            """)

    @Option(help: .init("The device (default: phone).", valueName: "id")) var device: String?

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init("Only the item saved at this position. Repeatable.", valueName: "position"))
    var position: [Int64] = []

    @Option(help: .init("Only what is in this storage.", valueName: "name")) var storage: String?
    @OptionGroup var reason: ReasonOptions
    @OptionGroup var place: PlaceOptions

    mutating func validate() throws {
        if storage != nil, !position.isEmpty {
            throw ValidationError("--storage and --position exclude each other. Omit one of them.")
        }
    }

    func run() async throws {
        try await place.send("/v1/pending/discard") { json in
            json.member("device", device)
            reason.write(to: &json)
            json.member("storage", storage)
            if !position.isEmpty { json.member("positions", .array(position.map { .int($0) })) }
        } describe: { answer in
            let count = UInt64(answer["discarded"].elements.count)
            let what =
                count == 0
                ? "Nothing was discarded"
                : "Discarded \(Number.counted(count, "item")) at position \(answer["position"].cell)"
            return "\(what); \(Phrase.waiting(in: answer)). \(Suggestion.next("pending"))"
        }
    }
}

/// `--reason` and `--by`, of what a person does to stored items.
struct ReasonOptions: ParsableArguments {
    @Option(help: "Why; stays in the log for ever, so name no person.") var reason: String
    @Option(help: .init("Who does it (default: $USER, or profilecli).", valueName: "name")) var by: String?

    mutating func validate() throws {
        guard !reason.isEmpty else { throw ValidationError("--reason must not be empty.") }
    }

    func write(to json: inout JSONWriter) {
        json.member("reason", reason)
        json.member("actor", by ?? Terminal.environment("USER") ?? "profilecli")
    }
}

struct PendingRetry: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "retry", "Save a rejected item once more, corrected or as it is.",
        """
        It waits for the next launch of its device, with the time of its first save. The correction has the form of \
        the save, without USER: a name and properties for an event, KEY=VALUE for attributes, an attribute and its \
        value for a user attribute. What you omit stays; properties and attributes are replaced as a whole.
        """,
        examples: """
            profilecli rejected
            profilecli pending retry 12
            profilecli pending retry 12 email jane@example.org
            profilecli pending retry 13 "Match Game" -p Score=10
            profilecli pending retry 14 level=7 favourite="green tea"
            """)

    @Argument(help: "Where the item was saved, as `profilecli rejected` shows it.") var position: Int64

    @Argument(help: .init("NAME, KEY=VALUE …, or ATTRIBUTE VALUE.", valueName: "correction"))
    var correction: [String] = []

    @OptionGroup var properties: PropertyOptions
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        let connection = try place.connect()
        let kind = correction.isEmpty && properties.isEmpty ? nil : try await kind(connection)
        let attributes = TypedPairs(.attribute, correction, texts: properties.strings)
        let notes = properties.notes + (kind == .customAttributesSaved ? attributes.notes : [])
        try await place.send("/v1/pending/retry", notes: notes) { json in
            json.member("position", position)
            switch kind.flatMap({ PendingKind($0) }) {
            case .customEvents:
                guard correction.count <= 1 else {
                    throw Self.misfit("is an event", "Correct it with its NAME and -p KEY=VALUE")
                }
                json.member("name", correction.first)
                try properties.write(to: &json)
            case .customAttributes:
                guard properties.properties.isEmpty else {
                    throw Self.misfit("has attributes, and no properties", "Write KEY=VALUE without -p")
                }
                json.member("attributes", .object(try attributes.members()))
            case .userAttributes:
                guard correction.count == 2, properties.isEmpty else {
                    throw Self.misfit("is a user attribute", "Correct it with ATTRIBUTE VALUE, as in email a@b.org")
                }
                json.member("attribute", correction[0])
                json.member("value", UserAttributeArguments.typed(correction[1]))
            case nil: break
            }
        } describe: { answer in
            let done = answer.flag("repeated") ? "was saved again already," : "is saved again"
            let next = Suggestion.next("launch \(Shell.device(answer["device"].cell))")
            return
                "The item at position \(position) \(done) at \(Phrase.spot(answer)); "
                + "\(Phrase.waiting(in: answer)). \(next)"
        }
    }

    /// The item's kind, which gives the form of its correction; nil if there is no item: the API refuses that.
    private func kind(_ connection: any Connection) async throws -> EventKind? {
        guard position > 0 else { return nil }
        let answer = try await connection.get("/v1/events", [("after", "\(position - 1)"), ("limit", "1")])
        return answer.objects("events").first?["kind"].text.flatMap { EventKind(name: $0) }
    }

    private static func misfit(_ what: String, _ remedy: String) -> CommandError {
        CommandError("The item \(what).", remedy: "\(remedy).", status: .usage)
    }
}

/// A table of the times for which items have waited, list by list, for people.
struct WaitingTable {
    /// Shown if at least `least` items wait.
    static func lines(_ times: JSONObject, least: UInt64) -> [String] {
        let total = times.object("all").count("count") + times.object("queue").count("count")
        guard total >= least else { return [] }
        var table = Table("WAITING FOR", "#COUNT", "SHORTEST!", "MEDIAN!", "90 %!", "LONGEST!")
        var lists = PendingKind.allCases.map { (Name($0.key), "  " + $0.word) }
        lists.removeAll { times.object($0.0).count("count") == 0 }
        if lists.count == 1 { lists = [] }  // it would repeat the line above it
        for (key, title) in [("all", "a launch")] + lists + [("queue", "being sent")] as [(Name, String)] {
            let times = times.object(key)
            guard times.count("count") > 0 else { continue }
            table.add(
                title, Number.grouped(times.count("count")), Phrase.span(times["shortest"]),
                Phrase.span(times["median"]), Phrase.span(times["p90"]), Phrase.span(times["longest"]))
        }
        return [""] + table.lines()
    }
}
