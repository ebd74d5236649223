import Foundation
import Testing

@Suite("Fold rules on the command line")
struct RulesTests {
    private func file(_ text: String, _ cli: CLI) throws -> String {
        let path = cli.folder.appending(path: "rules.yaml").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test("Rules are set from a file, shown, and hold for later events")
    func story() throws {
        let cli = try CLI()
        try cli.succeed("log", "attribute", "jane", "visits=1")
        #expect(try cli.succeed("rules", "show").errors.hasPrefix("No attribute has a policy"))
        let rules = try file("attribute_policies:\n  visits: counter\n", cli)
        #expect(
            try cli.succeed("rules", "set", rules).output
                == "Set the policies of 1 attribute at position 3; later events are folded by them.\n")
        #expect(try cli.succeed("rules", "set", rules).output == "These rules hold already; nothing was stored.\n")
        try cli.succeed("log", "attribute", "jane", "visits=2")
        #expect(try cli.succeed("profile", "jane", "--format", "json").output.contains(#""visits":3"#))
        #expect(try cli.succeed("rules", "show").output.contains("visits     counter"))
        #expect(try cli.succeed("rules", "show", "--as-of", "2").errors.hasPrefix("There were no policies"))
        #expect(try cli.succeed("replay", "--verify").status == 0)
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
    }

    @Test("A wrong file is refused by line, column and nearest word")
    func wrong() throws {
        let cli = try CLI()
        let policy = try cli.run("rules", "set", file("attribute_policies:\n  visits: countr\n", cli))
        #expect(
            policy.status == 64 && policy.errors.contains("rules.yaml:2:3: `attribute_policies.visits` is no policy"))
        #expect(policy.errors.contains("Did you mean `counter`?"))
        let key = try cli.run("rules", "set", file("attribute_policy: {}\n", cli))
        #expect(
            key.status == 64 && key.errors.contains("rules.yaml:1:1") && key.errors.contains("`attribute_policies`"))
        #expect(try cli.run("rules", "set", "missing.yaml").status == 64)
    }
}
