internal import ArgumentParser
internal import ProfileLog

/// `profilecli whatif`
struct WhatIfCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "whatif",
        abstract: "What the published snippets would have lost, doubled, misdated or given to the wrong user.",
        discussion: """
            Plays the saves, launches, user changes and discards of the log with the code that the guide publishes, on separate \
            devices, and checks that each item is delivered once, exactly, to its user and with its own time. Writes nothing. \
            What a history does not record is an option, with a default; the number before its help is that of the fault that uses it.

            --since and --until are positions, or times at which the log recorded an event. With --since, what came before is \
            played too, since it decides what is on the devices; it is not counted.

            --format json: an object for each fault, one for each affected item, and the totals last.

            EXAMPLES
              profilecli whatif
              profilecli whatif --fault newest --fault 23 --flush-ms 500
              profilecli whatif --language PushContent=objc --user jane
              profilecli whatif --fault 7 --since 2026-01-01T00:00:00Z --format json
              profilecli whatif --fail-on-difference

            EXIT STATUS
              2 with --fail-on-difference if an item fared differently,
              1 if the command failed, 64 wrong usage
            """)

    @OptionGroup var published: PublishedOptions

    @Option(help: "What was saved for this USER only, in any form that `profilecli --help` lists.")
    var user: String?

    @Option(help: .init("What was saved on this device only.", valueName: "id"))
    var device: String?

    @Option(parsing: .unconditional, help: .init("Count what was saved from here on.", valueName: "position|time"))
    var since: String?

    @Option(
        parsing: .unconditional,
        help: .init("The history ends here, this position or time included.", valueName: "position|time"))
    var until: String?

    @Option(help: .init("List so many of the affected items.", valueName: "n"))
    var items: UInt64 = 10

    @Flag(help: "Exit with 2 if an item fared differently, for CI.")
    var failOnDifference = false

    @OptionGroup var place: PlaceOptions

    func run() async throws {
        let range = parameters(
            ("items", "\(items)"), ("user", user), ("device", device), ("since", since), ("until", until))
        let answer = try await place.connect().get("/v1/whatif", published.query + range)
        try Output.print(place.isJSON ? Self.json(answer) : WhatIfTable(answer).lines)
        for warning in answer.objects("warnings") {
            let typed = warning["place"].text.flatMap(Failure.typedName) ?? warning["place"].cell
            Self.warn("\(typed) \(warning["reason"].cell).")
        }
        guard failOnDifference else { return }
        let stranded = answer.count("stranded")
        if stranded > 0 {
            Self.warn(
                "\(Number.counted(stranded, "item")) \(stranded == 1 ? "is" : "are") where the app never looks, so that "
                    + "no launch flushes \(stranded == 1 ? "it" : "them"). \(Suggestion.next("pending"))")
        }
        if answer["affected"] != .int(0) { throw ExitCode(ExitStatus.damaged.rawValue) }
    }

    private static func warn(_ sentence: String) {
        Output.message(Style.yellow("Warning: ", if: Terminal.hasErrorColours) + DisplayWidth.oneLine(sentence))
    }

    /// The faults, the items, and the rest of the answer: the totals.
    private static func json(_ answer: JSONObject) -> [String] {
        let parts: [Name] = ["faults", "affected_items"]
        let totals = AttributeValue.object(answer.value.members.filter { !parts.contains($0.key) })
        return parts.flatMap { answer.objects($0).map(\.line) } + [JSONObject(totals).line]
    }
}
