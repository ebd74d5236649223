internal import ArgumentParser
internal import ProfileLog

/// `profilecli log`
struct LogCommand: CommandGroup {
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
struct LogEvent: LogSubcommand {
    static let path = "/v1/log/event"
    static let configuration = CommandConfiguration(
        commandName: "event", abstract: "Log a custom event.",
        discussion: """
            EXAMPLES
              profilecli log event jane "played song" -p minutes=3 -p title="Blue"
              profilecli log event alias:crm:4711 visited --key visit-1
              profilecli log event jane visited --at 2026-01-31T09:00:00+01:00
            """)

    @OptionGroup var what: EventArguments
    @OptionGroup var logging: LoggingOptions
    @OptionGroup var write: WriteOptions
    @OptionGroup var place: PlaceOptions
}

/// `profilecli log attribute`
struct LogAttribute: LogSubcommand {
    static let path = "/v1/log/attributes"
    static let configuration = CommandConfiguration(
        commandName: "attribute", abstract: "Change custom attributes.",
        discussion: """
            EXAMPLES
              profilecli log attribute jane level=7 favourite="green tea"
              profilecli log attribute jane 'visits={"inc":1}' 'tags={"add":["new"]}'
              profilecli log attribute jane old=null
            """)

    @OptionGroup var what: AttributeArguments
    @OptionGroup var logging: LoggingOptions
    @OptionGroup var write: WriteOptions
    @OptionGroup var place: PlaceOptions
}

/// `profilecli log user-attribute`
struct LogUserAttribute: LogSubcommand {
    static let path = "/v1/log/user-attribute"
    static let configuration = CommandConfiguration(
        commandName: "user-attribute", abstract: "Change a standard user attribute.",
        discussion: """
            EXAMPLES
              profilecli log user-attribute jane email jane@example.org
              profilecli log user-attribute jane home_city null
            """)

    @OptionGroup var what: UserAttributeArguments
    @OptionGroup var logging: LoggingOptions
    @OptionGroup var write: WriteOptions
    @OptionGroup var place: PlaceOptions
}

/// `profilecli log purchase`
struct LogPurchase: LogSubcommand {
    static let path = "/v1/log/purchase"
    static let configuration = CommandConfiguration(
        commandName: "purchase", abstract: "Log a purchase.",
        discussion: """
            EXAMPLES
              profilecli log purchase jane sku-1 --price 9.50 --currency EUR
              profilecli log purchase jane sku-1 --price 3 --currency EUR --quantity 2
              profilecli log purchase jane sku-1 --price -9.50 --currency EUR
            """)

    @OptionGroup var what: PurchaseArguments
    @OptionGroup var logging: LoggingOptions
    @OptionGroup var write: WriteOptions
    @OptionGroup var place: PlaceOptions
}

/// The device of what is logged.
struct LoggingOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The device; without it the event comes from none, and no device's settings hold.", valueName: "id"))
    var device: String?

    mutating func validate() throws {
        if let device { try Blank.refuse(device, "--device") }
    }
}

/// Sends what is logged, and says what came of it.
///
/// The groups of options are all the command's own: a debug build checks a group inside of a group four times, at each start.
protocol LogSubcommand: AsyncParsableCommand {
    associatedtype What: WhatArguments
    /// The endpoint that takes it.
    static var path: String { get }
    var what: What { get }
    var logging: LoggingOptions { get }
    var write: WriteOptions { get }
    var place: PlaceOptions { get }
}

extension LogSubcommand {
    func run() async throws {
        let device = logging.device ?? WriteOptions.device(of: what.user)
        let answer = try await place.connect(create: true).post(Self.path) { json in
            write.write(user: what.user, device: device, to: &json)
            json.member("source", EventSource.cli.name)
            try what.write(to: &json)
        }
        for remark in what.remarks { Output.message(DisplayWidth.oneLine(remark)) }
        if place.isJSON { return try Output.answer(answer.line, to: answer) }
        let done = answer["repeated"].flag == true ? "Already logged, under the same key," : "Logged"
        let id = answer.object("user")["id"].text ?? what.user
        let isQueued = answer["queued"].flag == true
        let effect = isQueued ? "queued by the SDK, and effective when it is sent" : Self.effect(answer)
        let next = isQueued ? "device show \(Shell.device(device ?? DefaultDevice.name))" : "profile \(Shell.user(id))"
        try Output.answer("\(done) at \(Phrase.spot(answer)); \(effect). \(Suggestion.next(next))", to: answer)
    }

    /// `effective at once`, or which operations change nothing and why.
    private static func effect(_ answer: JSONObject) -> String {
        let without = answer.objects("no_effect").map { "\($0["attribute"].cell) \($0["reason"].cell)" }
        if without.isEmpty { return "effective at once" }
        let list = DisplayWidth.oneLine(without.joined(separator: "; "))
        return answer["all_without_effect"].flag == true
            ? "without effect: \(list)" : "effective at once, but for this: \(list)"
    }
}
