internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogNativeAPI

struct PushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "push", "Simulate the pushes of a device: delivered, expanded, opened, dismissed.",
        """
        A push that a server sends waits for `deliver`. Each step is an event with its reason; `device settings` and \
        docs/push.md say what they depend on.
        """,
        examples: """
            profilecli push list
            profilecli push deliver phone-1
            profilecli push expand --way swipe_down
            profilecli push act --button REGISTER
            profilecli push open phone-1
            profilecli push receive --payload '{"aps": {"alert": "Hi"}}'
            """,
        subcommands: [
            PushList.self, Push<PushDeliver>.self, Push<PushReceive>.self, Push<PushExpand>.self,
            Push<PushInput>.self, Push<PushAct>.self, Push<PushOpen>.self, Push<PushDismiss>.self,
            Push<PushInitialize>.self, Push<PushForceQuit>.self, PushCompare.self,
        ], defaultSubcommand: PushList.self)
}

struct PushList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "list", "List pushes on their way, on the screen, and captured (default).",
        examples: """
            profilecli push
            profilecli push list phone-1 --format json
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        let answer = try await place.connect().get(device.path("pushes"))
        try Output.print(place.isJSON ? [answer.line] : Self.lines(answer, device.shown))
    }

    static func lines(_ answer: JSONObject, _ device: String) -> [String] {
        var table = Table("#PUSH", "STATE!", "USER", "MESSAGE", "SINCE!")
        var count = 0
        for (key, state) in [("underway", "on its way"), ("shown", ""), ("captured", "captured")] {
            for push in answer.objects(Name(key)) {
                count += 1
                let screen = push["screen"].text?.replacing("_", with: " ")
                table.add(
                    push["push"].cell, screen ?? state, push["user"].cell, push["message"].cell,
                    Phrase.time(push["at"]))
            }
        }
        let counts =
            "\(answer["underway"].elements.count) on the way to \(device), "
            + "\(answer["shown"].elements.count) shown, \(answer["captured"].elements.count) captured."
        return (count == 0 ? [] : table.lines()) + [counts]
    }
}

/// Something that happens to the pushes of a device, with its own arguments.
protocol PushAction: ParsableArguments {
    static var configuration: CommandConfiguration { get }
    /// As in the request.
    static var action: String { get }

    /// Writes members of the body other than the action and the time.
    func write(to json: inout JSONWriter) throws
}

extension PushAction {
    func write(to json: inout JSONWriter) throws {}
}

struct Push<Action: PushAction>: AsyncParsableCommand {
    static var configuration: CommandConfiguration { Action.configuration }

    @OptionGroup var device: DeviceArgument
    @OptionGroup var action: Action
    @OptionGroup var clock: ClockOption
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        let answer = try await place.connect().post(device.path("push")) { json in
            json.member("action", Action.action)
            try action.write(to: &json)
            json.member("time", clock.time)
        }
        if place.isJSON { return try Output.answer(answer.line, to: answer) }
        var pages = Pages.events(isJSON: false, withUser: true)
        try pages.print(answer.objects("events"))
        let device = device.shown
        let what = pages.count == 0 ? "Nothing happened on \(device)" : "\(device): \(Phrase.queue(answer))"
        Output.message(
            "\(what); \(answer["underway"].elements.count) on the way, \(answer["shown"].elements.count) shown, "
                + "\(answer["captured"].elements.count) captured.")
    }
}

/// `--push`, of commands about one.
struct PushOption: ParsableArguments {
    @Option(
        parsing: .unconditional, help: .init("The push, by a position (default: the newest).", valueName: "position"))
    var push: UInt64?

    func write(to json: inout JSONWriter) { if let push { json.member("push", push) } }
}

struct PushDeliver: PushAction {
    static let action = "deliver"
    static let configuration = CommandConfiguration(
        "deliver", "The network delivers what is on its way to the device.",
        examples: """
            profilecli push deliver
            profilecli push deliver phone-1 --limit 1
            """)

    @Option(parsing: .unconditional, help: .init("How many at most (default: all).", valueName: "count"))
    var limit: UInt64?

    func write(to json: inout JSONWriter) { if let limit { json.member("limit", limit) } }
}

struct PushReceive: PushAction {
    static let action = "receive"
    static let configuration = CommandConfiguration(
        "receive", "The device gets a push that this store did not send.",
        examples: """
            profilecli push receive --payload '{"aps": {"alert": "Hi"}}'
            profilecli push receive --payload @push.json
            profilecli push receive phone-1 --payload '{"aps": {"alert": "Hi"}, "ab": {}}'
            """)

    @Option(
        parsing: .unconditional,
        help: .init("What the device gets; @FILE, or - for standard input.", valueName: "json"))
    var payload: String
    @Option(help: "The ID of its campaign.") var message: String?
    @Option(help: .init("A later push with the same ID replaces it.", valueName: "id")) var collapseId: String?
    @Option(help: .init("The time after which it is not delivered.", valueName: "time")) var expiry: String?

    func write(to json: inout JSONWriter) throws {
        json.member("payload", .object(try TypedDocument.object(payload, "--payload")))
        json.member("message", message)
        json.member("collapse_id", collapseId)
        json.member("expiry", expiry)
    }
}

struct PushExpand: PushAction {
    enum Way: String, ExpressibleByArgument, CaseIterable {
        case longPress = "long_press"
        case swipeDown = "swipe_down"
        case view
    }

    static let action = "expand"
    static let configuration = CommandConfiguration(
        "expand", "The user expands a push: its category decides which interface.",
        examples: """
            profilecli push expand
            profilecli push expand phone-1 --way swipe_down
            """)

    @OptionGroup var push: PushOption
    @Option(help: "How (default: long_press).") var way: Way?

    func write(to json: inout JSONWriter) {
        push.write(to: &json)
        json.member("way", way?.rawValue)
    }
}

struct PushInput: PushAction {
    static let action = "input"
    static let configuration = CommandConfiguration(
        "input", "The user writes into the content extension.", "The text is not stored.",
        examples: "profilecli push input --text jane@example.com")

    @OptionGroup var push: PushOption
    @Option(parsing: .unconditional, help: "What the user writes.") var text: String

    func write(to json: inout JSONWriter) {
        push.write(to: &json)
        json.member("text", text)
    }
}

struct PushAct: PushAction {
    enum Response: String, ExpressibleByArgument, CaseIterable {
        case dismiss
        case doNotDismiss = "do_not_dismiss"
        case dismissAndForward = "dismiss_and_forward"
        case never
    }

    static let action = "act"
    static let configuration = CommandConfiguration(
        "act", "The user chooses an action of an expanded push.",
        "--response never: the extension never calls its completion handler.",
        examples: """
            profilecli push act --button REGISTER
            profilecli push act phone-1 --button REGISTER --response dismiss_and_forward
            """)

    @OptionGroup var push: PushOption
    @Option(help: .init("The identifier of the action.", valueName: "id")) var button: String
    @Option(help: .init("What the extension answers.", valueName: "response")) var response: Response?

    func write(to json: inout JSONWriter) {
        push.write(to: &json)
        json.member("button", button)
        json.member("response", response?.rawValue)
    }
}

struct PushOpen: PushAction {
    static let action = "open"
    static let configuration = CommandConfiguration(
        "open", "The user taps a push: the app opens, and flushes what waits.",
        examples: """
            profilecli push open
            profilecli push open phone-1 --push 12
            """)

    @OptionGroup var push: PushOption

    func write(to json: inout JSONWriter) { push.write(to: &json) }
}

struct PushDismiss: PushAction {
    static let action = "dismiss"
    static let configuration = CommandConfiguration(
        "dismiss", "The user removes a push.",
        examples: """
            profilecli push dismiss
            profilecli push dismiss phone-1 --push 12
            """)

    @OptionGroup var push: PushOption

    func write(to json: inout JSONWriter) { push.write(to: &json) }
}

struct PushInitialize: PushAction {
    static let action = "initialize"
    static let configuration = CommandConfiguration(
        "initialize", "The app makes its instance of the SDK, which processes captured pushes.",
        examples: "profilecli push initialize phone-1")
}

struct PushForceQuit: PushAction {
    static let action = "force_quit"
    static let configuration = CommandConfiguration(
        "force-quit", "The user swipes the app away: no silent push until the next launch.",
        examples: "profilecli push force-quit phone-1")
}
