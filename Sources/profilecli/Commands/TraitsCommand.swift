internal import ArgumentParser
internal import ProfileLog

struct TraitsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "traits", "Show the computed traits, and their values for a user.",
        "Traits are declared in the workspace file (docs/traits.md) and computed when they are read.",
        examples: """
            profilecli traits --workspace workspace.yaml
            profilecli traits jane --workspace workspace.yaml
            profilecli traits jane --as-of monday
            profilecli traits jane --as-of 2025-06-30 --occurred
            profilecli users --where 'traits.orders_30d >= 2'
            """)

    @Argument(help: .user) var user: String?
    @Option(parsing: .unconditional, help: .when("The values at that moment")) var asOf: String?
    @OptionGroup var occurred: OccurredOption
    @OptionGroup var traits: TraitsOption
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        let query = parameters(("user", user), ("as_of", asOf.map(LocalMoment.text))) + occurred.query
        try await place.show("/v1/traits", query, traits: traits) { answer in
            let traits = answer.objects("traits")
            return Table("TRAIT", "VALUE", "FUNCTION", "OF", "WITHIN", "#SKIPPED", of: traits) { trait in
                [
                    trait["name"].cell, user == nil ? "" : Phrase.value(trait["value"]), trait["function"].cell,
                    Self.source(trait), trait["within"].cell, trait.count("skipped") > 0 ? trait["skipped"].cell : "",
                ]
            }.linesIfAny()
        }
    }

    /// Returns the events that a trait looks at.
    private static func source(_ trait: JSONObject) -> String {
        let what = ["event", "purchase", "purchases", "app"].compactMap { key -> String? in
            guard let text = trait[Name(key)].text else { return nil }
            return key == "purchases" ? "all purchases" : key == "app" ? text : "\(key) \(text)"
        }
        return what.joined() + (trait["property"].text.map { ", \($0)" } ?? "")
    }
}
