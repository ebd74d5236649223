internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogNativeAPI

struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "device", "Simulate devices: how they are set up, and what happens to them.",
        examples: """
            profilecli device
            profilecli device settings phone-1 --offline
            profilecli device leave phone-1
            profilecli device send phone-1
            profilecli device log-out phone-1
            profilecli device remove-app phone-1
            """,
        subcommands: [
            DeviceList.self, DeviceShow.self, OnDevice<SettingsOptions>.self, OnDevice<DeviceLeave>.self,
            OnDevice<DeviceSend>.self, OnDevice<DeviceLogOut>.self, OnDevice<DeviceWipe>.self,
            OnDevice<DeviceRemoveApp>.self,
        ], defaultSubcommand: DeviceList.self)
}

struct DeviceList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "list", "List all devices (default).",
        examples: """
            profilecli device
            profilecli device list --format json
            profilecli device list --as-of "yesterday 14:00"
            """)

    @OptionGroup var past: PastOptions
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        var pages = Pages(isJSON: place.isJSON) { page in
            Table("DEVICE", "USER", "LAST LAUNCH!", "#WAITING", "#QUEUED", "SETTINGS", of: page) { device in
                [
                    device["device"].cell, device.object("user")["id"].cell,
                    device.flag("app_removed") ? "app removed" : Phrase.time(device.object("last_launch")["at"]),
                    device["waiting"].cell, device["queued"].cell, Phrase.settings(device.object("settings")),
                ]
            }
        }
        try await pages.print("devices", of: "/v1/devices", by: place.connect(), past.query) {
            [("after", $0["device"].cell)]
        }
        if pages.count == 0, past.asOf == nil { Output.message(Suggestion.next("save event jane opened")) }
    }
}

struct DeviceShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "show", "Show a device: its user, its session, its settings, and what it holds.",
        examples: """
            profilecli device show
            profilecli device show phone-1 --format json
            profilecli device show phone-1 --as-of 1200
            """)

    @OptionGroup var device: DeviceArgument
    @OptionGroup var past: PastOptions
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        try await place.show(device.path(), past.query, lines: lines)
    }

    private func lines(_ answer: JSONObject) -> [String] {
        var table = Table("WHAT", "OF \(device.shown)")
        table.add("user", answer.object("user")["id"].text ?? "none")
        let never = answer.flag("app_removed") ? "the app was removed" : "never"
        table.add("last launch", Self.moment(answer.object("last_launch")) ?? never)
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
        let isDisabled = answer.object("settings")["sdk_enabled"].flag == false
        let why = isDisabled ? "disabled" : queued > 0 ? answer["why_queued"].text : nil
        let next = Suggestion.afterQueueing(why, device.device)
        let what = "\(Phrase.waiting(answer.count("waiting"))) on \(device.shown), \(queued) queued"
        return table.lines() + [past.asOf == nil ? "\(what). \(Suggestion.next(next))" : "\(what) then."]
    }

    private static func moment(_ moment: JSONObject) -> String? {
        moment["position"].integer.map { "position \($0), \(Phrase.time(moment["at"]))" }
    }
}

/// The app leaves the foreground.
struct DeviceLeave: DeviceAction {
    static let configuration = CommandConfiguration(
        "leave", "The app leaves the foreground.",
        "If it comes back within the session timeout, the session goes on; else the next launch ends it.",
        examples: """
            profilecli device leave
            profilecli device leave phone-1 --at 2026-01-31T12:00:00Z
            """)

    func lines(_ answer: JSONObject, on device: DeviceArgument) -> [String] {
        let what =
            answer.flag("left")
            ? "The app left the foreground of \(device.shown) at position \(answer["position"].cell)"
            : "The app is away from the foreground of \(device.shown) already; nothing was stored"
        let timeout = Phrase.span(answer["session_timeout_s"])
        let next = Suggestion.next("launch \(Shell.device(device.device)) --kind return")
        return ["\(what). Its session goes on if it comes back within \(timeout). \(next)"]
    }
}

struct DeviceSend: DeviceAction {
    static let configuration = CommandConfiguration(
        "send", "The app asks the SDK to send what it has queued.",
        """
        As requestImmediateDataFlush does: also under the manual request policy and before the flush interval is over, \
        but not without a network and not by a disabled SDK. With --if-due the SDK's own timer asks instead.
        """,
        examples: """
            profilecli device send
            profilecli device send phone-1 --if-due --at 2026-01-31T12:00:10Z
            """)

    @Flag(help: "Send only if the request policy and the flush interval let the SDK do so by itself.")
    var ifDue = false

    func write(to json: inout JSONWriter) { json.member("requested", !ifDue) }

