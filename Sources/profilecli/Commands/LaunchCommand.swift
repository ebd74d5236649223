internal import ArgumentParser
internal import ProfileLog

/// `profilecli launch`
struct LaunchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "launch",
        abstract: "Start the app on a device: what waits there and the app can see is flushed.",
        discussion: """
            Custom events are flushed first, then custom attributes, then user attributes, each in the order in which it was saved. \
            A launch that died is finished first.

            EXAMPLES
              profilecli launch
              profilecli launch tablet-1 --kind background
              profilecli launch phone-1 --only events,attributes
            """)

    @Argument(help: "The device (default: phone).")
    var device: String?

    @Option(name: .customLong("device"), help: .hidden)
    var deviceOption: String?

    @Option(name: .long, help: "cold, background or return.", completion: .list(LaunchKind.allCases.map(\.name)))
    var kind = "cold"

    @Option(
        name: .long,
        help: ArgumentHelp("Flush these only: events, attributes, user-attributes.", valueName: "lists"))
    var only: String?

    @OptionGroup var place: PlaceOptions

    mutating func validate() throws {
        if device != nil, deviceOption != nil { throw ValidationError("The device is named twice. Name it once.") }
        guard LaunchKind.allCases.map(\.name).contains(kind) else {
            throw ValidationError("--kind must be cold, background or return.")
        }
    }

    func run() async throws {
        let answer = try await place.connect(create: true).post("/v1/launch") { json in
            json.member("device", device ?? deviceOption)
            json.member("kind", kind)
            guard let only else { return }
            json.key("only")
            json.beginArray()
            for list in only.split(separator: ",") { json.value(String(list)) }
            json.endArray()
        }
        if place.isJSON { return try Output.print(answer.line) }
        try Output.print(lines(answer))
    }

    private func lines(_ answer: JSONObject) -> [String] {
        let flushed = answer.objects("finished") + answer.objects("flushed")
        let left = answer.objects("left")
        let rejected = flushed.count { $0["outcome"].text == "rejected" }
        let user = answer.object("user")["id"].text
        let next = user.map { "profilecli profile \(Shell.quoted($0))" } ?? "profilecli users"
        let summary =
            "Launched \(DisplayWidth.oneLine(answer["device"].cell)) (\(kind)) as \(DisplayWidth.oneLine(user ?? "nobody")) at position "
            + "\(answer["position"].cell); \(flushed.count - rejected) flushed, \(rejected) rejected, \(left.count) left. "
            + "Next: \(next)\(place.repeated)"
        guard !flushed.isEmpty || !left.isEmpty else { return [summary] }
        var table = Table("OUTCOME!", "#SAVED@", "USER", "LIST", "WHAT", "WAITED!", "REASON")
        for item in flushed + left {
            table.add(
                item["outcome"].cell, item["position"].cell, item["user"].cell, item["kind"].cell,
                Phrase.content(item.withoutReason), Phrase.span(item["waited_s"]), item["reason"].cell)
        }
        return [summary] + table.lines()
    }
}

extension JSONObject {
    /// The item without the reason of its outcome, which is no part of what it says.
    fileprivate var withoutReason: JSONObject {
        JSONObject(.object(value.members.filter { $0.key.text != "reason" && $0.key.text != "flushed" }))
    }
}
