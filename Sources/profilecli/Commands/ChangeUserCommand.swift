internal import ArgumentParser
internal import ProfileLog

struct ChangeUserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "change-user", "Put another user on a device, as a login does.",
        """
        An anonymous user on the device becomes a user who is unknown so far, and is merged into a known one. What was \
        saved before stays with the user who saved it. A device with a known user accepts no anonymous one: wipe it \
        first.
        """,
        examples: """
            profilecli change-user jane
            profilecli change-user email:jane@example.org --device tablet-1
            """)

    @OptionGroup var user: UserArgument
    @Option(help: .init("The device (default: phone).", valueName: "id")) var device: String?
    @OptionGroup var clock: ClockOption
    @OptionGroup var place: PlaceOptions

    mutating func validate() throws { try Blank.refuse(device, "--device") }

    func run() async throws {
        try await place.send(DeviceArgument.path([device ?? DefaultDevice.name, "change-user"])) { json in
            json.member("user", user.user)
            json.member("time", clock.time)
        } describe: { answer in
            let shown = answer["device"].cell.oneLine
            let merged = answer.flag("merged") ? ", merged with the anonymous user" : ""
            let sent = answer["sent"].elements.count
            let before = sent > 0 ? "; \(sent) sent of the user before" : ""
            let what =
                answer.flag("changed")
                ? "Changed the user of \(shown) at \(Phrase.spot(answer))\(merged)\(before)"
                : "\(shown) is on \(answer.id("user") ?? user.user.oneLine) already; nothing was stored"
            let next = Suggestion.next("launch \(Shell.device(answer["device"].cell))")
            return "\(what); \(Phrase.waiting(answer.count("waiting"))) there. \(next)"
        }
    }
}