    func lines(_ answer: JSONObject, on device: DeviceArgument) -> [String] {
        let sent = answer.count("queued") == 0 ? answer.objects("sent").last : nil
        let next =
            sent.map { Suggestion.profile(of: JSONObject(.object([.init("id", $0["user"])]))) }
            ?? Suggestion.afterQueueing(answer["why"].text, device.device)
        return ["\(device.shown): \(Phrase.queue(answer)). \(Suggestion.next(next))"]
    }
}

struct DeviceLogOut: UserLeaving {
    static let configuration = CommandConfiguration(
        "log-out", "The user leaves the device: the SDK discards what it has not sent, and is disabled.",
        """
        What extensions have saved goes on waiting: it is their user's. The next user is a new anonymous one, or comes \
        with `profilecli change-user`; `device settings --enable-sdk` turns the SDK on.
        """,
        examples: """
            profilecli device log-out
            profilecli device log-out phone-1
            """)
}

struct DeviceWipe: UserLeaving {
    static let configuration = CommandConfiguration(
        "wipe", "The SDK forgets its user, and discards what it has not sent.",
        "As wipeData does. What extensions have saved goes on waiting; the SDK stays as enabled as it was.",
        examples: """
            profilecli device wipe
            profilecli device wipe phone-1
            """)
}

struct DeviceRemoveApp: DeviceAction {
    static let path = "remove"
    static let configuration = CommandConfiguration(
        "remove-app", "The app is removed, with what waits and what the SDK has not sent.",
        """
        Its app groups and its user go too; what was there is listed as discarded. The next launch installs the app \
        again: it has a new anonymous user, and asks for permission to show pushes.
        """,
        examples: """
            profilecli device remove-app
            profilecli device remove-app phone-1
            """)

    func lines(_ answer: JSONObject, on device: DeviceArgument) -> [String] {
        let next = Suggestion.next("launch \(Shell.device(device.device))")
        guard answer.flag("changed") else {
            return ["The app was removed from \(device.shown) already; nothing was stored. \(next)"]
        }
        let discarded = answer.objects("discarded")
        let what =
            "The app was removed from \(device.shown) at position \(answer["position"].cell); "
            + "\(answer.id("previous") ?? "no user") was on it; "
            + "\(Number.counted(UInt64(discarded.count), "item")) discarded. \(next)"
        let table = Table("OUTCOME!", "#SAVED@", "USER", "LIST!", "WHAT", "REASON", of: discarded) { item in
            [
                item["outcome"].cell, item["position"].cell, item["user"].cell, Phrase.list(item),
                Phrase.content(item.withoutReason), item["reason"].cell,
            ]
        }
        return [what] + table.linesIfAny()
    }
}

/// Something that happens to a device, with its own arguments.
protocol DeviceAction: ParsableArguments {
    static var configuration: CommandConfiguration { get }
    /// The last part of the request's path.
    static var path: String { get }
    /// The member `action` of the body, where a path has several.
    static var action: String? { get }

    /// Writes members of the body other than the action and the time.
    func write(to json: inout JSONWriter) throws
    /// The answer for people.
    func lines(_ answer: JSONObject, on device: DeviceArgument) -> [String]
    /// A sentence about the answer, for standard error.
    func note(_ answer: JSONObject, on device: DeviceArgument) -> String?
}

extension DeviceAction {
    static var path: String { configuration.commandName ?? "" }
    static var action: String? { nil }
    func write(to json: inout JSONWriter) {}
    func note(_ answer: JSONObject, on device: DeviceArgument) -> String? { nil }
}

/// `profilecli device leave` and the others: an action on a device.
struct OnDevice<Action: DeviceAction>: AsyncParsableCommand {
    static var configuration: CommandConfiguration { Action.configuration }

    @OptionGroup var device: DeviceArgument
    @OptionGroup var action: Action
    @OptionGroup var clock: ClockOption
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        if let settings = action as? any SettingsAction, settings.isEmpty {
            return try await settings.show(device, place)
        }
        let answer = try await place.send(device.path(Action.path)) { json in
            json.member("action", Action.action)
            try action.write(to: &json)
            json.member("time", clock.time)
        } lines: {
            action.lines($0, on: device)
        }
        if !place.isJSON, let note = action.note(answer, on: device) { Output.message(note) }
    }
}

/// An action that changes settings, or shows them if it has no option.
protocol SettingsAction: DeviceAction {
    var isEmpty: Bool { get }
    /// Its part of a device's settings.
    static func part(of settings: JSONObject) -> JSONObject
    static func rows(of settings: JSONObject) -> [(name: String, value: String)]
}

