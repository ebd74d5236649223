internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogNativeAPI

/// DEVICE, of commands that do something to one.
struct DeviceArgument: ParsableArguments {
    @Argument(help: "The device (default: phone).")
    var name: String?

    @Option(name: .customLong("device"), help: .hidden)
    var option: String?

    mutating func validate() throws {
        if device.isEmpty { throw ValidationError("DEVICE must not be empty. Name one, or omit it for phone.") }
        try Blank.refuse(device, "DEVICE")
        guard device.utf8.count <= Limits.bytesPerDevice else {
            throw ValidationError("DEVICE must have 1 to \(Limits.bytesPerDevice) bytes.")
        }
        if name != nil, option != nil { throw ValidationError("The device is named twice. Name it once.") }
    }

    var device: String { name ?? option ?? DefaultDevice.name }

    /// The name for messages.
    var shown: String { DisplayWidth.oneLine(device) }

    /// The path of a request about it.
    func path(_ action: String? = nil) -> String { Self.path(of: device, action) }

    /// The path of a request about `device`.
    static func path(of device: String, _ action: String? = nil) -> String {
        "/v1/devices/\(APIRequest.pathPart(device))" + (action.map { "/\($0)" } ?? "")
    }
}

/// `--at`.
struct ClockOption: ParsableArguments {
    @Option(
        name: [.long, .customLong("time")], parsing: .unconditional,
        help: .init("When, by the device's clock, as in 2026-01-31T23:59:59Z.", valueName: "time"))
    var at: String?

    func write(to json: inout JSONWriter) { json.member("time", at) }
}

/// `device settings`: what is changed.
struct SettingsOptions: ParsableArguments {
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

    @Option(help: "automatic: the SDK sends by itself; manual: when `device send` asks.")
    var requestPolicy: Policy?

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

    mutating func validate() throws {
        // A session ends when the app has been away for this long, so that none can end at once.
        if try Self.seconds(sessionTimeout, "--session-timeout") == 0 {
            throw ValidationError("--session-timeout must be 1s at least.")
        }
        _ = try JSONWriter.object(write)
    }

    /// Whether nothing is to be changed.
    var isEmpty: Bool {
        network == nil && sdk == nil && requestPolicy == nil && flushInterval == nil && sessionTimeout == nil
            && withoutAppGroup.isEmpty && withAppGroup.isEmpty
    }

    func write(to json: inout JSONWriter) throws {
        if let network { json.member("online", network == .online) }
        if let sdk { json.member("sdk_enabled", sdk == .enabled) }
        json.member("request_policy", requestPolicy?.rawValue)
        for (key, span, option) in [
            ("flush_interval_s", flushInterval, "--flush-interval"),
            ("session_timeout_s", sessionTimeout, "--session-timeout"),
        ] {
            if let seconds = try Self.seconds(span, option) { json.member(key, seconds) }
        }
        for (key, targets, option) in [
            ("without_app_groups", withoutAppGroup, "--without-app-group"),
            ("with_app_groups", withAppGroup, "--with-app-group"),
        ] where !targets.isEmpty {
            json.member(key, .array(try targets.map { try Self.target($0, option) }))
        }
    }

    /// A number of seconds, or a number and a unit.
    private static func seconds(_ span: String?, _ option: String) throws -> Int64? {
        guard let span else { return nil }
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
