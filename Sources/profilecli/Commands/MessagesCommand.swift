internal import ArgumentParser
internal import ProfileLog

struct MessagesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "messages", "Why a message was, or was not, sent, received or shown.",
        examples: """
            profilecli messages explain jane welcome
            """,
        subcommands: [Explain.self])

    struct Explain: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "explain", "The chain of events from the cause to the screen.",
            """
            Each line is one event: a decision about the message with its reason, or an event that led to it. With \
            --position it is the chain of any event: of a saved item, its launch, its flush and when it was sent.
            """,
            examples: """
                profilecli messages explain jane welcome
                profilecli messages explain jane --position 12
                """)

        @Argument(help: .user) var user: String

        @Argument(help: .init("A campaign, a canvas, an in-app message or a dispatch_id.", valueName: "message"))
        var message: String?

        @Option(parsing: .unconditional, help: .init("The position of an event.", valueName: "position"))
        var position: UInt64?

        @OptionGroup var place: PlaceOptions

        mutating func validate() throws {
            if (message == nil) == (position == nil) {
                throw ValidationError("Name a MESSAGE, or the --position of an event.")
            }
        }

        func run() async throws {
            let query = parameters(("user", user), ("message", message), ("position", position.map { "\($0)" }))
            let answer = try await place.connect().get("/v1/messages/explain", query)
            if place.isJSON { return try Output.print([answer.line]) }
            var pages = Pages.events(isJSON: false, withUser: true)
            try pages.print(answer.objects("links"))
        }
    }
}