extension SettingsAction {
    func show(_ device: DeviceArgument, _ place: PlaceOptions) async throws {
        let settings = Self.part(of: try await place.connect().get(device.path()).object("settings"))
        if place.isJSON { return try Output.print(settings.value == .null ? "{}" : settings.line) }
        guard settings.value != .null else { return try Output.print("The defaults (docs/in-app-messages.md).") }
        let table = Table("SETTING", "OF \(device.shown)", of: Self.rows(of: settings)) { [$0.name, $0.value] }
        try Output.print(table.lines())
    }
}

protocol UserLeaving: DeviceAction {}

extension UserLeaving {
    func lines(_ answer: JSONObject, on device: DeviceArgument) -> [String] {
        let discarded = UInt64(answer["discarded"].elements.count)
        let verb = discarded == 1 ? "is" : "are"
        let unsent =
            discarded == 0 ? "" : "; \(Number.counted(discarded, "item")) that the SDK had not sent \(verb) discarded"
        let what =
            answer.flag("changed")
            ? "\(answer.id("previous") ?? "no user") left \(device.shown) at position "
                + "\(answer["position"].cell)\(unsent)"
            : "No user is on \(device.shown); nothing was stored"
        let shell = Shell.device(device.device)
        let next = answer.flag("sdk_enabled") ? "launch \(shell)" : "device settings \(shell) --enable-sdk"
        return ["\(what); \(Phrase.waiting(answer.count("waiting"))). \(Suggestion.next(next))"]
    }
}

/// DEVICE, of commands that do something to one.
struct DeviceArgument: ParsableArguments {
    @Argument(help: "The device (default: phone).") var name: String?
    @Option(name: .customLong("device"), help: .hidden) var option: String?

    mutating func validate() throws {
        if device.isEmpty { throw ValidationError("DEVICE must not be empty. Name one, or omit it for phone.") }
        try Blank.refuse(device, "DEVICE")
        guard device.utf8.count <= Limits.bytesPerDevice else {
            throw ValidationError("DEVICE must have 1 to \(Limits.bytesPerDevice) bytes.")
        }
        if name != nil, option != nil { throw ValidationError("The device is named twice. Name it once.") }
    }

    var device: String { name ?? option ?? DefaultDevice.name }
    var shown: String { device.oneLine }
    func path(_ action: String...) -> String { Self.path([device] + action) }

    /// The path of a request about a device: its name and what is to be done.
    static func path(_ parts: [String]) -> String {
        "/v1/devices/" + parts.map(APIRequest.pathPart).joined(separator: "/")
    }
}

struct ClockOption: ParsableArguments {
    @Option(
        name: [.long, .customLong("time")], parsing: .unconditional,
        help: .init("When, by the device's clock, as in 2026-01-31T23:59:59Z.", valueName: "time"))
    var at: String?

    /// As a request has it.
    var time: String? { at.map(LocalMoment.time) }
}

/// `profilecli device settings`
struct SettingsOptions: SettingsAction {
    static let configuration = CommandConfiguration(
        "settings", "Set up a device's network, SDK, sessions, app groups and push.",
        "What the device may then send is sent at once. Without an option, the settings are shown.",
        examples: """
            profilecli device settings phone-1 --offline
            profilecli device settings phone-1 --request-policy manual
            profilecli device settings --session-timeout 30m --flush-interval 10s
            profilecli device settings --without-app-group PushContent:group.app
            profilecli device settings --permission denied
            profilecli device settings --content-extension @PushContent/Info.plist
            """)

    enum Network: String, EnumerableFlag {
        case online, offline

        static func help(for value: Network) -> ArgumentHelp? {
            value == .online ? "There is a network." : "There is none: the SDK queues what it takes."
        }
    }

    enum SDK: EnumerableFlag {
        case enabled, disabled

        static func name(for value: SDK) -> NameSpecification {
            .customLong(value == .enabled ? "enable-sdk" : "disable-sdk")
        }

        static func help(for value: SDK) -> ArgumentHelp? {
            value == .enabled ? "The SDK runs." : "The SDK takes nothing and sends nothing."
        }
    }

    enum Policy: String, ExpressibleByArgument, CaseIterable { case automatic, manual }

    @Flag var network: Network?
    @Flag var sdk: SDK?
    @Option(help: "automatic: the SDK sends by itself; manual: when `device send` asks.") var requestPolicy: Policy?

    @Option(
        parsing: .unconditional,
        help: .init("The least time between two sends, as in 10s; 0: at once.", valueName: "span"))
    var flushInterval: String?

    @Option(
        parsing: .unconditional,
        help: .init("For how long the app may be away in one session, as in 30m.", valueName: "span"))
    var sessionTimeout: String?

    @Option(
        help: .init(
            "A target that lacks the capability: what it saves stays private. Repeatable.", valueName: "process:group"))
    var withoutAppGroup: [String] = []

