internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogNativeAPI

struct MessagesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "messages", "Declare and show in-app messages, and explain why a message was shown or not.",
        examples: """
            profilecli messages declare messages.yaml
            profilecli messages show phone
            profilecli messages settings phone --minimum-interval 5s
            profilecli messages click phone --button ok
            profilecli messages explain jane welcome
            """,
        subcommands: [
            Declare.self, List.self, Show.self, OnDevice<MessageSettings>.self, OnDevice<NextMessage>.self,
            OnDevice<PresentMessage>.self, OnDevice<ClickMessage>.self, OnDevice<CloseMessage>.self,
            OnDevice<LogImpression>.self, OnDevice<LogClick>.self, OnDevice<TimePassed>.self, Explain.self,
        ])

    struct Declare: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "declare", "Declare the in-app messages of the sessions that start from now on.",
            "FILE has all of them, in YAML or JSON (docs/in-app-messages.md). They replace those before.",
            examples: """
                profilecli messages declare messages.yaml
                """)

        @Argument(help: "A list of messages.", completion: .file(extensions: ["yaml", "yml", "json"])) var file: String
        @OptionGroup var place: PlaceOptions

        /// The list in the file, alone or under the key `messages`.
        private static func messages(_ path: String) throws -> AttributeValue {
            try YAMLFile.read(path, guide: "docs/in-app-messages.md") { (text) throws(YAMLFileError) in
                let root = try YAMLNode(yaml: text, withAnchors: false)
                guard let root, root.isMapping else { return try root?.inAppMessages() ?? .array([]) }
                return try root.fields(["messages"]).required("messages").inAppMessages()
            }
        }

        func run() async throws {
            let messages = try Self.messages(file)
            try await place.send("/v1/messages", create: true) { json in
                json.member("messages", messages)
            } describe: { answer in
                let what = Number.counted(UInt64(answer["messages"].elements.count), "message")
                return answer.flag("changed")
                    ? "Declared \(what) at position \(answer["position"].cell)."
                    : "\(what) were declared so already; nothing was stored."
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "list", "List the declared in-app messages.",
            examples: """
                profilecli messages list
                profilecli messages list --format json
                """)

        @OptionGroup var place: PlaceOptions

        func run() async throws {
            let answer = try await place.show("/v1/messages") { answer in
                Table("MESSAGE", "#PRIORITY", "TRIGGERS", of: answer.objects("messages")) { message in
                    [
                        message["id"].cell, message["priority"].text ?? "0",
                        message.objects("trigger_conditions").map { $0["type"].cell }.joined(separator: ", "),
                    ]
                }.linesIfAny()
            }
            if !place.isJSON { MessagesCommand.reportSkipped(answer) }
        }
    }

    /// Tells which declared messages this program refuses, as another version of it had declared them.
    private static func reportSkipped(_ answer: JSONObject) {
        for message in answer.objects("skipped") {
            let place = message["place"].cell.oneLine
            Output.message("Nothing triggers it: \(place) \(message["reason"].cell). \(message["remedy"].cell)")
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "show", "Show the in-app messages of a device: on the screen, waiting, eligible.",
            examples: """
                profilecli messages show
                profilecli messages show phone-1 --format json
                profilecli messages show phone-1 --as-of 1200
                """)

        @OptionGroup var device: DeviceArgument
        @OptionGroup var past: PastOptions
        @OptionGroup var place: PlaceOptions

        func run() async throws {
            let answer = try await place.show(device.path("messages"), past.query) { answer in
                var table = Table("WHAT", "ON \(device.shown)")
                table.add("screen", answer["screen"].text ?? "nothing")
                table.add("stack", answer["stack"].elements.map(\.cell).joined(separator: ", "))
                for item in answer.objects("delayed") {
                    table.add("delayed", "\(item["message"].cell) until \(Phrase.time(item["ready_at"]))")
                }
                table.add("eligible", answer["eligible"].elements.map(\.cell).joined(separator: ", "))
                return table.lines()
            }
            if !place.isJSON { MessagesCommand.reportSkipped(answer) }
        }
    }

    struct Explain: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "explain", "Explain a message by the chain of events from its cause to the screen.",
            """
            Each line is one event: a decision about the message with its reason, or an event that led to it. Below \
            are events that did not trigger an in-app message although they came near, and why. With \
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
            let query = parameters(("user", user), ("message", message), ("position", position))
            let answer = try await place.show("/v1/messages/explain", query) { answer in
                let links = Pages.table(ofEvents: answer.objects("links"), withUser: true).linesIfAny()
                let chain = answer["reason"].text.map { ["Nothing happened to it: \($0)."] } ?? links
                return chain + Misses.lines(answer, "What did not trigger it:")
            }
            if !place.isJSON, answer.flag("more") { Output.message("There are more; these are the first.") }
        }
    }
}
