internal import ArgumentParser
internal import ProfileLog

/// `profilecli device`
struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Simulated devices: how they are set up, and what happens to them.",
        discussion: """
            EXAMPLES
              profilecli device
              profilecli device settings phone-1 --offline
              profilecli device leave phone-1
              profilecli device send phone-1
              profilecli device log-out phone-1
            """,
        subcommands: [
            DeviceList.self, DeviceShow.self, DeviceChange.self, DeviceLeave.self, DeviceSend.self, DeviceLogOut.self,
            DeviceWipe.self,
        ], defaultSubcommand: DeviceList.self)
}

/// `profilecli device list`, which is `profilecli device`
struct DeviceList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List all devices (default).",
        discussion: """
            EXAMPLES
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
        commandName: "show", abstract: "One device: its user, its session, its settings, and what it holds.",
        discussion: """
            EXAMPLES
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
        var table = Table("WHAT", "OF \(DisplayWidth.oneLine(answer["device"].cell))")
        table.add("user", answer.object("user")["id"].text ?? "nobody")
        table.add("last launch", Self.moment(answer.object("last_launch")) ?? "never")
        table.add("session", Self.moment(answer.object("session")).map { "since \($0)" } ?? "none is open")
        for (name, value) in Phrase.settingsInFull(answer.object("settings")) { table.add(name, value) }
        for storage in answer.objects("storages") {
            let counts = PendingKind.allCases.map { storage[Name($0.key)].integer ?? 0 }
            let items = Number.counted(UInt64(max(0, counts.reduce(0, +))), "item")
            let hidden = storage["hidden_because"].text.map { "; \($0)" } ?? ""
            table.add("waits in \(storage["storage"].cell)", items + hidden)
        }
        let queued = UInt64(max(0, answer["queued"].integer ?? 0))
        if queued > 0 {
            table.add("SDK's queue", "\(Number.counted(queued, "item")) (\(Phrase.why(answer["why_queued"])))")
        }
        let name = DisplayWidth.oneLine(answer["device"].cell)
        let isEnabled = answer.object("settings")["sdk_enabled"].flag
        let next =
            queued > 0 && isEnabled != false
            ? Suggestion.afterQueueing(answer["why_queued"].text, device.device)
            : Suggestion.launching(device.device, isSDKEnabled: isEnabled)
        return table.lines() + [
            "\(Phrase.waiting(UInt64(max(0, answer["waiting"].integer ?? 0)))) on \(name), \(queued) queued. "
                + Suggestion.next(next)
        ]
    }

    private static func moment(_ moment: JSONObject) -> String? {
        moment["position"].integer.map { "position \($0), \(Phrase.time(moment["at"]))" }
    }
}

/// `profilecli device settings`
struct DeviceChange: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Set up a device's network, SDK, sessions and app groups.",
        discussion: """
            What the device then may send is sent at once. Without an option, the settings are shown.

            EXAMPLES
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
        let answer = try await place.connect().post(device.path("settings")) { json in
            try settings.write(to: &json)
            clock.write(to: &json)
        }
        if place.isJSON { return try Output.answer(answer.line, to: answer) }
        let name = DisplayWidth.oneLine(device.device)
        let words = Phrase.settings(answer.object("settings"))
        let what =
            answer["changed"].flag == true
            ? "\(name) is set up at position \(answer["position"].cell): \(words)"
            : "\(name) was set up so already (\(words)); nothing was stored"
        let isEnabled = answer.object("settings")["sdk_enabled"].flag
        let next =
            isEnabled == false
            ? Suggestion.launching(device.device, isSDKEnabled: false)
            : Suggestion.afterQueueing(answer["why"].text, device.device)
        try Output.answer("\(what); \(Phrase.queue(answer)). \(Suggestion.next(next))", to: answer)
    }

    private func show() async throws {
        let answer = try await place.connect().get(device.path())
        if place.isJSON { return try Output.print(answer.object("settings").line) }
        var table = Table("SETTING", "OF \(DisplayWidth.oneLine(device.device))")
        for (name, value) in Phrase.settingsInFull(answer.object("settings")) { table.add(name, value) }
        try Output.print(table.lines())
    }
}
