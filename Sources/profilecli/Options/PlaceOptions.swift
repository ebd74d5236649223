internal import ArgumentParser
internal import ProfileLog

/// Which store or service a command talks to.
struct StoreOrService: ParsableArguments {
    @OptionGroup var place: StoreOption

    @Option(
        name: .long, help: ArgumentHelp("A running profiled instead of a store (or PROFILELOG_URL).", valueName: "url"))
    var url: String?

    mutating func validate() throws {
        if url != nil, place.store != nil {
            throw ValidationError("--store and --url exclude each other. Leave out one of them.")
        }
        if let url { TypedPlace.note(.service(url: url)) }
    }

    /// The service's address, if one is meant.
    private var address: String? {
        if let url { return url }
        if place.store != nil { return nil }
        return Terminal.environment("PROFILELOG_URL").flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Connects to the service or opens the store; a missing store is made if `create` is true, by the first request that it takes.
    func connect(create: Bool = false) throws -> any Connection {
        if let address { return try RemoteAPI(url: address, key: Terminal.environment("PROFILELOG_KEY")) }
        if create, try StoreFolder(path: place.path) == .vacant { return NewStoreAPI(place) }
        return LocalAPI(try place.open(create: create))
    }
}

/// Which store or service a command talks to, and how it prints the answer.
struct PlaceOptions: ParsableArguments {
    @OptionGroup var place: StoreOrService
    @OptionGroup var output: FormatOption

    var isJSON: Bool { output.isJSON }

    /// Connects to the service or opens the store; a missing store is made if `create` is true.
    func connect(create: Bool = false) throws -> any Connection { try place.connect(create: create) }
}
