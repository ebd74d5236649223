internal import ArgumentParser

/// Whose preferences a file holds, of `import --user-defaults` and `export --user-defaults`.
struct AppGroupOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("With --user-defaults: the device (default: phone).", valueName: "id"))
    var device: String?

    @Option(
        name: .long,
        help: ArgumentHelp("With --user-defaults: the app group (default: as the file is named).", valueName: "name"))
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
        help: ArgumentHelp(
            "Instead of JSON Lines: an app group's preferences, whose pending items are saved.", valueName: "file.plist"
        ),
        completion: .file(extensions: ["plist"]))
    var file: String?

    @OptionGroup var place: AppGroupOptions

    @Option(
        name: .long,
        help: ArgumentHelp("With --user-defaults: who saved, app or an extension's name.", valueName: "name"))
    var process: String?

    @Option(
        name: .long, help: ArgumentHelp("With --user-defaults: whose items they are, a USER (default: the device's)."))
    var user: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "With --user-defaults: how user attributes may be coded: auto, swift or objc.", valueName: "name"))
    var language = UserAttributeCoding.Language.auto

    @Flag(name: .long, help: "With --user-defaults: save nothing unless everything can be.")
    var strict = false

    mutating func validate() throws {
        if file == nil, place.isGiven || process != nil || user != nil || strict || language != .auto {
            throw ValidationError(
                "--device, --app-group, --process, --user, --language and --strict belong to --user-defaults FILE."
            )
        }
    }
}

/// `profilecli export --user-defaults` and what belongs to it.
struct UserDefaultsExportOptions: ParsableArguments {
    @Option(
        name: .customLong("user-defaults"),
        help: ArgumentHelp(
            "Instead of JSON Lines: what waits on a device, as an app group's preferences.", valueName: "file.plist"),
        completion: .file(extensions: ["plist"]))
    var file: String?

    @OptionGroup var place: AppGroupOptions

    @Flag(name: .long, help: "With --user-defaults: write XML, whose dates have whole seconds; binary unless given.")
    var xml = false

    mutating func validate() throws {
        if file == nil, place.isGiven || xml {
            throw ValidationError("--device, --app-group and --xml belong to --user-defaults FILE.")
        }
    }
}
