internal import ArgumentParser
internal import ProfileLog

/// `profilecli pending discard`
struct PendingDiscard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard", abstract: "Give up what waits on a device, with a reason that stays in the log.",
        discussion: """
            EXAMPLES
              profilecli pending discard --reason "test data"
              profilecli pending discard --position 12 --position 13 --reason "twice"
              profilecli pending discard --device phone-1 --reason "a broken phone"
              profilecli pending discard --storage private:Push --reason "not seen"
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
        if place.isJSON { return try Output.answer(answer.line, to: answer) }
        let count = UInt64(answer["discarded"].elements.count)
        let waiting = UInt64(max(0, answer["waiting"].integer ?? 0))
        let shown = DisplayWidth.oneLine(answer["device"].cell)
        let what =
            count == 0
            ? "Nothing was discarded"
            : "Discarded \(Number.counted(count, "item")) at position \(answer["position"].cell)"
        try Output.answer(
            "\(what); \(Phrase.waiting(waiting)) on \(shown). \(Suggestion.next("pending"))", to: answer)
    }
}
