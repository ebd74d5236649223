internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogBrazeAPI

/// A store or a service, as a command line names it. The groups repeat their options instead of containing each other:
/// each level of groups multiplies the time that a debug build of ArgumentParser takes to check all declarations.
protocol PlaceArguments: ParsableArguments {
    var store: String? { get }
    var url: String? { get }
    /// A file of certificates to trust.
    var ca: String? { get }
    /// The files of the client's certificate and of its key.
    var certificate: String? { get }
    var certificateKey: String? { get }
}

extension PlaceArguments {
    var ca: String? { nil }
    var certificate: String? { nil }
    var certificateKey: String? { nil }

    /// The files by option or environment.
    var tls: ClientTLS {
        ClientTLS(
            trusted: ca ?? Terminal.environment("PROFILELOG_CA"),
            certificate: certificate ?? Terminal.environment("PROFILELOG_CERTIFICATE"),
            key: certificateKey ?? Terminal.environment("PROFILELOG_CERTIFICATE_KEY"))
    }

    mutating func validate() throws { try notePlace() }

    fileprivate func notePlace() throws {
        if store == "" { throw ValidationError("--store must not be empty. Name a folder, or omit it.") }
        if store != nil, url != nil { throw ValidationError("--store and --url exclude each other. Omit one of them.") }
        let files = [("--ca", ca), ("--certificate", certificate), ("--certificate-key", certificateKey)]
            .compactMap { option, file in file.map { TypedPlace.Part(name: option, value: $0) } }
        for file in files {
            if file.value.isEmpty {
                throw ValidationError("\(file.name) must not be empty. Name a file, or omit it.")
            }
            if store != nil {
                throw ValidationError("\(file.name) is for a service. Omit it, or name one with --url.")
            }
        }
        if certificateKey != nil, tls.certificate == nil {
            throw ValidationError("--certificate-key is there without --certificate. Name the certificate of the key.")
        }
        if let store {
            TypedPlace.note(.store(store))
        } else if let url {
            TypedPlace.note(.service([TypedPlace.Part(name: "--url", value: url)] + files))
        }
    }

    /// Refuses `--url`, and a service that the environment names, for work that needs a store's own files.
    func refuseService() throws {
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

    /// Tells whether a service is named, by option or environment.
    var isService: Bool { url != nil || store == nil && Terminal.environment("PROFILELOG_URL") != nil }

    /// The store's folder, by option, environment or default.
    var path: String { store ?? Terminal.environment("PROFILELOG_STORE") ?? "profilelog" }

    /// Connects to the service or opens the store. If `create` is true, the first valid request makes a missing store.
    /// `projections` are those of a store that is opened, and `traits` declares its computed traits; a service has its
    /// own.
    func connect(
        create: Bool = false, projections: [any Projection.Type] = [ProfileProjection.self],
        traits: TraitsOption? = nil
    ) throws -> any Connection {
        if let url = url ?? (store == nil ? Terminal.environment("PROFILELOG_URL") : nil) {
            if traits?.workspace != nil {
                throw ValidationError("A service has a workspace file of its own. Omit --workspace, or omit --url.")
            }
            return try RemoteAPI(
                url: url, key: Terminal.environment("PROFILELOG_KEY"), tls: tls)
        }
        if create, try StoreFolder(path: path) == .vacant { return NewStoreAPI(path) }
        let log = try openStore(path, create: create, projections: projections)
        let declared = try traits?.declared() ?? Workspace()
        if !declared.traits.isEmpty {
            let unseen = try log.reader.occurrences.unseenNames(of: declared.traits)
            for name in unseen { Output.message(name.sentence) }
        }
        return LocalAPI(log, traits: declared.traits, segments: declared.segments)
    }
}

/// Opens the store in the folder `path`; a missing one is made if `create` is true, and a message says so.
/// `projections` are as for `EventLog`.
func openStore(
    _ path: String, create: Bool = false, options: LogOptions = LogOptions(),
    projections: [any Projection.Type] = [ProfileProjection.self]
) throws -> EventLog {
    let state = try StoreFolder(path: path)
    if state == .foreign { throw StorageError.notAStore(path: path) }
    guard state != .unfinished || create else {
        throw CommandError(
            "The store in \(path) holds no event: its first write was stopped.",
            remedy: "The next `save`, `log` or `import` finishes it.")
    }
    let log = try EventLog(path: path, create: create, options: options, projections: projections)
    if state != .store { Output.message("New store at \(path.contains("/") ? path : "./\(path)").") }
    return log
}

extension ArgumentHelp {
    fileprivate static let store = ArgumentHelp(
        "The store's folder (or PROFILELOG_STORE; else ./profilelog).", valueName: "folder")
    fileprivate static let url = ArgumentHelp(
        "A running profiled instead of a store, also as unix:FILE (or PROFILELOG_URL).", valueName: "url")
    fileprivate static let node = ArgumentHelp(
        "A node of the cluster, also as unix:FILE (or PROFILELOG_URL).", valueName: "url")
    fileprivate static let ca = ArgumentHelp(
        "Certificates in PEM to trust as well (or PROFILELOG_CA).", valueName: "file")
    fileprivate static let certificate = ArgumentHelp(
        "Your certificate in PEM, for a service that asks for one (or PROFILELOG_CERTIFICATE).", valueName: "file")
    fileprivate static let certificateKey = ArgumentHelp(
        "The key of --certificate, if it is in another file (or PROFILELOG_CERTIFICATE_KEY).", valueName: "file")
    static func when(_ what: String) -> ArgumentHelp {
        ArgumentHelp("\(what): WHEN in any form that `profilecli --help` lists.", valueName: "when")
    }

