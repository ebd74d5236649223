internal import ArgumentParser
internal import ProfileLog

/// `profilecli log`
struct LogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Log what is effective at once, as a running app or a server does.",
        discussion: """
            EXAMPLES
              profilecli log event jane "played song" -p minutes=3
              profilecli log attribute jane level=7
              profilecli log user-attribute jane email jane@example.org
              profilecli log purchase jane sku-1 --price 9.50 --currency EUR
            """,
        subcommands: [LogEvent.self, LogAttribute.self, LogUserAttribute.self, LogPurchase.self])
}

/// `profilecli log event`
struct LogEvent: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "event", abstract: "Log a custom event.",
        discussion: """
            EXAMPLES
              profilecli log event jane "played song" -p minutes=3 -p title="Blue"
              profilecli log event alias:crm:4711 visited --time 2026-01-31T09:00:00+01:00 --key visit-1
            """)

    @OptionGroup var what: EventArguments
    @OptionGroup var write: WriteOptions
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        try await LogAnswer(place: place).send("/v1/log/event", user: what.user, write) { try what.write(to: &$0) }
    }
}

/// `profilecli log attribute`
struct LogAttribute: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attribute", abstract: "Change custom attributes.",
        discussion: """
            EXAMPLES
              profilecli log attribute jane level=7 favourite="green tea"
              profilecli log attribute jane 'visits={"inc":1}' 'tags={"add":["new"]}' old=null
            """)

    @OptionGroup var what: AttributeArguments
    @OptionGroup var write: WriteOptions
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        try await LogAnswer(place: place).send("/v1/log/attributes", user: what.user, write) { try what.write(to: &$0) }
    }
}

/// `profilecli log user-attribute`
struct LogUserAttribute: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user-attribute", abstract: "Change a standard user attribute.",
        discussion: """
            EXAMPLES
              profilecli log user-attribute jane email jane@example.org
              profilecli log user-attribute jane home_city null
            """)

    @OptionGroup var what: UserAttributeArguments
    @OptionGroup var write: WriteOptions
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        try await LogAnswer(place: place).send("/v1/log/user-attribute", user: what.user, write) {
            try what.write(to: &$0)
        }
    }
}

/// `profilecli log purchase`
struct LogPurchase: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purchase", abstract: "Log a purchase.",
        discussion: """
            EXAMPLES
              profilecli log purchase jane sku-1 --price 9.50 --currency EUR --quantity 2
              profilecli log purchase jane sku-1 --price -9.50 --currency EUR -p reason=refund
            """)

    @Argument(help: "USER: an external ID, alias:LABEL:NAME, email:ADDRESS, phone:NUMBER, braze:ID or device:ID.")
    var user: String

    @Argument(help: "The product's ID.")
    var product: String

    @Option(name: .long, parsing: .unconditional, help: "The price of one; negative for a refund.")
    var price: Double

    @Option(name: .long, help: "Three capital letters, as in EUR.")
    var currency: String

    @Option(name: .long, help: "How many, from 1 to 100.")
    var quantity = 1

    @OptionGroup var properties: PropertyOptions
    @OptionGroup var write: WriteOptions
    @OptionGroup var place: PlaceOptions

    mutating func validate() throws {
        guard price.isFinite else { throw ValidationError("--price must be a finite number, as in 9.50.") }
    }

    func run() async throws {
        try await LogAnswer(place: place).send("/v1/log/purchase", user: user, write) { json in
            json.key("product")
            json.value(product)
            json.key("price")
            json.value(price)
            json.key("currency")
            json.value(currency)
            json.key("quantity")
            json.value(quantity)
            if let properties = try properties.members() {
                json.key("properties")
                json.value(.object(properties))
            }
        }
    }
}

/// Sends something to be logged and says what came of it.
private struct LogAnswer {
    let place: PlaceOptions

    func send(
        _ path: String, user: String, _ options: WriteOptions, _ write: (inout JSONWriter) throws -> Void
    ) async throws {
        var writer = JSONWriter()
        writer.beginObject()
        options.write(user: user, to: &writer)
        writer.key("source")
        writer.value(EventSource.cli.name)
        try write(&writer)
        writer.endObject()
        let answer = try await place.connect(create: true).post(path, body: writer.bytes)
        if place.isJSON { return try Output.print(answer.line) }
        let done = answer["repeated"].flag == true ? "Already logged, under the same key," : "Logged"
        let id = answer.object("user")["id"].text ?? user
        try Output.print(
            "\(done) at \(Phrase.spot(answer)); effective at once. "
                + "Next: profilecli profile \(Shell.quoted(id))\(place.repeated)")
    }
}
