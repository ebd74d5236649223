internal import ArgumentParser
internal import ProfileLog

/// `profilecli device`
struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "device", "Simulated devices: how they are set up, and what happens to them.",
        examples: """
            profilecli device
            profilecli device settings phone-1 --offline
            profilecli device leave phone-1
            profilecli device send phone-1
            profilecli device log-out phone-1
            """,
        subcommands: [
            DeviceList.self, DeviceShow.self, DeviceSetUp.self, DeviceLeave.self, DeviceSend.self, DeviceLogOut.self,
            DeviceWipe.self,
        ], defaultSubcommand: DeviceList.self)
}

/// `profilecli device list`, which is `profilecli device`
struct DeviceList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "list", "List all devices (default).",
        examples: """
            profilecli device
            profilecli device list --format json
            """)

    @OptionGroup var place: PlaceOptions

    func run() async throws {
        let connection = try place.connect()
        var pages = Pages(isJSON: place.isJSON) { page in
            var table = Table("DEVICE", "USER", "LAST LAUNCH!", "#WAITING", "#QUEUED", "SETTINGS")
            for device in page {
                table.add(
                    device["device"].cell, device.object("user")["id"].cell,
                    Phrase.time(device.object("last_launch")["at"]), device["waiting"].cell, device["queued"].cell,
                    Phrase.settings(device.object("settings")))
            }
            return table
        }
        var query = [(name: "limit", value: "1000")]
        while true {
            let answer = try await connection.get("/v1/devices", query)
            let devices = answer.objects("devices")
            try pages.print(devices)
            guard answer["more"].flag == true, let last = devices.last?["device"].text else { break }
            query = [("limit", "1000"), ("after", last)]
        }
        if pages.count == 0 {
            Output.message("There are no devices. \(Suggestion.next("save event jane opened"))")
        }
    }
}

/// `profilecli device show`
struct DeviceShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "show", "One device: its user, its session, its settings, and what it holds.",
        examples: """
            profilecli device show
            profilecli device show phone-1 --format json
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        let answer = try await place.connect().get(device.path())
        try Output.print(place.isJSON ? [answer.line] : lines(answer))
    }

    private func lines(_ answer: JSONObject) -> [String] {
        var table = Table("WHAT", "OF \(device.shown)")
        table.add("user", answer.object("user")["id"].text ?? "none")
        table.add("last launch", Self.moment(answer.object("last_launch")) ?? "never")
        table.add("session", Self.moment(answer.object("session")).map { "since \($0)" } ?? "none is open")
        for (name, value) in Phrase.settingsInFull(answer.object("settings")) { table.add(name, value) }
        for storage in answer.objects("storages") {
            let items = PendingKind.allCases.reduce(0) { $0 + storage.count(Name($1.key)) }
            let hidden = storage["hidden_because"].text.map { "; \($0)" } ?? ""
            table.add("waits in \(storage["storage"].cell)", Number.counted(items, "item") + hidden)
        }
        let queued = answer.count("queued")
        if queued > 0 {
            table.add("SDK's queue", "\(Number.counted(queued, "item")) (\(Phrase.why(answer["why_queued"])))")
        }
        let isEnabled = answer.object("settings")["sdk_enabled"].flag
        let next =
            queued > 0 && isEnabled != false
            ? Suggestion.afterQueueing(answer["why_queued"].text, device.device)
            : Suggestion.launching(device.device, isSDKEnabled: isEnabled)
        return table.lines() + [
            "\(Phrase.waiting(answer.count("waiting"))) on \(device.shown), \(queued) queued. \(Suggestion.next(next))"
        ]
    }

    private static func moment(_ moment: JSONObject) -> String? {
        moment["position"].integer.map { "position \($0), \(Phrase.time(moment["at"]))" }
    }
}

/// `profilecli device settings`
struct DeviceSetUp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "settings", "Set up a device's network, SDK, sessions and app groups.",
        "What the device may then send is sent at once. Without an option, the settings are shown.",
        examples: """
            profilecli device settings phone-1 --offline
            profilecli device settings phone-1 --request-policy manual
            profilecli device settings --session-timeout 30m --flush-interval 10s
            profilecli device settings --without-app-group PushContent:group.app
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var settings: SettingsOptions
    @OptionGroup var clock: ClockOption
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        if settings.isEmpty { return try await show() }
        try await place.send(device.path("settings")) { json in
            try settings.write(to: &json)
            clock.write(to: &json)
        } describe: {
            describe($0)
        }
    }

    private func describe(_ answer: JSONObject) -> String {
        let words = Phrase.settings(answer.object("settings"))
        let what =
            answer["changed"].flag == true
            ? "\(device.shown) is set up at position \(answer["position"].cell): \(words)"
            : "\(device.shown) was set up so already (\(words)); nothing was stored"
        let isEnabled = answer.object("settings")["sdk_enabled"].flag
        let next = Suggestion.afterQueueing(isEnabled == false ? "disabled" : answer["why"].text, device.device)
        return "\(what); \(Phrase.queue(answer)). \(Suggestion.next(next))"
    }

    private func show() async throws {
        let settings = try await place.connect().get(device.path()).object("settings")
        if place.isJSON { return try Output.print(settings.line) }
        var table = Table("SETTING", "OF \(device.shown)")
        for (name, value) in Phrase.settingsInFull(settings) { table.add(name, value) }
        try Output.print(table.lines())
    }
}

