internal import ArgumentParser
internal import ProfileLog

struct UsersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "users", "All users, in the order in which they were created.",
        examples: """
            profilecli users
            profilecli users --limit 20 --after 100
            profilecli users --format json | wc -l
            """)

    @Option(parsing: .unconditional, help: .init("Begin after the user with this number.", valueName: "number"))
    var after: UInt64 = 0

    @OptionGroup var limit: LimitOption
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        var pages = Pages(isJSON: place.isJSON) { page in
            var table = Table("#NUMBER", "USER", "#EVENTS", "#CREATED@", "BRAZE_ID!", "ALSO", "#MERGED INTO")
            for user in page {
                let others = user["ids"].elements.map(\.cell).filter { $0 != user["id"].cell }
                table.add(
                    user["number"].cell, user["id"].cell, user["version"].cell, user["created"].cell,
                    user["braze_id"].cell, user.flag("erased") ? "erased" : others.joined(separator: ", "),
                    user["merged_into"].cell)
            }
            return table
        }
        try await pages.print("users", of: "/v1/users", by: place.connect(), from: [("after", "\(after)")], limit) {
            [("after", $0["number"].cell)]
        }
        if pages.count > 0 { return }
        Output.message(
            after == 0
                ? "There are no users. \(Suggestion.next("log event jane hello"))"
                : "There is no user after number \(after). \(Suggestion.next("users"))")
    }
}
