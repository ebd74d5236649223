internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogRequests

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Check and show the settings of the service.",
        discussion: """
            A setting comes from a flag, else from its variable of the environment, else from the file, else it has \
            its default. docs/configuration.md lists all of them. The file is the one that --config or \
            $PROFILED_CONFIG names, else \(ConfigurationSource.usualPath) if it exists.
            """,
        subcommands: [ConfigCheck.self, ConfigShow.self, ConfigPage.self])
}

struct ConfigCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Tell all that is wrong with the settings; nothing is changed.",
        discussion: """
            Names each error with its line and column, and looks at what the settings name as a start would: files \
            that must be read or written, keys, the folder of the store. Run it as the user of the service. Exit \
            code 0: a service could start; 1: it could not.

            EXAMPLES
              profiled config check
              profiled config check --config new.yaml
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var options: ServiceOptions

    func run() throws {
        let configuration: Configuration
        do throws(ConfigurationErrors) {
            configuration = try ConfigurationSource(Setting.Flags(store: store, service: options)).read()
        } catch {
            try refuse(error.all)
            return
        }
        for note in configuration.notes { Console.note("profiled: \(note)") }
        let errors = ConfigurationCheck.errors(in: configuration.settings)
        guard errors.isEmpty else { return try refuse(errors) }
        let place = configuration.file.map { "The configuration \($0)" } ?? "The configuration, without a file,"
        let given = configuration.origins.count
        try Console.print("\(place) is good: \(given) of \(Setting.all.count) settings are given.")
    }

    private func refuse(_ errors: [ConfigurationError]) throws {
        for error in errors { Console.note("profiled: \(error.sentence)", error.remedy) }
        throw ExitCode.failure
    }
}

struct ConfigShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show each setting, its value, and where that came from.",
        discussion: """
            FROM is `flag`, `environment`, the file with the line, or `default`. SIGHUP changes a setting in a \
            running service if RELOAD is yes.

            EXAMPLES
              profiled config show
              profiled config show --json
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var options: ServiceOptions
    @Flag(help: "One JSON object a line.") var json = false

    func run() throws {
        try KeysCommand.reporting {
            let source = ConfigurationSource(Setting.Flags(store: store, service: options))
            let configuration = try source.read()
            if json {
                for setting in Setting.all { try Console.print(Self.object(setting, configuration).json) }
            } else {
                try Console.printTable(
                    [["KEY", "RELOAD", "FROM", "VALUE"]]
                        + Setting.all.map { setting -> [String] in
                            let value = setting.json(configuration.settings).map { Setting.text($0) }
                            return [
                                setting.key, setting.words.reloads ? "yes" : "no", Self.origin(setting, configuration),
                                value ?? "",
                            ]
                        })
            }
            for note in configuration.notes { Console.note("profiled: \(note)") }
            Console.note(configuration.file.map { "The file \($0) was read." } ?? "No file was read.")
        }
    }

    private static func origin(_ setting: Setting, _ configuration: Configuration) -> String {
        switch configuration.origin(of: setting) {
        case .flag: "--\(setting.flag)"
        case .environment: "$\(setting.variable)"
        case .file(let line): "\(configuration.file ?? ""):\(line)"
        case .fallback: "default"
        }
    }

    private static func object(_ setting: Setting, _ configuration: Configuration) -> AttributeValue {
        var from = "default"
        var (file, line): (AttributeValue?, AttributeValue?) = (nil, nil)
        switch configuration.origin(of: setting) {
        case .flag: from = "flag"
        case .environment: from = "environment"
        case .file(let number):
            from = "file"
            file = .string(configuration.file ?? "")
            line = .int(Int64(number))
        case .fallback: break
        }
        return [
            "key": .string(setting.key), "value": setting.json(configuration.settings) ?? .null,
            "from": .string(from), "file": file, "line": line, "flag": .string("--\(setting.flag)"),
            "variable": .string(setting.variable), "reloads": .bool(setting.words.reloads),
        ]
    }
}

/// The part of docs/configuration.md that the table of settings makes.
struct ConfigPage: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "page", abstract: "Print the list of all settings as Markdown.", shouldDisplay: false)

    func run() throws {
        var group: Substring?
        for setting in Setting.all {
            let parts = setting.key.split(separator: ".")
            let own = parts.count > 1 ? parts[0] : ""
            if own != group {
                let title = own.isEmpty ? "Settings without a group" : "`\(own)`"
                let isAgain = group != nil && own.isEmpty
                if !isAgain { try Console.print("", "## \(title)") }
                group = own
            }
            try Console.print("", "### \(setting.key)", "")
            for line in Self.lines(setting) { try Console.print(line) }
        }
    }

    private static func lines(_ setting: Setting) -> [String] {
        let value = setting.words.valueName ?? setting.flag
        // A switch has no value.
        let isSwitch = setting.json(ServiceSettings()).map { $0 == .bool(false) } ?? false
        let fallback = setting.defaultText.isEmpty ? "none" : setting.defaultText
        return [
            setting.words.help, "",
            "* flag `--\(setting.flag)\(isSwitch ? "" : " \(value.uppercased())")`, variable `\(setting.variable)`",
            "* \(setting.words.rule)", "* default: \(fallback)",
            "* \(setting.words.reloads ? "SIGHUP changes it in a running service" : "a change needs a restart")",
        ]
    }
}
