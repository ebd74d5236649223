internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogNativeAPI

/// Something that the app or the user does with in-app messages.
protocol MessageAction: DeviceAction {}

extension MessageAction {
    static var path: String { "messages" }
    static var action: String? { configuration.commandName?.replacing("-", with: "_") }

    func lines(_ answer: JSONObject, on device: DeviceArgument) -> [String] {
        Pages.table(ofEvents: answer.objects("steps"), withUser: true).linesIfAny()
    }

    func note(_ answer: JSONObject, on device: DeviceArgument) -> String? {
        let screen = answer["screen"].text.map { "\($0) is on the screen" } ?? "no message is on the screen"
        let waiting = answer["stack"].elements.count + answer["delayed"].elements.count
        let nothing = answer["steps"].elements.isEmpty ? "Nothing happened on " : ""
        return "\(nothing)\(device.shown): \(screen), \(waiting) waiting."
    }
}

struct NextMessage: MessageAction {
    static let configuration = CommandConfiguration(
        "next", "The app shows the message on the top of the stack.",
        examples: """
            profilecli messages next
            profilecli messages next phone-1
            """)
}

struct PresentMessage: MessageAction {
    static let configuration = CommandConfiguration(
        "present", "The app shows a message, triggered or not.",
        examples: """
            profilecli messages present --message welcome
            profilecli messages present phone-1 --message welcome
            """)

    @Option(help: .init("Which message.", valueName: "id")) var message: String

    func write(to json: inout JSONWriter) { json.member("message", message) }
}

/// `--button`, of clicks.
struct ButtonOption: ParsableArguments {
    @Option(help: .init("Which button (default: the message itself).", valueName: "id")) var button: String?
}

struct ClickMessage: MessageAction {
    static let configuration = CommandConfiguration(
        "click", "The user clicks the message on the screen, which closes.",
        examples: """
            profilecli messages click
            profilecli messages click phone-1 --button ok
            """)

    @OptionGroup var button: ButtonOption

    func write(to json: inout JSONWriter) { json.member("button", button.button) }
}

struct CloseMessage: MessageAction {
    static let configuration = CommandConfiguration(
        "close", "The message on the screen closes.", examples: "profilecli messages close phone-1")
}

struct LogImpression: MessageAction {
    static let configuration = CommandConfiguration(
        "log-impression", "The app logs an impression of its own view.",
        examples: "profilecli messages log-impression phone-1")
}

struct LogClick: MessageAction {
    static let configuration = CommandConfiguration(
        "log-click", "The app logs a click on its own view.",
        examples: "profilecli messages log-click phone-1 --button ok")

    @OptionGroup var button: ButtonOption

    func write(to json: inout JSONWriter) { json.member("button", button.button) }
}

struct TimePassed: MessageAction {
    static let configuration = CommandConfiguration(
        "time-passed", "Time passes: messages that became ready are shown.",
        examples: "profilecli messages time-passed phone-1 --at 2026-01-31T12:00:00Z")
}

// MARK: - Settings

/// `profilecli messages settings`
struct MessageSettings: SettingsAction {
    enum Orientation: String, ExpressibleByArgument, CaseIterable { case portrait, landscape }
    enum Theme: String, ExpressibleByArgument, CaseIterable { case light, dark }
    enum Choice: String, ExpressibleByArgument, CaseIterable { case show, reenqueue, discard }

    static let configuration = CommandConfiguration(
        "settings", "Show or change how an app and its device treat in-app messages.",
        "docs/in-app-messages.md describes the settings. Without an option, they are shown.",
        examples: """
            profilecli messages settings --minimum-interval 5s
            profilecli messages settings phone-1 --display-choice reenqueue
            profilecli messages settings --display-choices welcome=discard
            profilecli messages settings --no-automatic-display
            profilecli messages settings --theme dark --failing-asset welcome
            """)

    @Option(
        parsing: .unconditional, help: .init("The least time between two triggers, as in 30s.", valueName: "span"))
    var minimumInterval: String?

    @Flag(inversion: .prefixedNo, help: "Whether a triggered message is shown at once.")
    var automaticDisplay: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: "Whether a message of another user is discarded (--no-…: an SDK before version 15).")
    var preventDisplayForDifferentUser: Bool?

    @Option(help: "The device's orientation.") var orientation: Orientation?
    @Option(help: "The device's theme.") var theme: Theme?

    @Option(
        parsing: .unconditional, help: .init("How long the request of a templated message takes.", valueName: "span"))
    var requestTime: String?

    @Option(help: "The delegate's answer.") var displayChoice: Choice?

    @Option(
        help: .init(
            "The delegate's answer to one message. Repeatable: these replace those before.", valueName: "id=answer"))
    var displayChoices: [String] = []

    @Option(
        help: .init(
            "A message whose assets cannot be downloaded. Repeatable: these replace those before.", valueName: "id"))
    var failingAsset: [String] = []

    mutating func validate() throws { _ = try settings() }

    var isEmpty: Bool { (try? settings())?.isEmpty ?? false }

    func write(to json: inout JSONWriter) throws { json.member("messages", .object(try settings())) }

    private func settings() throws -> [AttributeValue.Member] {
        var members: [AttributeValue.Member] = []
        func add(_ key: Name, _ value: AttributeValue?) { if let value { members.append(.init(key, value)) } }
        add("automatic_display", automaticDisplay.map { .bool($0) })
        add("display_choice", displayChoice.map { .string($0.rawValue) })
        if !displayChoices.isEmpty {
            add("display_choices", .object(try TypedPairs(.answer, [], texts: displayChoices).members()))
        }
        if !failingAsset.isEmpty { add("failing_assets", .array(failingAsset.map { .string($0) })) }
        add("minimum_interval", try minimumInterval.map { .int(try SettingsOptions.seconds($0, "--minimum-interval")) })
        add("orientation", orientation.map { .string($0.rawValue) })
        add("prevent_display_for_different_user", preventDisplayForDifferentUser.map { .bool($0) })
        add("request_time", try requestTime.map { .int(try SettingsOptions.seconds($0, "--request-time")) })
        add("theme", theme.map { .string($0.rawValue) })
        return members
    }

    func lines(_ answer: JSONObject, on device: DeviceArgument) -> [String] {
        let next = Suggestion.next("messages show \(Shell.device(device.device))")
        let what =
            answer.flag("changed")
            ? "are set up at position \(answer["position"].cell)" : "were set up so already; nothing was stored"
        return ["In-app messages on \(device.shown) \(what). \(next)"]
    }

    static func part(of settings: JSONObject) -> JSONObject { settings.object("messages") }

    static func rows(of settings: JSONObject) -> [(name: String, value: String)] {
        settings.value.members.map { ($0.key.text, $0.value.cell) }
    }
}
