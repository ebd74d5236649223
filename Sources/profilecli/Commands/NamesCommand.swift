internal import ArgumentParser
internal import ProfileLog

struct NamesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "names", "List names of events, attributes, products, devices and messages.",
        "Names that took effect in the store, in the order of their bytes; of messages those that are declared now.",
        examples: """
            profilecli names
            profilecli names pla
            profilecli names lev --kind attribute
            profilecli names --kind event --kind product --limit 20
            """)

    @Argument(help: .init("How the names begin; all, without it.", valueName: "prefix")) var prefix: String?

    @Option(
        help: "event, attribute, user_attribute, product, device or message. Repeatable.",
        completion: .list(["event", "attribute", "user_attribute", "product", "device", "message"]))
    var kind: [String] = []

    @OptionGroup var limit: LimitOption
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        let query: Parameters = parameters(("prefix", prefix), ("limit", limit.limit)) + kind.map { ("kind", $0) }
        let answer = try await place.connect().get("/v1/names", query)
        var pages = Pages(isJSON: place.isJSON) { page in
            Table("NAME!", "KIND", of: page) { [$0["name"].cell, $0["kind"].cell] }
        }
        try pages.print(answer.objects("names"))
        if answer.flag("more") { Output.message("There are more: type more of the name, or give --limit.") }
    }
}
