import Foundation
import TestSupport
import Testing

@Suite("profilecli whatif about another history")
struct ProfileWhatIfTests {
    private let cli: CLI

    init() throws {
        cli = try CLI(after: [
            ["log", "attribute", "ana", "level=3", "plan=gold"], ["log", "event", "ana", "played"],
            ["log", "attribute", "bo", "level=9"], ["save", "event", "ana", "paused"],
        ])
    }

    @Test("A sentence, a table of fields, and the users with both values")
    func table() throws {
        let outcome = try cli.succeed("whatif", "--without", "name:level", "--where", "custom.level >= 5")
        #expect(outcome.output.contains(/custom level +0 +0 +2\b/), "\(outcome.output)")
        #expect(outcome.output.contains("bo  would leave\n") && outcome.output.contains(/- +custom level +9/))
        let sentences = "2 of 2 profiles would differ; 2 values would be lost.\n0 users would enter, 1 would leave.\n\n"
        #expect(outcome.output.hasPrefix(sentences), "\(outcome.output)")
        let nothing = try cli.succeed("whatif", "--without", "source:import").output
        #expect(nothing == "Nothing differs: 2 profiles compared.\n")
        let json = try cli.succeed("whatif", "--without", "event:2", "--format", "json", "--sample", "0").lines
        #expect(json.count == 3 && json[2].contains(#""changed":1"#), "\(json)")
    }

    @Test("A what-if begins after a user, in a history up to a position")
    func after() throws {
        let rest = try cli.succeed("whatif", "--without", "name:level", "--after", "1@5")
        #expect(rest.output.hasPrefix("1 of 1 profile would differ; 1 value would be lost."), "\(rest.output)")
        let wrong = try cli.run("whatif", "--without", "name:level", "--after", "1")
        #expect(wrong.status == 64 && wrong.errors.contains("--after must be the"), "\(wrong.errors)")
        let alone = try cli.run("whatif", "--after", "1@5")
        #expect(alone.status == 64 && alone.errors.contains("--after is about another history."), "\(alone.errors)")
        let program = try cli.run("whatif", "--program", "/bin/cat", "--after", "1@5")
        #expect(program.status == 64 && program.errors.contains("Omit --after"), "\(program.errors)")
    }

    @Test("Of many fields the 20 that differ for most users are shown, and times of the profile last")
    func manyFields() throws {
        _ = try cli.run(["log", "attribute", "bo"] + (10..<40).map { "z\($0)=1" })
        try cli.succeed("log", "attribute", "ana", "z39=1")
        let arguments = ["whatif", "--without", "source:cli"]
        let lines = try cli.run(arguments + ["--sample", "0"]).lines
        #expect(lines[0].hasPrefix("2 of 2 profiles would differ"), "\(lines)")
        #expect(lines[1].hasPrefix("FIELD") && lines[2].contains(/custom level +0 +0 +2/), "\(lines)")
        #expect(lines[3].contains(/custom z39 +0 +0 +2/) && lines[22] == "and 14 more fields (--format json has all).")
        #expect(lines.count == 23 && !lines.contains { $0.contains("profile last_seen") }, "\(lines)")
        let all = try cli.run(arguments + ["--sample", "0", "--format", "json"]).lines
        #expect(all.count == 35 && all.contains { $0.contains(#""field":"last_seen""#) }, "\(all.count)")
    }

    @Test(
        "--fail-on ends with 2 if it is met",
        arguments: [
            (["changed"], "name:level", Int32(2)), (["changed"], "source:import", 0), (["lost"], "name:level", 2),
            (["1"], "name:level", 2), (["2"], "name:level", 0), (["9", "changed"], "event:2", 2),
        ])
    func failOn(words: [String], without: String, status: Int32) throws {
        let outcome = try cli.run(["whatif", "--without", without] + words.flatMap { ["--fail-on", $0] })
        #expect(outcome.status == status, "\(outcome.errors)")
    }

    @Test("Other rules come from a file, whose mistakes are told with their line")
    func rules() throws {
        try cli.succeed("log", "attribute", "ana", "level=8")
        let file = try cli.write("attribute_policies:\n  level: first\n", as: "rules.yaml")
        let outcome = try cli.succeed("whatif", "--rules", file, "--where", "custom.level >= 5")
        #expect(outcome.output.contains(/~ +custom level +8 +3/) && outcome.output.contains("1 would leave."))
        let bad = try cli.write("attribute_policies:\n  level: frst\n", as: "bad.yaml")
        let refused = try cli.run("whatif", "--rules", bad)
        #expect(refused.status == 64 && refused.errors.contains("bad.yaml:2:"), "\(refused.errors)")
    }

