internal import ArgumentParser

/// Whose preferences a file holds, of `import --user-defaults` and `export --user-defaults`.
struct AppGroupOptions: ParsableArguments {
    @Option(help: .init("With --user-defaults: the device (default: phone).", valueName: "id"))
    var device: String?

    @Option(help: .init("With --user-defaults: the app group (default: as the file is named).", valueName: "name"))
    var appGroup: String?

    mutating func validate() throws {
        if let appGroup, !AppGroup.isValid(appGroup) {
            throw ValidationError("--app-group must begin with group., as in group.com.company.app.")
        }
    }

    /// Whether any was typed.
    var isGiven: Bool { device != nil || appGroup != nil }
}

/// `profilecli import --user-defaults` and what belongs to it.
struct UserDefaultsImportOptions: ParsableArguments {
    @Option(
        name: .customLong("user-defaults"),
        help: .init(
            "Instead of JSON Lines: an app group's preferences, whose pending items are saved.", valueName: "file.plist"
        ),
        completion: .file(extensions: ["plist"]))
    var file: String?

    @OptionGroup var place: AppGroupOptions

    @Option(help: .init("With --user-defaults: who saved, app or an extension's name.", valueName: "name"))
    var process: String?

    @Option(help: .init("With --user-defaults: whose items they are, a USER (default: the device's)."))
    var user: String?

    @Option(
        help: .init("With --user-defaults: how user attributes may be coded: auto, swift or objc.", valueName: "name"))
    var language = UserAttributeCoding.Language.auto

    @Flag(help: "With --user-defaults: save nothing unless everything can be.")
    var strict = false

    mutating func validate() throws {
        if file == nil, place.isGiven || process != nil || user != nil || strict || language != .auto {
            throw ValidationError(
                "--device, --app-group, --process, --user, --language and --strict need --user-defaults FILE.")
        }
    }
}

/// `profilecli export --user-defaults` and what belongs to it.
struct UserDefaultsExportOptions: ParsableArguments {
    @Option(
        name: .customLong("user-defaults"),
        help: .init(
            "Instead of JSON Lines: what waits on a device, as an app group's preferences.", valueName: "file.plist"),
        completion: .file(extensions: ["plist"]))
    var file: String?

    @OptionGroup var place: AppGroupOptions

    @Flag(help: "With --user-defaults: write XML, whose dates have whole seconds (default: binary).")
    var xml = false

    mutating func validate() throws {
        if file == nil, place.isGiven || xml {
            throw ValidationError("--device, --app-group and --xml need --user-defaults FILE.")
        }
    }
}

/// An app group's name, which begins with `group.`.
enum AppGroup {
    static func isValid(_ name: String) -> Bool { name.hasPrefix("group.") && name.count > "group.".count }

    /// `given`, or the app group after which the preferences file at `path` is named.
    static func name(_ given: String?, path: String) throws -> String {
        if let given { return given }
        if let file = path.split(separator: "/").last, file.hasSuffix(".plist") {
            let name = String(file.dropLast(".plist".count))
            if isValid(name) { return name }
        }
        throw Failure(
            "The name of \(path) is not that of an app group, which begins with group. and ends with .plist.",
            remedy: "Add --app-group, as in --app-group group.com.company.app.", status: .usage)
    }
}
