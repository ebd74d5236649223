import Foundation
import TestSupport
import Testing

@Suite("docs/history.md")
struct HistoryGuideTests {
    private let cli: CLI

    /// The first block of the guide, which makes the store of the story.
    private let setup: String
    /// The commands of the other blocks.
    private let commands: [Substring]

    /// The variables of the shell of a reader who pasted the setup.
    private let environment = ["PROFILELOG_STORE": "ana-store"]

    init() throws {
        cli = try CLI()
        let blocks = try Repository.text("docs/history.md").components(separatedBy: "```sh\n").dropFirst()
            .map { $0.components(separatedBy: "\n```")[0] }
        setup = try #require(blocks.first)
        commands = blocks.dropFirst().flatMap { $0.split(separator: "\n") }
    }

    /// Runs a script of the guide, and gives what it prints.
    private func run(_ script: some StringProtocol) throws -> String {
        let outcome = try cli.shell("profilecli() { \"$0\" \"$@\"; }; \(script)", environment: environment)
        #expect(outcome.status == 0, "\(script): \(outcome.errors)")
        // A list that is empty says so on standard error.
        #expect(!outcome.output.isEmpty || !outcome.errors.isEmpty, "\(script)")
        return outcome.output
    }

    @Test("Every command works, and answers its question")
    func answers() throws {
        #expect(commands.count >= 40)
        _ = try run(setup)
        var outputs: [String: String] = [:]
        for command in commands { outputs[String(command)] = try run(command) }
        func output(_ command: String) throws -> String { try #require(outputs["profilecli \(command)"]) }
        #expect(try output("profile ana --as-of -5d").contains(/level +6\b/))
        #expect(try output("profile ana --occurred").contains(/level +7\b/))
        #expect(try output("profile ana --occurred --as-of 2026-01-03").contains(/level +2\b/))
        let diff = try output("diff ana -5d")
        #expect(diff.contains(/~ +custom address.city +Köln +Bonn/), "\(diff)")
        #expect(!diff.contains("address.street"), "\(diff)")
        #expect(diff.contains(/[+] +event Completed Match Game +1\b/), "\(diff)")
        let launch = try output("profile ana --at-launch -1")
        #expect(launch.contains("launch 1 of 1") && launch.contains(/custom level +6 +7/), "\(launch)")
        #expect(try output("history ana --field level").contains(/attributes saved +level=7/))
        #expect(try output("pending --as-of 8 --device phone").contains("2 items wait, as of that moment."))
        #expect(try output("diff --all -3d").contains("1 user changed, 0 of them new."))
        #expect(try output("diff --all yesterday today").contains("0 users changed"))
        #expect(try output("users --where 'custom.level >= 6' --as-of -3d").contains("ana"))
        #expect(try output(#"users --where 'events."Viewed Home".count >= 1 in 30d' --count"#) == "1\n")
        #expect(try output(#"stats --plot "Viewed Home" --length 10"#).contains("1  █"))
        let traits = try output("traits ana --as-of -3d --workspace workspace.yaml")
        #expect(traits.contains(/looks +1 +count +event Viewed Home +30d/), "\(traits)")
        let profiles = try output("export --profiles --as-of -3d --format csv")
        #expect(profiles.contains("number,user,") && profiles.contains(#"""city"":""Köln"""#), "\(profiles)")
        #expect(try output("export --events --since -3d").contains(#""name":"Completed Match Game""#))
        let level = try output("whatif --without name:level --where 'custom.level >= 2'")
        #expect(level.contains("0 users would enter, 1 would leave."), "\(level)")
        let looks = "whatif --without name:'Viewed Home' --where 'traits.looks >= 1' --workspace workspace.yaml"
        #expect(try output(looks).contains("1 would leave"))
        let tablet = try output("whatif --without device:tablet --where 'custom.level >= 6'")
        #expect(tablet.contains(/~ +custom level +2 +7\b/) && tablet.contains("1 user would enter"), "\(tablet)")
        #expect(try output("blame ana level --log").contains(/7 +.* attributes saved +app on phone, launch @9/))
        #expect(try output(#"void 12 --reason "an old level of a tablet""#).contains("it changes level"))
        #expect(try output("profile ana --as-of 12").contains(/level +2\b/))
        let graph = try output("history ana --graph")
        #expect(graph.hasSuffix("\n· 1  : 2  + 3-4  ▪ 5-8  ■ 9-16  █ more events in a column\n"), "\(graph)")
        #expect(graph.contains(/phone +identity/) && graph.contains(/tablet +logged/), "\(graph)")
    }

    @Test("A timeline is as wide as the terminal")
    func timeline() throws {
        _ = try run(setup)
        for columns in [40, 80, 200] {
            let variables = environment.merging(["COLUMNS": "\(columns)"]) { $1 }
            let outcome = try cli.run(["history", "ana", "--graph"], environment: variables)
            #expect(outcome.status == 0 && outcome.lines.count >= 5)
            for line in outcome.lines { #expect(line.count <= columns, "\(line)") }
        }
    }

    @Test("Wrong usage is one sentence and a next step")
    func usage() throws {
        try cli.succeed("log", "event", "ana", "a")
        let rows: [([String], String)] = [
            (["diff", "ana"], "Write USER A [B], or --all A [B]."),
            (["diff", "ana", "noon"], "A is no moment of the past"),
            (["diff", "--all", "noon"], "A is no moment of the past"),
            (["diff", "ana", "--all", "-3d"], "USER and --all exclude each other. Omit one of them."),
            (["diff", "--all", "ana", "1", "2"], "USER and --all exclude each other. Omit one of them."),
            (["diff", "--all", "1", "noon"], "B is no moment of the past"),
            (["diff", "ana", "1", "99"], "B is beyond the log's last position, 2."),
            (["diff", "ana", "1", "--count"], "--count is for all users. Add --all."),
            (["diff", "ana", "1", "--colour"], "Unknown option '--colour'"),
            (["profile", "ana", "--as-of", "noon"], "--as-of is no moment of the past"),
            (["profile", "ana", "--as-of", "2999-01-01"], "--as-of is later than now"),
            (["profile", "ana", "--at-launch", "1"], "--at-launch is none of the user's launches"),
            (["profile", "ana", "--at-launch", "1", "--occurred"], "--at-launch shows both sides of a launch."),
            (["history", "ana", "--graph", "--format", "json"], "--graph is for people."),
            (["history", "ana", "--launch", "0"], "--launch must be the number of a launch"),
        ]
        for (arguments, message) in rows {
            let outcome = try cli.run(arguments)
            // This store's log is short, and Ana has no launch.
            let isRefused = ["beyond", "later than now", "none of the"].contains { message.contains($0) }
            #expect(outcome.status == (isRefused ? 1 : 64), "\(arguments)")
            #expect(outcome.errors.contains(message), "\(arguments): \(outcome.errors)")
        }
    }

    @Test("A local time is that of the terminal's zone")
    func zone() throws {
        try cli.succeed("log", "attribute", "ana", "n=1")
        let now = Date.now.formatted(.iso8601.year().month().day().time(includingFractionalSeconds: false))
        // Tokyo is nine hours ahead: there the same text is in the past, before Ana. In New York it is to come.
        let tokyo = try cli.run(["profile", "ana", "--as-of", now], environment: ["TZ": "Asia/Tokyo"])
        #expect(tokyo.status == 1 && tokyo.errors.contains("did not exist yet"), "\(tokyo.errors)")
        let west = try cli.run(["profile", "ana", "--as-of", now], environment: ["TZ": "America/New_York"])
        #expect(west.status == 1 && west.errors.contains("is later than now"), "\(west.errors)")
    }
}