/// `profilecli device leave`
struct DeviceLeave: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "leave", "The app leaves the foreground.",
        "If it comes back within the session timeout, the session goes on; else the next launch ends it.",
        examples: """
            profilecli device leave
            profilecli device leave phone-1 --at 2026-01-31T12:00:00Z
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var clock: ClockOption
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        try await place.send(device.path("leave")) {
            clock.write(to: &$0)
        } describe: { answer in
            let what =
                answer["left"].flag == true
                ? "The app left the foreground of \(device.shown) at position \(answer["position"].cell)"
                : "The app is away from the foreground of \(device.shown) already; nothing was stored"
            let timeout = Phrase.span(answer["session_timeout_s"])
            let next = Suggestion.next("launch \(Shell.device(device.device)) --kind return")
            return "\(what). Its session goes on if it comes back within \(timeout). \(next)"
        }
    }
}

/// `profilecli device send`
struct DeviceSend: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "send", "The app asks the SDK to send what it has queued.",
        """
        As requestImmediateDataFlush does: also under the manual request policy and before the flush interval is over, but not \
        without a network and not by a disabled SDK. With --if-due the SDK's own timer asks instead.
        """,
        examples: """
            profilecli device send
            profilecli device send phone-1 --if-due --at 2026-01-31T12:00:10Z
            """)

    @OptionGroup var device: DeviceArgument

    @Flag(help: "Send only if the request policy and the flush interval let the SDK do so by itself.")
    var ifDue = false

    @OptionGroup var clock: ClockOption
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        try await place.send(device.path("send")) { json in
            json.member("requested", !ifDue)
            clock.write(to: &json)
        } describe: { answer in
            let user = answer.count("queued") == 0 ? answer.objects("sent").last?["user"].text : nil
            let next =
                user.map { "profile \(Shell.user($0))" } ?? Suggestion.afterQueueing(answer["why"].text, device.device)
            return "\(device.shown): \(Phrase.queue(answer)). \(Suggestion.next(next))"
        }
    }
}

/// `profilecli device log-out`
struct DeviceLogOut: UserLeaving {
    static let configuration = CommandConfiguration(
        "log-out", "The user leaves the device: the SDK discards what it has not sent, and is disabled.",
        """
        What extensions have saved goes on waiting: it is their user's. The next user is a new anonymous one, or comes with \
        `profilecli change-user`; `device settings --enable-sdk` turns the SDK on.
        """,
        examples: """
            profilecli device log-out
            profilecli device log-out phone-1
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var clock: ClockOption
    @OptionGroup var place: PlaceOptions

    func run() async throws { try await leave(by: "log-out") }
}

/// `profilecli device wipe`
struct DeviceWipe: UserLeaving {
    static let configuration = CommandConfiguration(
        "wipe", "The SDK forgets its user, and discards what it has not sent.",
        "As wipeData does. What extensions have saved goes on waiting; the SDK stays as enabled as it was.",
        examples: """
            profilecli device wipe
            profilecli device wipe phone-1
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var clock: ClockOption
    @OptionGroup var place: PlaceOptions

    func run() async throws { try await leave(by: "wipe") }
}

/// A log-out or a wipe.
protocol UserLeaving: AsyncParsableCommand {
    var device: DeviceArgument { get }
    var clock: ClockOption { get }
    var place: PlaceOptions { get }
}

extension UserLeaving {
    fileprivate func leave(by action: String) async throws {
        try await place.send(device.path(action)) {
            clock.write(to: &$0)
        } describe: {
            describe($0)
        }
    }

    private func describe(_ answer: JSONObject) -> String {
        let user = DisplayWidth.oneLine(answer.object("previous")["id"].text ?? "no user")
        let discarded = UInt64(answer["discarded"].elements.count)
        let unsent =
            discarded == 0
            ? ""
            : "; \(Number.counted(discarded, "item")) that the SDK had not sent \(discarded == 1 ? "is" : "are") discarded"
        let what =
            answer["changed"].flag == true
            ? "\(user) left \(device.shown) at position \(answer["position"].cell)\(unsent)"
            : "No user is on \(device.shown); nothing was stored"
        let shell = Shell.device(device.device)
        let next =
            answer["sdk_enabled"].flag == true ? "launch \(shell)" : "device settings \(shell) --enable-sdk"
        return "\(what); \(Phrase.waiting(answer.count("waiting"))). \(Suggestion.next(next))"
    }
}
