internal import ArgumentParser
internal import ProfileLog

struct SendsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "sends", "Messages that were sent, or not and why.",
        examples: """
            profilecli sends
            profilecli sends jane
            profilecli sends jane --message spring --format json
            """)

    @Argument(help: .user) var user: String?
    @Option(help: "Of this campaign or canvas only.") var message: String?
    @Option(parsing: .unconditional, help: .init("Begin after this position.", valueName: "position"))
    var after: UInt64?
    @OptionGroup var limit: LimitOption
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        var pages = Pages.events(isJSON: place.isJSON, withUser: true)
        func range(_ after: UInt64?) -> [(name: String, value: String)] {
            parameters(("after", after.map { "\($0)" }))
        }
        let query = parameters(("user", user), ("message", message))
        try await pages.print("sends", of: "/v1/sends", by: place.connect(), query, from: range(after), limit) { last in
            range(last.count("position"))
        }
        if pages.count == 0 { Output.message("No message was sent.") }
    }
}
