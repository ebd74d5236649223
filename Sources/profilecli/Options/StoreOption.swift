internal import ArgumentParser
internal import ProfileLog

/// Where the store is, for commands that need its files.
struct StoreOption: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("The store's folder (or PROFILELOG_STORE; else ./profilelog).", valueName: "folder"),
        completion: .directory)
    var store: String?

    /// The folder, by option, environment or default.
    var path: String {
        store ?? Terminal.environment("PROFILELOG_STORE").flatMap { $0.isEmpty ? nil : $0 } ?? "profilelog"
    }

    /// Opens the store.
    func open(create: Bool = false) throws -> EventLog { try EventLog(path: path, create: create) }
}

/// As `StoreOption`, for commands that other commands' users will try with `--url`.
struct StoreOnlyOption: ParsableArguments {
    @OptionGroup var place: StoreOption

    @Option(name: .long, help: .hidden)
    var url: String?

    mutating func validate() throws {
        if url != nil {
            throw ValidationError(
                "This command works on a store's own files. Leave out --url and name the folder with --store.")
        }
        let inEnvironment = Terminal.environment("PROFILELOG_URL") ?? ""
        if !inEnvironment.isEmpty, place.store == nil {
            throw ValidationError(
                "This command works on a store's own files, and PROFILELOG_URL names a service. "
                    + "Name the folder with --store.")
        }
    }

    /// The folder.
    var path: String { place.path }

    /// Opens the store.
    func open(create: Bool = false) throws -> EventLog { try place.open(create: create) }
}
