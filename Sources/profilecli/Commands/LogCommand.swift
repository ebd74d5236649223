internal import ArgumentParser
internal import ProfileLog

/// `profilecli log`
struct LogCommand: CommandGroup {
    static let configuration = CommandConfiguration(
        "log", "Log what is effective at once, as a running app or a server does.",
        examples: """
            profilecli log event jane "played song" -p minutes=3
            profilecli log attribute jane level=7
            profilecli log user-attribute jane email jane@example.org
            profilecli log purchase jane sku-1 --price 9.50 --currency EUR
            """,
        subcommands: [
            Log<EventArguments>.self, Log<AttributeArguments>.self, Log<UserAttributeArguments>.self,
            Log<PurchaseArguments>.self,
        ])
}

/// What can be logged.
protocol LogArguments: WhatArguments {
    /// The command that logs it.
    static var logging: CommandConfiguration { get }
}

extension EventArguments: LogArguments {
    static let logging = CommandConfiguration(
        "event", "Log a custom event.",
        examples: """
            profilecli log event jane "played song" -p minutes=3 -p title="Blue"
            profilecli log event alias:crm:4711 visited --key visit-1
            profilecli log event jane visited --at 2026-01-31T09:00:00+01:00
            """)
}

extension AttributeArguments: LogArguments {
    static let logging = CommandConfiguration(
        "attribute", "Change custom attributes.",
        examples: """
            profilecli log attribute jane level=7 favourite="green tea"
            profilecli log attribute jane 'visits={"inc":1}' 'tags={"add":["new"]}'
            profilecli log attribute jane old=null
            """)
}

extension UserAttributeArguments: LogArguments {
    static let logging = CommandConfiguration(
        "user-attribute", "Change a standard user attribute.",
        examples: """
            profilecli log user-attribute jane email jane@example.org
            profilecli log user-attribute jane home_city null
            """)
}

extension PurchaseArguments: LogArguments {
    static let logging = CommandConfiguration(
        "purchase", "Log a purchase.",
        examples: """
            profilecli log purchase jane sku-1 --price 9.50 --currency EUR
            profilecli log purchase jane sku-1 --price 3 --currency EUR --quantity 2
            profilecli log purchase jane sku-1 --price -9.50 --currency EUR
            """)
}

/// `profilecli log event` and the like.
struct Log<What: LogArguments>: AsyncParsableCommand {
    static var configuration: CommandConfiguration { What.logging }

    @OptionGroup var what: What

    @Option(help: .init("The device; without it the event has none, and no device's settings apply.", valueName: "id"))
    var device: String?

    // Groups in groups would take the argument parser long.
    @OptionGroup var write: WriteOptions
    @OptionGroup var place: PlaceOptions

    mutating func validate() throws { try device.map { try Blank.refuse($0, "--device") } }

    func run() async throws {
        let device = device ?? WriteOptions.device(of: what.user)
        try await place.send("/v1/log/\(What.path)", create: true, remarks: what.remarks) { json in
            json.member("source", EventSource.cli.name)
            try write.write(what, device: device, to: &json)
        } describe: { answer in
            let done = answer["repeated"].flag == true ? "Already logged, under the same key," : "Logged"
            let isQueued = answer["queued"].flag == true
            let effect = isQueued ? "queued by the SDK, and effective when it is sent" : Self.effect(answer)
            let next =
                isQueued
                ? "device show \(Shell.device(device ?? DefaultDevice.name))"
                : "profile \(Shell.user(answer.object("user")["id"].text ?? what.user))"
            return "\(done) at \(Phrase.spot(answer)); \(effect). \(Suggestion.next(next))"
        }
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