    fileprivate static let format: ArgumentHelp =
        "table, for people, with long cells cut; json, one whole object a line, for programs."
}

/// `--store`, for commands that their users may also try with `--url`.
struct StoreOnlyOption: PlaceArguments {
    @Option(help: .store, completion: .directory) var store: String?
    @Option(help: .hidden) var url: String?

    mutating func validate() throws {
        try refuseService()
        try notePlace()
    }
}

struct StoreOrService: PlaceArguments {
    @Option(help: .store, completion: .directory) var store: String?
    @Option(help: .url) var url: String?
    @Option(help: .ca, completion: .file()) var ca: String?
    @Option(help: .certificate, completion: .file()) var certificate: String?
    @Option(help: .certificateKey, completion: .file()) var certificateKey: String?
}

enum Format: String, ExpressibleByArgument, CaseIterable { case table, json }

struct FormatOption: ParsableArguments {
    @Option(help: .format) var format = Format.table

    var isJSON: Bool { format == .json }
}

/// `--url` and `--format`, for commands that ask a node of a cluster.
struct NodeOptions: PlaceArguments {
    @Option(help: .hidden) var store: String?
    @Option(help: .node) var url: String?
    @Option(help: .ca, completion: .file()) var ca: String?
    @Option(help: .certificate, completion: .file()) var certificate: String?
    @Option(help: .certificateKey, completion: .file()) var certificateKey: String?
    @Option(help: .format) var format = Format.table

    var isJSON: Bool { format == .json }

    mutating func validate() throws {
        if store != nil {
            throw ValidationError("A cluster is asked through one of its nodes. Omit --store, and name one with --url.")
        }
        if url == nil, Terminal.environment("PROFILELOG_URL") == nil {
            throw ValidationError("No node is named. Name one with --url, as in --url http://127.0.0.1:8080.")
        }
        try notePlace()
    }

    /// Connects to the node that is named.
    func connect() throws -> any Connection {
        try connect(to: url ?? Terminal.environment("PROFILELOG_URL") ?? "")
    }

    /// Connects to another node, with the same key and certificates.
    func connect(to url: String) throws -> any Connection {
        try RemoteAPI(
            url: url, key: Terminal.environment("PROFILELOG_KEY"), tls: tls, isOfCluster: true)
    }
}

/// `--store`, `--url` and `--format`.
struct PlaceOptions: PlaceArguments {
    @Option(help: .store, completion: .directory) var store: String?
    @Option(help: .url) var url: String?
    @Option(help: .ca, completion: .file()) var ca: String?
    @Option(help: .certificate, completion: .file()) var certificate: String?
    @Option(help: .certificateKey, completion: .file()) var certificateKey: String?
    @Option(help: .format) var format = Format.table

