internal import ArgumentParser
internal import ProfileLog

/// What every save and every log can say about itself.
struct WriteOptions: ParsableArguments {
    @Option(
        name: [.long, .customLong("time")], parsing: .unconditional,
        help: ArgumentHelp("When it happened, as in 2026-01-31T23:59:59Z; now if left out.", valueName: "time"))
    var at: String?

    @Option(
        name: .long,
        help: ArgumentHelp("An idempotency key: the same write, run again, changes nothing.", valueName: "text"))
    var key: String?

    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp("Refuse unless the user has so many events; none: is unknown.", valueName: "version|none"))
    var expect: String?

    mutating func validate() throws {
        if let at, OccurredAt(iso8601: at) == nil {
            throw ValidationError("--at must be a time as in 2026-01-31T23:59:59Z.")
        }
        if let expect, expect != "none", Int64(expect).map({ $0 >= 0 }) != true {
            throw ValidationError("--expect must be a version, as in 3, or none.")
        }
    }

    /// Writes what was given as members of a request's body.
    func write(user: String, device: String?, to json: inout JSONWriter) {
        json.key("user")
        json.value(user)
        json.member("device", device)
        json.member("time", at)
        json.member("key", key)
        guard let expect else { return }
        json.key("expect")
        if let version = Int64(expect) { json.value(version) } else { json.value(expect) }
    }

    /// The device of a USER of the form `device:ID`; an ID that none can have is an error of the USER.
    static func device(of user: String) -> String? {
        guard case .device(let device) = UserID(user), (1...Limits.bytesPerDevice).contains(device.utf8.count) else {
            return nil
        }
        return device
    }
}

/// Who saves, on which device, and where on it.
struct StorageOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("The app group's storage, which the app sees (default: group.app).", valueName: "name"))
    var appGroup: String?

    @Flag(
        name: .customLong("private"),
        help: "The process's own storage: what an extension keeps there, no launch flushes.")
    var isPrivate = false

    @Option(name: .long, help: ArgumentHelp("Who saves: app, or an extension's name.", valueName: "name"))
    var process: String?

    @Option(name: .long, help: ArgumentHelp("The ID that the device gave to the item.", valueName: "id"))
    var item: String?

    @Option(name: .long, help: ArgumentHelp("The device (default: phone).", valueName: "id"))
    var device: String?

    mutating func validate() throws {
        if let device { try Blank.refuse(device, "--device") }
        if isPrivate, appGroup != nil {
            throw ValidationError("--app-group and --private exclude each other. Leave out one.")
        }
    }

    /// Whether an extension keeps it to itself.
    var isHiddenFromApp: Bool { isPrivate && (process ?? "app") != "app" }

    func write(to json: inout JSONWriter) {
        json.member("app_group", appGroup)
        if isPrivate {
            json.key("private")
            json.value(true)
        }
        json.member("process", process)
        json.member("item", item)
    }
}

extension JSONWriter {
    /// Writes a text member, unless there is none.
    mutating func member(_ key: String, _ text: String?) {
        guard let text else { return }
        self.key(key)
        value(text)
    }
}
