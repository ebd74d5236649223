internal import ArgumentParser
internal import ProfileLog
internal import ProfileLogNativeAPI

struct RulesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "rules", "Show or set the policies of attributes: which update wins.",
        """
        Without a policy an attribute has the value that arrived last. A policy holds for the events after it, so \
        values of before stay; docs/workspace.md describes them all.
        """,
        examples: """
            profilecli rules show
            profilecli rules set rules.yaml
            """,
        subcommands: [Show.self, Set.self])

    /// Reads `parts` of a file of rules.
    static func rules(_ path: String, _ parts: [FoldRules.Part]) throws -> FoldRules {
        try YAMLFile.read(path, guide: "docs/workspace.md") { (text) throws(YAMLFileError) in
            try YAMLNode(yaml: text, withAnchors: false)?.foldRules(parts) ?? FoldRules()
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "show", "The policies that hold now, or held at an earlier moment.",
            examples: """
                profilecli rules show
                profilecli rules show --as-of yesterday
                """)

        @Option(parsing: .unconditional, help: .when("The rules at that moment")) var asOf: String?
        @OptionGroup var occurred: OccurredOption
        @OptionGroup var place: PlaceOptions

        func run() async throws {
            let query = parameters(("as_of", asOf.map(LocalMoment.text))) + occurred.query
            try await place.show("/v1/rules", query) { answer in
                Table("ATTRIBUTE", "POLICY", of: answer["attribute_policies"].members) { policy in
                    [policy.key.text, policy.value.cell]
                }.linesIfAny()
            }
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "set", "Replace the policies, for the events from now on.",
            "FILE has all of them under `attribute_policies`, in YAML or JSON (docs/workspace.md).",
            examples: """
                profilecli rules set rules.yaml
                """)

        @Argument(help: "A file of rules.", completion: .file(extensions: ["yaml", "yml", "json"])) var file: String
        @OptionGroup var place: PlaceOptions

        func run() async throws {
            let rules = try RulesCommand.rules(file, [.policies])
            let what = Number.counted(UInt64(rules.policies.count), "attribute")
            try await place.send("/v1/rules", create: true) { json in
                json.object("attribute_policies") { json in
                    for (name, policy) in rules.policies.sorted(by: { $0.key < $1.key }) {
                        json.member(name.text, policy.rawValue)
                    }
                }
            } describe: { answer in
                answer.flag("changed")
                    ? "Set the policies of \(what) at position \(answer["position"].cell); "
                        + "later events are folded by them."
                    : "These rules hold already; nothing was stored."
            }
        }
    }
}