    var isJSON: Bool { format == .json }

    /// Sends a write and prints the answer: as JSON, or as the sentence that `describe` makes of it. `notes`
    /// go to standard error, once the write is done.
    @discardableResult
    func send(
        _ path: String, create: Bool = false, notes: [String] = [], _ write: (inout JSONWriter) throws -> Void,
        describe: (JSONObject) -> String
    ) async throws -> JSONObject {
        try await send(path, create: create, notes: notes, write, lines: { [describe($0)] })
    }

    /// As ``send(_:create:notes:_:describe:)``, with an answer of several lines.
    @discardableResult
    func send(
        _ path: String, create: Bool = false, notes: [String] = [], _ write: (inout JSONWriter) throws -> Void,
        lines: (JSONObject) -> [String]
    ) async throws -> JSONObject {
        let answer = try await connect(create: create).post(path, write)
        for note in notes { Output.message(note) }
        if let note = answer["user_note"].text { Output.message("Note: \(note)") }
        try Output.answer(isJSON ? [answer.line] : lines(answer), to: answer)
        return answer
    }

    /// Asks for something and prints the answer: as JSON, or as the lines that `lines` makes of it.
    @discardableResult
    func show(
        _ path: String, _ query: Parameters = [], traits: TraitsOption? = nil,
        lines: (JSONObject) throws -> [String]
    ) async throws -> JSONObject {
        let answer = try await connect(traits: traits).get(path, query)
        try Output.print(isJSON ? [answer.line] : lines(answer))
        return answer
    }
}

/// The file that declares computed traits and segments.
struct TraitsOption: ParsableArguments {
    @Option(
        help: .init(
            "A workspace file with traits and segments (or PROFILELOG_WORKSPACE).", valueName: "file"),
        completion: .file())
    var workspace: String?

    func declared() throws -> Workspace {
        guard let path = workspace ?? Terminal.environment("PROFILELOG_WORKSPACE") else { return Workspace() }
        return try Workspace(file: path)
    }
}

struct FilterOptions: ParsableArguments {
    @Option(
        help: .init("Of this kind only, as in customEventLogged. Repeatable.", valueName: "kind"),
        completion: .list(EventKind.allCases.map(\.name)))
    var kind: [String] = []

    @Option(help: "A custom event, product or attribute with this name only.") var name: String?

    @Option(parsing: .unconditional, help: .init("Recorded at this time or later.", valueName: "time"))
    var since: String?

    @Option(parsing: .unconditional, help: .init("Recorded before this time.", valueName: "time")) var before: String?

    @Flag(help: "With --since and --before: by when things happened, not by when they were recorded.")
    var occurred = false

    var query: Parameters { bounds + order }

    /// The bounds without the order.
    var bounds: Parameters {
        kind.map { ("kind", $0) }
            + parameters(
                ("name", name), ("since", since.map(LocalMoment.time)), ("before", before.map(LocalMoment.time)))
    }

    var order: Parameters { occurred ? [("order", "occurred")] : [] }
}

/// `--as-of` and `--occurred`, of commands about devices.
struct PastOptions: ParsableArguments {
    @Option(parsing: .unconditional, help: .when("What it was then")) var asOf: String?
    @Flag(help: "In the order in which things happened, not in that of recording; nothing later counts.")
    var occurred = false

    var query: Parameters {
        parameters(("as_of", asOf.map(LocalMoment.text)), ("order", occurred ? "occurred" : nil))
    }
}

/// `--occurred`, of commands with `--as-of`.
struct OccurredOption: ParsableArguments {
    @Flag(help: "In the order in which things happened, not in that of recording; nothing later counts.")
    var occurred = false

    var query: Parameters { occurred ? [("order", "occurred")] : [] }
}

struct LimitOption: ParsableArguments {
    @Option(name: [.customShort("n", allowingJoined: true), .long], parsing: .unconditional, help: "At most so many.")
    var limit: Int?

    mutating func validate() throws { if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") } }
}
