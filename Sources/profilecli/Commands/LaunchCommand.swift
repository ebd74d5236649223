internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogNativeAPI

struct LaunchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "launch", "Start the app on a device: it flushes what waits there and the app can see.",
        """
        Custom events are flushed first, then custom attributes, then user attributes, each in the order in which it \
        was saved. A launch that died is finished first.
        """,
        examples: """
            profilecli launch
            profilecli launch tablet-1 --kind background
            profilecli launch phone-1 --only events,attributes
            profilecli launch phone-1 --die-after handed
            profilecli launch phone-1 --kind return --at 2026-01-31T12:00:05Z
            """)

    @OptionGroup var device: DeviceArgument
    @Option(
        help: "cold, background, return, or locked: in the background before the first unlock.",
        completion: .list(LaunchKind.allCases.map(\.name)))
    var kind = "cold"
    @Option(help: .init("Flush these only: events, attributes, user-attributes.", valueName: "lists")) var only: String?

    @Option(
        help: .init("Die after this step: launched, or handed (to the SDK).", valueName: "step"),
        completion: .list(LaunchStep.allCases.map(\.rawValue)))
    var dieAfter: String?

    @OptionGroup var clock: ClockOption
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        let connection = try place.connect()
        let answer = try await connection.post(device.path("launch")) { json in
            json.member("kind", kind)
            json.member("die_after", dieAfter)
            json.member("time", clock.time)
            if let only {
                json.member("only", only.split(separator: ",", omittingEmptySubsequences: false).map(String.init))
            }
        }
        try Output.answer(place.isJSON ? [answer.line] : lines(answer), to: answer)
        if answer.flag("new_device") { try await hint(answer["device"].cell, connection) }
    }

    private static let mostHinted = 10

    /// A mistyped device is launched like any other, so this says that it is new, and where something waits.
    private func hint(_ device: String, _ connection: any Connection) async throws {
        let pending = try await connection.get("/v1/pending", [("limit", "1")])
        let others = pending.objects("devices").map { $0["device"].cell }.filter { $0 != device }
        let named = others.prefix(Self.mostHinted).map(\.oneLine).joined(separator: ", ")
        let more = others.count > Self.mostHinted ? " and \(others.count - Self.mostHinted) more" : ""
        let waiting =
            others.isEmpty
            ? "Nothing waits on any other; `profilecli \(TypedPlace.completing("device"))` lists the known ones"
            : "Something waits on \(named)\(more)"
        Output.message("The device \(device) is new. \(waiting).")
    }

    private func lines(_ answer: JSONObject) -> [String] {
        let sent = answer.objects("sent")
        let flushed = answer.objects("finished") + answer.objects("flushed")
        let queued = flushed.filter { $0["outcome"].text == "queued" } + answer.objects("queued")
        let taken = flushed.filter { $0["outcome"].text != "queued" }
        let left = answer.objects("left")
        let rejected = taken.count { $0["outcome"].text == "rejected" }
        let disabled = left.first { ["disabled", "no_instance"].contains($0["why"].text) }
        let user = answer.object("user")["id"].text
        var summary =
            "Launched \(answer["device"].cell.oneLine) (\(kind)) as \((user ?? "no user").oneLine) "
            + "at position \(answer["position"].cell); \(taken.count - rejected) flushed, \(rejected) rejected, "
            + "\(left.count) left"
        if !sent.isEmpty { summary += ", \(sent.count) sent from the queue" }
        if let first = queued.first { summary += ", \(queued.count) queued (\(first["reason"].cell))" }
        if let dieAfter { summary += "; then the app died (\(dieAfter))" }
        summary += ". \(Suggestion.next(next(answer.object("user"), queued.first ?? disabled, rejected)))"
        let items = sent + taken + queued + left
        let table = Table("OUTCOME!", "#SAVED@", "USER", "LIST!", "WHAT", "WAITED!", "REASON", of: items) { item in
            [
                item["outcome"].cell, item["position"].cell, item["user"].cell, Phrase.list(item),
                Phrase.content(item.withoutReason), Phrase.span(item["waited_s"]),
                Phrase.noEffect(of: item).map { "without effect: \($0)" } ?? item["reason"].cell,
            ]
        }
        return [summary] + table.linesIfAny()
    }

    private func next(_ user: JSONObject, _ queued: JSONObject?, _ rejected: Int) -> String {
        if let queued { return Suggestion.afterQueueing(queued["why"].text, device.device) }
        if dieAfter != nil { return Suggestion.afterQueueing(nil, device.device) }
        if rejected > 0 { return "rejected" }
        return Suggestion.profile(of: user)
    }
}
