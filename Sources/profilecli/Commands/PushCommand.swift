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
            PushList.self, OnDevice<PushDeliver>.self, OnDevice<PushReceive>.self, OnDevice<PushExpand>.self,
            OnDevice<PushInput>.self, OnDevice<PushAct>.self, OnDevice<PushOpen>.self, OnDevice<PushDismiss>.self,
            OnDevice<PushInitialize>.self, OnDevice<PushForceQuit>.self, PushCompare.self,
        ], defaultSubcommand: PushList.self)
}

struct PushList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "list", "List pushes on their way, on the screen, and captured (default).",
        examples: """
            profilecli push
            profilecli push list phone-1 --format json
            profilecli push list phone-1 --as-of 1200
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var past: PastOptions
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        try await place.show(device.path("pushes"), past.query) { Self.lines($0, device.shown) }
    }

    static func lines(_ answer: JSONObject, _ device: String) -> [String] {
        var table = Table("#PUSH", "STATE!", "USER", "MESSAGE", "SINCE!")
        for (key, state) in [("underway", "on its way"), ("shown", ""), ("captured", "captured")] {
            for push in answer.objects(Name(key)) {
                let screen = push["screen"].text?.replacing("_", with: " ")
                table.add(
                    push["push"].cell, screen ?? state, push["user"].cell, push["message"].cell,
                    Phrase.time(push["at"]))
            }
        }
        return table.linesIfAny() + [counts(answer, to: " to \(device)") + "."]
    }

    /// `2 on the way, 1 shown, 0 captured`
    static func counts(_ answer: JSONObject, to device: String = "") -> String {
        "\(answer["underway"].elements.count) on the way\(device), \(answer["shown"].elements.count) shown, "
            + "\(answer["captured"].elements.count) captured"
    }
}

/// Something that happens to the pushes of a device.
protocol PushAction: DeviceAction {}

extension PushAction {
    static var path: String { "push" }
    static var action: String? { configuration.commandName?.replacing("-", with: "_") }

    func lines(_ answer: JSONObject, on device: DeviceArgument) -> [String] {
        Pages.table(ofEvents: answer.objects("events"), withUser: true).linesIfAny()
    }

    func note(_ answer: JSONObject, on device: DeviceArgument) -> String? {
        let hasEvents = !answer["events"].elements.isEmpty
        let what =
            hasEvents ? "\(device.shown): \(Phrase.queue(answer))" : "Nothing happened on \(device.shown)"
        return "\(what); \(PushList.counts(answer))."
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
    static let configuration = CommandConfiguration(
        "initialize", "The app makes its instance of the SDK, which processes captured pushes.",
        examples: "profilecli push initialize phone-1")
}

struct PushForceQuit: PushAction {
    static let configuration = CommandConfiguration(
        "force-quit", "The user swipes the app away: no silent push until the next launch.",
        examples: "profilecli push force-quit phone-1")
}
