internal import ArgumentParser
internal import ProfileLog

/// Where the store is, for commands that need its files.
///
/// It is no group of options: each level of groups makes a debug build's check of the declarations, at each start, four times as long.
struct StoreOption {
    static let help = ArgumentHelp("The store's folder (or PROFILELOG_STORE; else ./profilelog).", valueName: "folder")

    let store: String?

    func validate() throws {
        guard let store else { return }
        if store.isEmpty { throw ValidationError("--store must not be empty. Name a folder, or leave it out.") }
        TypedPlace.note(.store(store))
    }

    /// The folder, by option, environment or default.
    var path: String {
        store ?? Terminal.environment("PROFILELOG_STORE").flatMap { $0.isEmpty ? nil : $0 } ?? "profilelog"
    }

    /// Opens the store; a missing one is made if `create` is true, and a message says so. `projections` are as for `EventLog`.
    func open(
        create: Bool = false, projections: [any Projection.Type] = [ProfileProjection.self]
    ) throws -> EventLog {
        let isNew: Bool
        switch try StoreFolder(path: path) {
        case .store: isNew = false
        case .vacant: isNew = create
        case .foreign: throw StorageError.notAStore(path: path)
        case .unfinished:
            guard create else {
                throw Failure(
                    "The store in \(path) holds no event: its first write was stopped.",
                    remedy: "The next `save`, `log` or `import` finishes it.")
            }
            isNew = true
        }
        let log = try EventLog(path: path, create: create, projections: projections)
        if isNew { Output.message(DisplayWidth.oneLine("New store at \(path.contains("/") ? path : "./\(path)").")) }
        return log
    }
}

/// The store of a command that needs its files; users of other commands will try `--url` too.
struct StoreOnlyOption: ParsableArguments {
    @Option(name: .long, help: StoreOption.help, completion: .directory)
    var store: String?

    @Option(name: .long, help: .hidden)
    var url: String?

    private var place: StoreOption { StoreOption(store: store) }

    mutating func validate() throws {
        try place.validate()
        try Self.refuseService(url: url, store: store)
    }

    /// Refuses `--url`, and a service that the environment names, for work that needs a store's own files.
    static func refuseService(url: String?, store: String?) throws {
        if url != nil {
            throw ValidationError(
                "This command works on a store's own files. Leave out --url and name the folder with --store.")
        }
        let inEnvironment = Terminal.environment("PROFILELOG_URL") ?? ""
        if !inEnvironment.isEmpty, store == nil {
            throw ValidationError(
                "This command works on a store's own files, and PROFILELOG_URL names a service. "
                    + "Name the folder with --store.")
        }
    }

    /// The folder.
    var path: String { place.path }

    /// Opens the store; as for `StoreOption`.
    func open(
        create: Bool = false, projections: [any Projection.Type] = [ProfileProjection.self]
    ) throws -> EventLog {
        try place.open(create: create, projections: projections)
    }
}
