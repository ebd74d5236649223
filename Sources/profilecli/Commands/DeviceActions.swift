internal import ArgumentParser
internal import ProfileLog

/// `profilecli device leave`
struct DeviceLeave: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "leave",
        abstract: "The app leaves the foreground.",
        discussion: """
            If it comes back within the session timeout, the session goes on; else the next launch ends it.

            EXAMPLES
              profilecli device leave
              profilecli device leave phone-1 --at 2026-01-31T12:00:00Z
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var clock: ClockOption
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        let answer = try await place.connect().post(device.path("leave")) { clock.write(to: &$0) }
        if place.isJSON { return try Output.answer(answer.line, to: answer) }
        let name = DisplayWidth.oneLine(device.device)
        let what =
            answer["left"].flag == true
            ? "The app left the foreground of \(name) at position \(answer["position"].cell)"
            : "The app is away from the foreground of \(name) already; nothing was stored"
        let timeout = Phrase.span(answer["session_timeout_s"])
        let next = Suggestion.next("launch \(Shell.device(device.device)) --kind return")
        try Output.answer(
            "\(what). Its session goes on if it comes back within \(timeout). \(next)", to: answer)
    }
}

/// `profilecli device send`
struct DeviceSend: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "The app asks the SDK to send what it has taken and kept.",
        discussion: """
            As requestImmediateDataFlush does: also under the manual request policy and before the flush interval is over, but not \
            without a network and not by a disabled SDK. With --if-due the SDK's own timer asks instead.

            EXAMPLES
              profilecli device send
              profilecli device send phone-1 --if-due --at 2026-01-31T12:00:10Z
            """)

    @OptionGroup var device: DeviceArgument

    @Flag(name: .long, help: "Send only if the request policy and the flush interval let the SDK do so by itself.")
    var ifDue = false

    @OptionGroup var clock: ClockOption
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        let answer = try await place.connect().post(device.path("send")) { json in
            json.key("requested")
            json.value(!ifDue)
            clock.write(to: &json)
        }
        if place.isJSON { return try Output.answer(answer.line, to: answer) }
        let name = DisplayWidth.oneLine(device.device)
        let user = answer.objects("sent").last?["user"].text
        let queued = answer["queued"].integer ?? 0
        let after = Suggestion.afterQueueing(answer["why"].text, device.device)
        let next = queued == 0 ? user.map { "profile \(Shell.user($0))" } ?? after : after
        try Output.answer("\(name): \(Phrase.queue(answer)). \(Suggestion.next(next))", to: answer)
    }
}

/// `profilecli device log-out`
struct DeviceLogOut: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log-out",
        abstract: "The user leaves the device: what the SDK has not sent is given up, and it is disabled.",
        discussion: """
            What extensions have saved goes on waiting: it is their user's. The next user is a new anonymous one, or comes with \
            `profilecli change-user`; `device settings --enable-sdk` turns the SDK on.

            EXAMPLES
              profilecli device log-out
              profilecli device log-out phone-1
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var clock: ClockOption
    @OptionGroup var place: PlaceOptions

    func run() async throws { try await Forgetting(device: device, clock: clock, place: place).run("log-out") }
}

/// `profilecli device wipe`
struct DeviceWipe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wipe",
        abstract: "The SDK forgets who was there, and gives up what it has not sent.",
        discussion: """
            As wipeData does. What extensions have saved goes on waiting; the SDK stays as enabled as it was.

            EXAMPLES
              profilecli device wipe
              profilecli device wipe phone-1
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var clock: ClockOption
    @OptionGroup var place: PlaceOptions

    func run() async throws { try await Forgetting(device: device, clock: clock, place: place).run("wipe") }
}

/// What a log-out and a wipe have in common.
private struct Forgetting {
    var device: DeviceArgument
    var clock: ClockOption
    var place: PlaceOptions

    func run(_ action: String) async throws {
        let answer = try await place.connect().post(device.path(action)) { clock.write(to: &$0) }
        if place.isJSON { return try Output.answer(answer.line, to: answer) }
        let name = DisplayWidth.oneLine(device.device)
        let shell = Shell.device(device.device)
        let user = DisplayWidth.oneLine(answer.object("previous")["id"].text ?? "nobody")
        let given = UInt64(answer["discarded"].elements.count)
        let unsent =
            given == 0
            ? "" : "; \(Number.counted(given, "item")) that the SDK had not sent \(given == 1 ? "is" : "are") given up"
        let what =
            answer["changed"].flag == true
            ? "\(user) left \(name) at position \(answer["position"].cell)\(unsent)"
            : "Nobody is on \(name); nothing was stored"
        let next =
            answer["sdk_enabled"].flag == true
            ? "launch \(shell)" : "device settings \(shell) --enable-sdk"
        let waiting = Phrase.waiting(UInt64(max(0, answer["waiting"].integer ?? 0)))
        try Output.answer("\(what); \(waiting). \(Suggestion.next(next))", to: answer)
    }
}
