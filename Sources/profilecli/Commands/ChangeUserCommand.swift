internal import ArgumentParser
internal import ProfileLog

/// `profilecli change-user`
struct ChangeUserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "change-user",
        abstract: "Put another user on a device, as a login does.",
        discussion: """
            An anonymous user on the device becomes a user who is unknown so far, and is merged into a known one. What was saved \
            before stays that of the user who saved it. A device with a known user takes no anonymous one: wipe it first.

            EXAMPLES
              profilecli change-user jane
              profilecli change-user email:jane@example.org --device tablet-1
            """)

    @Argument(help: .user)
    var user: String

    @Option(name: .long, help: ArgumentHelp("The device (default: phone).", valueName: "id"))
    var device: String?

    @OptionGroup var clock: ClockOption
    @OptionGroup var place: PlaceOptions

    mutating func validate() throws {
        try Blank.refuse(user, "USER")
        if let device { try Blank.refuse(device, "--device") }
    }

    func run() async throws {
        let path = DevicePath.of(device ?? DefaultDevice.name, "change-user")
        let answer = try await place.connect().post(path) { json in
            json.member("user", user)
            clock.write(to: &json)
        }
        if place.isJSON { return try Output.answer(answer.line, to: answer) }
        let shown = DisplayWidth.oneLine(answer["device"].cell)
        let id = answer.object("user")["id"].text ?? user
        let waiting = UInt64(max(0, answer["waiting"].integer ?? 0))
        let merged = answer["merged"].flag == true ? ", into whom the anonymous user was merged" : ""
        let sent = answer["sent"].elements.count
        let before = sent > 0 ? "; \(sent) sent of the user before" : ""
        let what =
            answer["changed"].flag == true
            ? "Changed the user of \(shown) at \(Phrase.spot(answer))\(merged)\(before)"
            : "\(shown) is on \(DisplayWidth.oneLine(id)) already; nothing was stored"
        let next = Suggestion.next("launch \(Shell.device(answer["device"].cell))")
        try Output.answer("\(what); \(Phrase.waiting(waiting)) there. \(next)", to: answer)
    }
}