    @Option(help: .init("A target that has it again. Repeatable.", valueName: "process:group"))
    var withAppGroup: [String] = []

    enum Permission: String, ExpressibleByArgument, CaseIterable {
        case granted, denied
        case notAsked = "not_asked"
    }

    enum ServerEvents: String, ExpressibleByArgument, CaseIterable {
        case swift
        case objectiveC = "objective-c"
        case off
    }

    @Option(help: "Whether pushes may be shown.") var permission: Permission?
    @Option(help: "The app's handler of silent pushes for a server's event.") var serverEvents: ServerEvents?

    @Option(
        parsing: .unconditional,
        help: .init(
            "The app's content extension, or null (docs/push.md); @FILE of JSON or its Info.plist, "
                + "- for standard input.",
            valueName: "json"))
    var contentExtension: String?

    @Option(
        parsing: .unconditional,
        help: .init("How the app delays the SDK, or null (docs/push.md); @FILE or -.", valueName: "json"))
    var startup: String?

    @Option(
        parsing: .unconditional,
        help: .init(
            "Settings of in-app messages, as `messages settings` has them (docs/in-app-messages.md); @FILE or -.",
            valueName: "json"))
    var messages: String?

    mutating func validate() throws {
        // No session can end at once.
        if let sessionTimeout, try Self.seconds(sessionTimeout, "--session-timeout") == 0 {
            throw ValidationError("--session-timeout must be 1s at least.")
        }
        // Files are read later.
        if !documents.contains(where: { TypedDocument.isFile($0.text) }) { _ = try JSONWriter.object(write) }
    }

    var isEmpty: Bool { documents.isEmpty && (try? JSONWriter.object(write)) == "{}" }

    private var documents: [(key: String, text: String)] {
        [("content_extension", contentExtension), ("startup", startup), ("messages", messages)].compactMap {
            key, text in
            text.map { (key, $0) }
        }
    }

    func write(to json: inout JSONWriter) throws {
        if let network { json.member("online", network == .online) }
        if let sdk { json.member("sdk_enabled", sdk == .enabled) }
        json.member("request_policy", requestPolicy?.rawValue)
        for (key, span) in [("flush_interval_s", flushInterval), ("session_timeout_s", sessionTimeout)] {
            if let span { json.member(key, try Self.seconds(span, CommandError.option(key.dropLast(2)))) }
        }
        for (key, targets) in [("without_app_groups", withoutAppGroup), ("with_app_groups", withAppGroup)]
        where !targets.isEmpty {
            json.member(key, .array(try targets.map { try Self.target($0, CommandError.option(key.dropLast())) }))
        }
        json.member("permission", permission?.rawValue)
        json.member("server_events", serverEvents?.rawValue)
        for (key, text) in documents {
            let place = CommandError.option(key[...])
            json.member(
                key,
                key == "content_extension"
                    ? try TypedDocument.contentExtension(text, place) : try TypedDocument.value(text, place))
        }
    }

    func lines(_ answer: JSONObject, on device: DeviceArgument) -> [String] {
        let words = Phrase.settings(answer.object("settings"))
        let what =
            answer.flag("changed")
            ? "\(device.shown) is set up at position \(answer["position"].cell): \(words)"
            : "\(device.shown) was set up so already (\(words)); nothing was stored"
        let isEnabled = answer.object("settings")["sdk_enabled"].flag
        let next = Suggestion.afterQueueing(isEnabled == false ? "disabled" : answer["why"].text, device.device)
        return ["\(what); \(Phrase.queue(answer)). \(Suggestion.next(next))"]
    }

    static func part(of settings: JSONObject) -> JSONObject { settings }

    static func rows(of settings: JSONObject) -> [(name: String, value: String)] {
        Phrase.settingsInFull(settings)
    }

    /// A number of seconds, or a number and a unit.
    static func seconds(_ span: String, _ option: String) throws -> Int64 {
        guard let seconds = Int64(span) ?? DurationText.parse(span)?.components.seconds,
            (0...Int64(UInt32.max)).contains(seconds)
        else { throw ValidationError("\(option) must be seconds, or a number followed by s, m, h or d, as in 90s.") }
        return seconds
    }

    /// `PROCESS:GROUP`; a group's name has no colon.
    private static func target(_ text: String, _ option: String) throws -> AttributeValue {
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")), colon > text.startIndex,
            let process = String(text.utf8[..<colon]), let group = String(text.utf8[text.utf8.index(after: colon)...])
        else { throw ValidationError("\(option) is written PROCESS:GROUP, as in PushContent:group.app.") }
        return .object([.init("app_group", .string(group)), .init("process", .string(process))])
    }
}
