import Foundation
import TestSupport
import Testing

@Suite("profilecli erase")
struct EraseCommandTests {
    /// A guest and an account with the address x@example.com, in this order.
    private func withTwo(_ body: (CLI) throws -> Void) throws {
        let cli = try CLI()
        try cli.succeed("log", "user-attribute", "email:x@example.com", "first_name", "Guest")
        try cli.succeed("log", "user-attribute", "u", "email", "x@example.com")
        try body(cli)
        try cli.succeed("check")
    }

    private func left(_ cli: CLI) throws -> [String] {
        try cli.succeed("users", "--format", "json").lines.filter { !$0.contains(#""erased":true"#) }.map { line in
            line.components(separatedBy: #""id":""#)[1].components(separatedBy: "\"")[0]
        }
    }

    @Test("Of several users with an address it lists all and erases none, and says the exact commands")
    func several() throws {
        try withTwo { cli in
            for arguments in [["--yes"], []] {
                let refused = try cli.run(["erase", "email:x@example.com", "--reason", "request 1"] + arguments)
                #expect(refused.status == 64)
                #expect(refused.errors.contains("identified") && refused.errors.contains("e-mail address only"))
                #expect(refused.errors.contains("2 users have this address."))
                #expect(try left(cli).count == 2)
            }
            let refused = try cli.run(["erase", "email:x@example.com", "--reason", "request 1"])
            // The first command erases the account, which reads and writes by the address mean.
            let commands = refused.errors.components(separatedBy: "`").filter { $0.hasPrefix("profilecli erase") }
            #expect(commands.count == 3)
            let first = try #require(commands.first)
            #expect(try cli.shell(first.replacing("profilecli", with: "$0")).status == 0)
            #expect(try left(cli) == ["email:x@example.com"])
            try cli.succeed("erase", "email:x@example.com", "--reason", "request 1", "--yes")
            #expect(try left(cli).isEmpty)
        }
    }

    @Test("--all erases all of them, each with a line of its own")
    func all() throws {
        try withTwo { cli in
            let answer = try cli.succeed(
                "erase", "email:x@example.com", "--all", "--reason", "r", "--yes", "--format", "json")
            #expect(answer.lines.count == 2)
            #expect(try left(cli).isEmpty)
        }
    }

    @Test("profilecli erase without a terminal shows who it would be, and erases nothing before --yes")
    func unconfirmed() throws {
        let cli = try CLI()
        try cli.succeed("log", "user-attribute", "e", "email", "e@example.com")
        for name in ["e", "email:e@example.com"] {
            let refused = try cli.run(["erase", name, "--reason", "r"])
            #expect(refused.status == 64)
            #expect(refused.errors.contains("identified") && refused.errors.contains("Add --yes to do it."))
            #expect(try left(cli) == ["e"])
        }
        #expect(try cli.succeed("erase", "email:e@example.com", "--reason", "r", "--yes").output.contains("Erased"))
        #expect(try left(cli).isEmpty)
        #expect(try cli.run(["erase", "email:e@example.com", "--reason", "r", "--yes"]).status == 1)
    }

    @Test("profilecli erase on a terminal asks which user, and again before it erases")
    func asked() throws {
        try withTwo { cli in
            let command = #"erase email:x@example.com --reason r"#
            for answers in ["\n", "3\n", "2\nno\n", "all\n\n"] {
                let shown = try PseudoTerminal.output(of: command, cli, answering: answers)
                #expect(shown.contains("Erase which?") && shown.contains("Nothing was erased."), "\(shown)")
                #expect(try left(cli).count == 2)
            }
            let shown = try PseudoTerminal.output(of: command, cli, answering: "2\nyes\n")
            #expect(shown.contains("Erase email:x@example.com for ever?"), "\(shown)")
            #expect(try left(cli) == ["u"])
        }
    }
}
