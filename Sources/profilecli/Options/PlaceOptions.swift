internal import ArgumentParser
internal import ProfileLog

/// A store or a service, as a command line names it.
struct Place {
    static let urlHelp = ArgumentHelp("A running profiled instead of a store (or PROFILELOG_URL).", valueName: "url")

    let store: StoreOption
    let url: String?

    func validate() throws {
        try store.validate()
        if url != nil, store.store != nil {
            throw ValidationError("--store and --url exclude each other. Leave out one of them.")
        }
        if let url { TypedPlace.note(.service(url: url)) }
    }

    /// The service's address, if one is meant.
    private var address: String? {
        if let url { return url }
        if store.store != nil { return nil }
        return Terminal.environment("PROFILELOG_URL").flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Connects to the service or opens the store; a missing store is made if `create` is true, by the first request that it takes.
    func connect(create: Bool = false) throws -> any Connection {
        if let address { return try RemoteAPI(url: address, key: Terminal.environment("PROFILELOG_KEY")) }
        if create, try StoreFolder(path: store.path) == .vacant { return NewStoreAPI(store) }
        return LocalAPI(try store.open(create: create))
    }
}

/// Which store or service a command talks to.
struct StoreOrService: ParsableArguments {
    @Option(name: .long, help: StoreOption.help, completion: .directory)
    var store: String?

    @Option(name: .long, help: Place.urlHelp)
    var url: String?

    var place: StoreOption { StoreOption(store: store) }

    mutating func validate() throws { try Place(store: place, url: url).validate() }

    /// As `Place.connect`.
    func connect(create: Bool = false) throws -> any Connection {
        try Place(store: place, url: url).connect(create: create)
    }
}

/// Which store or service a command talks to, and how it prints the answer.
struct PlaceOptions: ParsableArguments {
    @Option(name: .long, help: StoreOption.help, completion: .directory)
    var store: String?

    @Option(name: .long, help: Place.urlHelp)
    var url: String?

    @Option(name: .long, help: FormatOption.help)
    var format = Format.table

    private var place: Place { Place(store: StoreOption(store: store), url: url) }

    var isJSON: Bool { format == .json }

    mutating func validate() throws { try place.validate() }

    /// As `Place.connect`.
    func connect(create: Bool = false) throws -> any Connection { try place.connect(create: create) }
}
