internal import ArgumentParser
internal import ProfileLog

/// `profilecli pending`
struct PendingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pending",
        abstract: "What waits for a launch or to be sent, by device and storage.",
        discussion: """
            EXAMPLES
              profilecli pending
              profilecli pending --device phone-1 --user jane
              profilecli pending retry 12 email jane@example.org
              profilecli pending discard --device phone-1 --reason "test data"
            """,
        subcommands: [PendingList.self, PendingDiscard.self, PendingRetry.self], defaultSubcommand: PendingList.self)
}

/// `profilecli pending list`, which is `profilecli pending`
struct PendingList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List what waits (default).",
        discussion: """
            First what waits for a launch, then what the SDK has taken and not sent; below, storages that the app cannot see and \
            why, and how long items have waited.

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
            try Output.print(lines(items, answer))
        }
        let total = Int((answer["total"].integer ?? 0) + (answer["queued"].integer ?? 0))
        if total > items.count { Output.message("\(total - items.count) more wait; ask for one device with --device.") }
    }

    /// The waiting items, each with its device, storage and list; of each device, behind them what its SDK has not sent.
    private static func items(_ answer: JSONObject) -> [JSONObject] {
        answer.objects("devices").flatMap { device in
            let waiting = device.objects("storages").flatMap { storage in
                PendingKind.allCases.flatMap { kind in
                    storage.object("kinds").objects(Name(kind.key)).map { item in
                        item.with([
                            .init("device", device["device"]), .init("visible_to_app", storage["visible_to_app"]),
                            .init("storage", storage["storage"]), .init("state", .string("waiting")),
                        ])
                    }
                }
            }
            return waiting
                + device.objects("queue").map { item in
                    item.with([.init("device", device["device"]), .init("state", .string("queued"))])
                }
        }
    }

    private func lines(_ items: [JSONObject], _ answer: JSONObject) -> [String] {
        guard let first = items.first else {
            return ["Nothing waits. \(Suggestion.next("save event jane opened"))"]
        }
        var table = Table("DEVICE", "STORAGE", "LIST!", "#SAVED@", "USER", "WHAT", "AGE!")
        for item in items {
            let isQueued = item["state"].text == "queued"
            let hidden = item["visible_to_app"].flag == false ? " (hidden from the app)" : ""
            table.add(
                item["device"].cell,
                isQueued ? "SDK's queue (\(Phrase.why(item["why"])))" : item["storage"].cell + hidden,
                Phrase.list(item), item["position"].cell, item["user"].cell, Phrase.content(item),
                Phrase.span(item["age_s"]))
        }
        let waiting = items.filter { $0["state"].text == "waiting" }
        let queued = items.first { $0["state"].text == "queued" }
        var summary = Phrase.waiting(UInt64(waiting.count))
        if items.count > waiting.count { summary += ", \(items.count - waiting.count) queued" }
        let next: String
        if let visible = waiting.first(where: { $0["visible_to_app"].flag == true }) {
            let name = visible["device"].cell
            let device = answer.objects("devices").first { $0["device"].cell == name }
            let isEnabled = device?["sdk_enabled"].flag
            next =
                isEnabled == false
                ? Suggestion.launching(name, isSDKEnabled: false) : "launch \(Shell.device(name))"
        } else if let queued {
            next = Suggestion.afterQueueing(queued["why"].text, queued["device"].cell)
        } else {
            // No launch flushes it.
            let device = Shell.option("--device", first["device"].cell)
            next = "pending discard \(device) \(Shell.option("--storage", first["storage"].cell)) --reason TEXT"
        }
        return table.lines() + Self.hidden(answer) + WaitingTable(answer.object("waiting_s"), least: 2).lines()
            + ["\(summary). \(Suggestion.next(next))"]
    }

    /// The storages that no launch flushes, with the reason.
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

extension JSONObject {
    /// The object with `more` members, which replace those of the same key.
    func with(_ more: [AttributeValue.Member]) -> JSONObject {
        let keys = Set(more.map(\.key))
        return JSONObject(
            AttributeValue.object(sorting: value.members.filter { !keys.contains($0.key) } + more) ?? value)
    }
}
