internal import ArgumentParser
internal import ProfileLog

/// `profilecli pending`
struct PendingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pending",
        abstract: "What waits for a launch, by device and storage.",
        discussion: """
            EXAMPLES
              profilecli pending
              profilecli pending --device phone-1 --user jane
              profilecli pending discard --device phone-1 --reason "test data"
            """,
        subcommands: [PendingList.self, PendingDiscard.self], defaultSubcommand: PendingList.self)
}

/// `profilecli pending list`, which is `profilecli pending`
struct PendingList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List what waits (default).",
        discussion: """
            EXAMPLES
              profilecli pending
              profilecli pending --device phone-1 --format json
            """)

    @Option(name: .long, help: ArgumentHelp("On this device only.", valueName: "id"))
    var device: String?

    @Option(name: .long, help: "Of this USER only, in any form that `profilecli --help` lists.")
    var user: String?

    @Option(
        name: .long,
        help: ArgumentHelp("In this storage only: an app group, or private:PROCESS.", valueName: "name"))
    var storage: String?

    @OptionGroup var place: PlaceOptions

    func run() async throws {
        var query: [(name: String, value: String)] = [("limit", "100000")]
        if let device { query.append(("device", device)) }
        if let user { query.append(("user", user)) }
        if let storage { query.append(("storage", storage)) }
        let answer = try await place.connect().get("/v1/pending", query)
        let items = Self.items(answer)
        if place.isJSON {
            for item in items { try Output.print(item.line) }
        } else {
            try Output.print(lines(items))
        }
        let total = Int(answer["total"].integer ?? 0)
        if total > items.count { Output.message("\(total - items.count) more wait; ask for one device with --device.") }
    }

    /// The waiting items, each with its device, storage and list.
    private static func items(_ answer: JSONObject) -> [JSONObject] {
        answer.objects("devices").flatMap { device in
            device.objects("storages").flatMap { storage in
                PendingKind.allCases.flatMap { kind in
                    storage.object("kinds").objects(Name(kind.key)).map { item in
                        item.with([
                            .init("device", device["device"]), .init("visible_to_app", storage["visible_to_app"]),
                            .init("storage", storage["storage"]), .init("kind", .string(kind.key)),
                        ])
                    }
                }
            }
        }
    }

    private func lines(_ items: [JSONObject]) -> [String] {
        guard let first = items.first else {
            return ["Nothing waits. Next: profilecli save event jane opened\(place.repeated)"]
        }
        var table = Table("DEVICE", "STORAGE", "LIST", "#SAVED@", "USER", "WHAT", "AGE!")
        for item in items {
            let storage = item["storage"].cell + (item["visible_to_app"].flag == false ? " (hidden from the app)" : "")
            table.add(
                item["device"].cell, storage, item["kind"].cell, item["position"].cell, item["user"].cell,
                Phrase.content(item), Phrase.span(item["age_s"]))
        }
        let device = Shell.quoted(first["device"].cell)
        let count = UInt64(items.count)
        return table.lines() + [
            "\(Phrase.waiting(count)). Next: profilecli launch \(device)\(place.repeated)"
        ]
    }
}

extension JSONObject {
    /// The object with `more` members, which replace those of the same key.
    func with(_ more: [AttributeValue.Member]) -> JSONObject {
        let keys = Set(more.map(\.key))
        return JSONObject(
            AttributeValue.object(sorting: value.members.filter { !keys.contains($0.key) } + more) ?? value)
    }
}

/// `profilecli pending discard`
struct PendingDiscard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard", abstract: "Give up what waits on a device, with a reason that stays in the log.",
        discussion: """
            EXAMPLES
              profilecli pending discard --reason "test data"
              profilecli pending discard --device phone-1 --position 12 --position 13 --reason "saved twice"
              profilecli pending discard --storage private:PushContent --reason "the app cannot see it"
            """)

    @Option(name: .long, help: ArgumentHelp("The device (default: phone).", valueName: "id"))
    var device: String?

    @Option(name: .long, help: "Why.")
    var reason: String

    @Option(
        name: .long, parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Only the item saved at this position. Repeatable.", valueName: "position"))
    var position: [Int64] = []

    @Option(name: .long, help: ArgumentHelp("Only what lies in this storage.", valueName: "name"))
    var storage: String?

    @Option(name: .long, help: ArgumentHelp("Who gives it up; your user name unless given.", valueName: "name"))
    var by: String?

    @OptionGroup var place: PlaceOptions

    mutating func validate() throws {
        guard !reason.isEmpty else { throw ValidationError("--reason must not be empty.") }
        if storage != nil, !position.isEmpty {
            throw ValidationError("--storage and --position exclude each other. Leave out one.")
        }
    }

    func run() async throws {
        let answer = try await place.connect().post("/v1/pending/discard") { json in
            json.member("device", device)
            json.member("reason", reason)
            json.member("actor", by ?? Terminal.environment("USER") ?? "profilecli")
            json.member("storage", storage)
            guard !position.isEmpty else { return }
            json.key("positions")
            json.beginArray()
            for position in position { json.value(position) }
            json.endArray()
        }
        if place.isJSON { return try Output.print(answer.line) }
        let count = UInt64(answer["discarded"].elements.count)
        let waiting = UInt64(max(0, answer["waiting"].integer ?? 0))
        let shown = DisplayWidth.oneLine(answer["device"].cell)
        let what =
            count == 0
            ? "Nothing was discarded"
            : "Discarded \(Number.counted(count, "item")) at position \(answer["position"].cell)"
        try Output.print(
            "\(what); \(Phrase.waiting(waiting)) on \(shown). Next: profilecli pending\(place.repeated)")
    }
}
