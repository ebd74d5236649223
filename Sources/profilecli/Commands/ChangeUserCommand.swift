internal import ArgumentParser
internal import ProfileLog

/// `profilecli change-user`
struct ChangeUserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "change-user", "Put another user on a device, as a login does.",
        """
        An anonymous user on the device becomes a user who is unknown so far, and is merged into a known one. What was saved \
        before stays with the user who saved it. A device with a known user accepts no anonymous one: wipe it first.
        """,
        examples: """
            profilecli change-user jane
            profilecli change-user email:jane@example.org --device tablet-1
            """)

    @Argument(help: .user)
    var user: String

    @Option(help: .init("The device (default: phone).", valueName: "id"))
    var device: String?

    @OptionGroup var clock: ClockOption
    @OptionGroup var place: PlaceOptions

    mutating func validate() throws {
        try Blank.refuse(user, "USER")
        try device.map { try Blank.refuse($0, "--device") }
    }

    func run() async throws {
        let path = DeviceArgument.path(of: device ?? DefaultDevice.name, "change-user")
        try await place.send(path) { json in
            json.member("user", user)
            clock.write(to: &json)
        } describe: {
            describe($0)
        }
    }

    private func describe(_ answer: JSONObject) -> String {
        let shown = DisplayWidth.oneLine(answer["device"].cell)
        let merged = answer["merged"].flag == true ? ", merged with the anonymous user" : ""
        let sent = answer["sent"].elements.count
        let before = sent > 0 ? "; \(sent) sent of the user before" : ""
        let what =
            answer["changed"].flag == true
            ? "Changed the user of \(shown) at \(Phrase.spot(answer))\(merged)\(before)"
            : "\(shown) is on \(DisplayWidth.oneLine(answer.object("user")["id"].text ?? user)) already; nothing was stored"
        let next = Suggestion.next("launch \(Shell.device(answer["device"].cell))")
        return "\(what); \(Phrase.waiting(answer.count("waiting"))) there. \(next)"
    }
}
