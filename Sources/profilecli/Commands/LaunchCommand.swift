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
        let connection = try place.connect(create: true)
        let answer = try await connection.post("/v1/launch") { json in
            json.member("device", device ?? deviceOption)
            json.member("kind", kind)
            guard let only else { return }
            json.key("only")
            json.beginArray()
            for list in only.split(separator: ",") { json.value(String(list)) }
            json.endArray()
        }
        try Output.print(place.isJSON ? [answer.line] : lines(answer))
        if answer["new_device"].flag == true { try await hint(answer["device"].cell, connection) }
    }

    private static let mostHinted = 10

    /// A mistyped device is launched like any other, so say that it is new, and where something waits.
    private func hint(_ device: String, _ connection: any Connection) async throws {
        let pending = try await connection.get("/v1/pending", [("limit", "1")])
        let others = pending.objects("devices").map { $0["device"].cell }.filter { $0 != device }
        let named = others.prefix(Self.mostHinted).map(DisplayWidth.oneLine).joined(separator: ", ")
        let more = others.count > Self.mostHinted ? " and \(others.count - Self.mostHinted) more" : ""
        let waiting =
            others.isEmpty
            ? "Nothing waits on any other; `profilecli tail` names those of the last events"
            : "Something waits on \(named)\(more)"
        Output.message(
            "Nothing was known of the device \(DisplayWidth.oneLine(device)) before this launch. \(waiting).")
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
