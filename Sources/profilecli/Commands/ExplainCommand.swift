internal import ArgumentParser
internal import ProfileLog

struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "explain", "Explain why a user passes a condition or a segment, or does not.",
        """
        The first line says it in a sentence. Below is each part of the condition, in the order of its text: whether \
        it holds, the user's value, and the event that set that value.
        """,
        examples: """
            profilecli explain jane --where 'country = "DE" and custom.level >= 3'
            profilecli explain jane --where 'last_seen > 7d ago' --as-of monday
            profilecli explain jane --segment loyal --workspace workspace.yaml
            """)

    @Argument(help: .user) var user: String

    @Option(
        name: .customLong("where"), help: .init("The condition (docs/where.md).", valueName: "condition"))
    var condition: String?

    @Option(help: .init("In its place a segment of the workspace file, by ID or name.", valueName: "segment"))
    var segment: String?

    @Option(parsing: .unconditional, help: .when("As of that moment")) var asOf: String?
    @OptionGroup var occurred: OccurredOption
    @OptionGroup var traits: TraitsOption
    @OptionGroup var place: PlaceOptions

    mutating func validate() throws {
        if (condition == nil) == (segment == nil) {
            throw ValidationError("Give a condition with --where, or name a --segment.")
        }
    }

    func run() async throws {
        let moment = asOf.map(LocalMoment.text)
        let query =
            parameters(("user", user), ("where", condition), ("segment", segment), ("as_of", moment)) + occurred.query
        try await place.show("/v1/users/explain", query, traits: traits) { answer in
            let table = Table("PART", "HOLDS!", "VALUE", "SINCE!", "#POS", "BY!", "FROM", of: answer.objects("parts")) {
                part in
                let indent = String(repeating: "  ", count: Int(part.count("depth")))
                let isComparison = part["kind"].text == "comparison"
                let set = part.object("set")
                let isSet = part["set"] != .null
                return [
                    indent + (isComparison ? part["text"].cell : part["kind"].cell), part.flag("holds") ? "yes" : "no",
                    isComparison ? Phrase.value(part["value"]) : "", isSet ? Phrase.time(set["at"]) : "",
                    set["position"].cell, isSet ? BlameCommand.how(set) : "",
                    isSet ? BlameCommand.origin(set) : part["reason"].cell,
                ]
            }
            return [answer["reason"].cell.oneLine, ""] + table.lines()
        }
    }
}
