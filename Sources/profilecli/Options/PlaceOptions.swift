internal import ArgumentParser
internal import ProfileLog

/// A store, as a command line names it.
///
/// It is not a group of options: a debug build of ArgumentParser checks all declarations at each start, and each level
/// of groups multiplies that work.
struct StoreOption {
    static let help = ArgumentHelp("The store's folder (or PROFILELOG_STORE; else ./profilelog).", valueName: "folder")

    let store: String?

    func validate() throws {
        guard let store else { return }
        if store.isEmpty { throw ValidationError("--store must not be empty. Name a folder, or omit it.") }
        TypedPlace.note(.store(store))
    }

    /// The folder, by option, environment or default.
    var path: String { store ?? Terminal.environment("PROFILELOG_STORE") ?? "profilelog" }

    /// Opens the store; a missing one is made if `create` is true, and a message says so. `projections` are as for
    /// `EventLog`.
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

/// A store or a service, as a command line names it.
struct Place {
    static let urlHelp = ArgumentHelp("A running profiled instead of a store (or PROFILELOG_URL).", valueName: "url")

    let store: StoreOption
    let url: String?

    func validate() throws {
        try store.validate()
        guard let url else { return }
        if store.store != nil { throw ValidationError("--store and --url exclude each other. Omit one of them.") }
        TypedPlace.note(.service(url: url))
    }

    /// Connects to the service or opens the store; a missing store is made if `create` is true, by the first request
    /// that it accepts.
    func connect(create: Bool = false) throws -> any Connection {
        if let url = url ?? (store.store == nil ? Terminal.environment("PROFILELOG_URL") : nil) {
            return try RemoteAPI(url: url, key: Terminal.environment("PROFILELOG_KEY"))
        }
        if create, try StoreFolder(path: store.path) == .vacant { return NewStoreAPI(store) }
        return LocalAPI(try store.open(create: create))
    }
}

/// `--store`, for commands that their users may also try with `--url`.
struct StoreOnlyOption: ParsableArguments {
    @Option(help: StoreOption.help, completion: .directory)
    var store: String?

    @Option(help: .hidden)
    var url: String?

    var place: StoreOption { StoreOption(store: store) }

    mutating func validate() throws {
        try place.validate()
        try Self.refuseService(url: url, store: store)
    }

    /// Refuses `--url`, and a service that the environment names, for work that needs a store's own files.
    static func refuseService(url: String?, store: String?) throws {
        if url != nil {
            throw ValidationError(
                "This command works on a store's own files. Omit --url and name the folder with --store.")
        }
        if Terminal.environment("PROFILELOG_URL") != nil, store == nil {
            throw ValidationError(
                "This command works on a store's own files, and PROFILELOG_URL names a service. "
                    + "Name the folder with --store.")
        }
    }
}

/// `--store` or `--url`.
struct StoreOrService: ParsableArguments {
    @Option(help: StoreOption.help, completion: .directory)
    var store: String?

    @Option(help: Place.urlHelp)
    var url: String?

    var place: Place { Place(store: StoreOption(store: store), url: url) }

    mutating func validate() throws { try place.validate() }
}

/// How data is printed.
enum Format: String, ExpressibleByArgument, CaseIterable {
    case table, json
}

/// `--format`.
struct FormatOption: ParsableArguments {
    static let help: ArgumentHelp =
        "table, for people, with long cells cut; json, one whole object a line, for programs."

    @Option(help: help)
    var format = Format.table

    var isJSON: Bool { format == .json }
}

/// `--store`, `--url` and `--format`.
struct PlaceOptions: ParsableArguments {
    @Option(help: StoreOption.help, completion: .directory)
    var store: String?

    @Option(help: Place.urlHelp)
    var url: String?

    @Option(help: FormatOption.help)
    var format = Format.table

    private var place: Place { Place(store: StoreOption(store: store), url: url) }

    var isJSON: Bool { format == .json }

    mutating func validate() throws { try place.validate() }

    /// As `Place.connect`.
    func connect(create: Bool = false) throws -> any Connection { try place.connect(create: create) }

    /// Sends a write and prints the answer: as JSON, or as the sentence that `describe` makes of it.
    ///
    /// - Parameter remarks: messages for people and programs, once the write is done.
    @discardableResult
    func send(
        _ path: String, create: Bool = false, remarks: [String] = [], _ write: (inout JSONWriter) throws -> Void,
        describe: (JSONObject) -> String
    ) async throws -> JSONObject {
        let answer = try await connect(create: create).post(path, write)
        for remark in remarks { Output.message(DisplayWidth.oneLine(remark)) }
        try Output.answer(isJSON ? answer.line : describe(answer), to: answer)
        return answer
    }
}
