import Foundation
import Testing

@Suite("Void, unvoid and blame on the command line")
struct VoidTests {
    @Test("A void is told in one line, and blame tells who set what")
    func story() throws {
        let cli = try CLI()
        try cli.succeed("log", "attribute", "jane", "plan=free", "home={\"city\":\"Bonn\"}")
        try cli.succeed("log", "attribute", "jane", "plan=gold")
        let void = try cli.succeed("void", "3", "--reason", "a test", "--by", "ops")
        #expect(
            void.output
                == "Voided position 3 (attributes) at position 4 (jane, version 4); it changes plan. "
                + "Next: profilecli profile jane\n")
        #expect(try cli.succeed("profile", "jane", "--format", "json").output.contains(#""plan":"free""#))
        let history = try cli.succeed("history", "jane").output
        #expect(history.contains("(void @4)") && history.contains("@3  by ops: a test"))
        let blame = try cli.succeed("blame", "jane")
        #expect(blame.lines[0].hasPrefix("FIELD"))
        #expect(blame.lines[1].hasPrefix("home.city  Bonn") && blame.lines[2].hasPrefix("plan       free"))
        let log = try cli.succeed("blame", "jane", "plan", "--log").output
        #expect(log.contains("attributes, void @4") && log.contains("gold"))
        #expect(try cli.succeed("blame", "jane", "plan", "--format", "json").output.contains(#""value":"free""#))
        let twice = try cli.run("void", "3", "--reason", "a test")
        #expect(twice.status == 1 && twice.errors.contains("is void already, since position 4"))
        #expect(twice.errors.contains("`profilecli unvoid 3"))
        try cli.succeed("unvoid", "3", "--reason", "it was right")
        #expect(try cli.succeed("blame", "jane", "plan").output.contains("gold"))
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
        #expect(try cli.succeed("replay", "--verify").status == 0)
    }

    @Test("An empty text is shown as one, now and before")
    func emptyText() throws {
        let cli = try CLI()
        try cli.succeed("log", "attribute", "jane", "note=")
        #expect(try cli.succeed("history", "jane").output.contains("note=\"\""))
        #expect(try cli.succeed("blame", "jane").lines.last?.hasPrefix("note   \"\"     ") == true)
        #expect(try cli.succeed("blame", "jane", "note", "--log").output.contains("\"\""))
        #expect(try cli.succeed("profile", "jane").output.contains(/note +"" +2\n/))
        try cli.succeed("log", "attribute", "jane", "note=more")
        #expect(try cli.succeed("blame", "jane").lines.last?.hasSuffix("\"\"") == true)
        #expect(try cli.succeed("diff", "jane", "version:2").output.contains("\"\""))
    }

    @Test("Blame shows events and products after the attributes")
    func counts() throws {
        let cli = try CLI()
        try cli.succeed("log", "attribute", "jane", "plan=free")
        try cli.succeed("save", "event", "jane", "Viewed Home")
        try cli.succeed("launch")
        try cli.succeed("log", "purchase", "jane", "shoes", "--price", "5", "--currency", "EUR", "--quantity", "2")
        let blame = try cli.succeed("blame", "jane").lines
        #expect(blame[0].hasPrefix("FIELD") && blame[2].hasPrefix("WHAT"), "\(blame)")
        #expect(blame[3].hasPrefix("event:Viewed Home") && blame[4].hasPrefix("product:shoes"), "\(blame)")
        let log = try cli.succeed("blame", "jane", "event:Viewed Home", "--log").output
        #expect(log.contains("event saved") && log.contains("launch @"), "\(log)")
        let wrong = try cli.run("blame", "jane", "product:shoe")
        #expect(wrong.status == 1 && wrong.errors.contains("Did you mean product:shoes?"), "\(wrong.errors)")
        let plain = try cli.run("blame", "jane", "Viewed Home")
        #expect(plain.status == 1 && plain.errors.contains("Did you mean event:Viewed Home? It has plan."))
    }

    @Test("Wrong input gets a sentence and the next step")
    func wrong() throws {
        let cli = try CLI()
        try cli.succeed("log", "attribute", "jane", "plan=free")
        let created = try cli.run("void", "1", "--reason", "x")
        #expect(created.status == 1 && created.errors.contains("is of the kind userCreated"))
        let beyond = try cli.run("void", "9", "--reason", "x")
        #expect(beyond.status == 1 && beyond.errors.contains("the log ends at position 2"))
        let field = try cli.run("blame", "jane", "plam")
        #expect(field.status == 1 && field.errors.contains("Did you mean plan?"))
        #expect(try cli.run("void", "2").status == 64)
        #expect(try cli.run("blame", "nobody").status == 1)
    }
}