    @Test("profilecli fold, fed over a pipe, folds the profiles of the store")
    func ownProgram() throws {
        try cli.succeed("simulate", "--devices", "3", "--days", "5", "--seed", "7", "--store", "story")
        let program = CLI.program.path
        let file = try cli.write("attribute_policies:\n  level: first\n", as: "rules.yaml")
        try cli.succeed("rules", "set", file)
        try cli.succeed("log", "attribute", "ana", "level=8")
        for store in [cli.store, "story"] {
            let outcome = try cli.run(
                [
                    "whatif", "--program", program, "--program-argument", "fold", "--store", store, "--fail-on",
                    "changed",
                ])
            #expect(outcome.status == 0 && outcome.output.hasPrefix("Nothing differs: "), "\(outcome)")
        }
    }

    @Test("The program of the docs counts events, and only they are compared")
    func python() throws {
        let text = try Repository.text("docs/fold-protocol.md")
        let code = try #require(text.components(separatedBy: "```python\n").dropFirst().first)
        let script = try cli.write(code.components(separatedBy: "```")[0], as: "count.py")
        let arguments = ["whatif", "--program", "python3", "--program-argument", script]
        let outcome = try cli.run(arguments)
        #expect(outcome.status == 0 && outcome.output.contains(/event paused +1 +0 +0/), "\(outcome)")
        #expect(outcome.output.contains("1 of 2 profiles would differ; no value would be lost."), "\(outcome)")
        #expect(try cli.run(arguments + ["--user", "bo"]).output == "Nothing differs: 1 profile compared.\n")
    }

    @Test(
        "A program that fails is told in a sentence with the next step",
        arguments: [
            ("exit 3", "ended with status 3 before it gave the profile"),
            ("cat > /dev/null & kill -SEGV $$", "ended by signal 11"),
            ("sleep 60", "gave no profile of ana (user 1) in time"),
            ("echo 'Traceback: x'; cat > /dev/null", "is no profile of ana (user 1): Traceback: x"),
            (#"echo '{"user":2,"profile":{}}'; cat > /dev/null"#, #"is no profile of ana (user 1): {"user":2"#),
            ("yes no", "is no profile of ana (user 1): no"), ("exec cat", "is no profile of ana (user 1): {"),
            ("head -c 10; exit 0", #"(user 1). It had printed: {"protocol"#),
        ])
    func badProgram(script: String, message: String) throws {
        let outcome = try cli.run(
            "whatif", "--program", "/bin/sh", "--program-argument", "-c", "--program-argument", script,
            "--program-limit", "2s")
        #expect(outcome.status == 1 && outcome.errors.contains(message), "\(script): \(outcome.errors)")
        #expect(outcome.errors.split(separator: "\n").count >= 2)
    }

    @Test("Wrong usage is one sentence and a next step")
    func usage() throws {
        let rows: [([String], String)] = [
            (["--sample", "3"], "--sample is about another history."),
            (["--fail-on", "changed"], "--fail-on is about another history."),
            (["--without", "event:2", "--fault", "3"], "Options of the published guide"),
            (["--without", "event:2", "--fail-on", "left"], "Name it with --where."),
            (["--without", "event:2", "--fail-on", "some"], "--fail-on"),
            (["--without", "event:2", "--budget", "soon"], "--budget must be a time"),
            (["--without", "event:2", "--program", "x"], "--program gets the history as it is."),
            (["--without", "event:2", "--program-limit", "1s"], "is about another program"),
            (["--program", "/nonexistent/x"], "cannot be started"),
            (["--without", "evnt:2"], "--without has an unknown word"),
            (["--correct", "2={}"], "--correct has an event that cannot be"),
        ]
        for (arguments, message) in rows {
            let outcome = try cli.run(["whatif"] + arguments)
            #expect(outcome.status == 64 && outcome.errors.contains(message), "\(arguments): \(outcome.errors)")
        }
    }

    @Test("fold refuses lines that are none of the protocol")
    func fold() throws {
        let hello = #"{"protocol":"profilelog-fold","version":1}"#
        for (input, message) in [
            ("x", "Line 1 is no JSON object."),
            (#"{"end":1}"#, "Line 1 comes before the line that names the protocol."),
            (#"{"protocol":"profilelog-fold","version":2}"#, "Line 1 begins another protocol"),
            (hello + "\n{}", "Line 2 has none of"), (hello + "\n" + #"{"merge":"end"}"#, "a merge that did not begin"),
            (hello + "\n" + #"{"event":{"position":1},"record":"00"}"#, "without its position or its record"),
        ] {
            let outcome = try cli.run(["fold"], input: input + "\n")
            #expect(outcome.status == 1 && outcome.errors.contains(message), "\(input): \(outcome.errors)")
        }
        #expect(try cli.run(["fold"], input: hello + "\n" + #"{"end":7}"#).output.hasPrefix(#"{"user":7,"profile""#))
    }
}
