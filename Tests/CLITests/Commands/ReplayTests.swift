import Foundation
import Testing

@Suite("Replay")
struct ReplayTests {
    private static let sample = Result {
        let cli = try CLI()
        let events = try cli.succeed("generate", "--events", "3000", "--users", "40").output
        #expect(try cli.run("import", "-", input: events).status == 0)
        try cli.succeed("save", "event", "jane", "opened", "--process", "PushContent")
        try cli.succeed("launch")
        return try Data(contentsOf: cli.file)
    }

    private func filled() throws -> CLI { try CLI(Self.sample.get()) }

    private func digest(_ cli: CLI, _ arguments: String...) throws -> String {
        let outcome = try cli.run(["replay", "--format", "json"] + arguments)
        #expect(outcome.status == 0, "\(outcome.errors)")
        return String(try #require(outcome.output.components(separatedBy: #""digest":""#).last).prefix(64))
    }

    @Test("Live equals replay, with any number of threads")
    func verify() throws {
        let cli = try filled()
        #expect(try cli.succeed("replay", "--verify").output.contains("Equal"))
        let digest = try digest(cli)
        for threads in ["2", "3", "4"] { #expect(try self.digest(cli, "--threads", threads) == digest) }
    }

    @Test("A rebuilt store holds the same, and is refused where something else is")
    func into() throws {
        let cli = try filled()
        try cli.succeed("replay", "--into", "copy")
        #expect(try cli.succeed("export", "--store", "copy").output == cli.succeed("export").output)
        #expect(try cli.succeed("check", "--store", "copy").output.hasPrefix("Sound"))
        #expect(try digest(cli, "--store", "copy") == digest(cli))
        try cli.succeed("replay", "--into", "copy")  // nothing to do
        try cli.succeed("log", "event", "ana", "a", "--store", "other")
        let refused = try cli.run("replay", "--into", "other")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("name an empty folder"))
        #expect(try cli.run("replay", "--into", "x", "--verify").status == 64)
    }

    @Test("The proof says how many users and devices it compared, and what it did not")
    func proof() throws {
        let cli = try CLI()
        try cli.succeed("save", "event", "jane", "opened")
        try cli.succeed("launch")
        let whole = try cli.succeed("replay", "--verify").output
        let sentence = "Equal: 1 user (3 profiles, now and after every launch) and 1 device compared with a fresh fold."
        #expect(whole.contains(sentence), "\(whole)")
        let part = try cli.succeed("replay", "--verify", "--until", "3").output
        #expect(part.contains("Equal: 1 user (1 profile, now and after every launch) compared"), "\(part)")
        #expect(part.contains("Not compared: what waits on devices"))
        #expect(try cli.succeed("replay", "--verify", "--until", "6").output.contains("and 1 device"))
        let json = try cli.succeed("replay", "--verify", "--until", "3", "--format", "json").output
        #expect(json.contains(#""compared":1,"devices_compared":null,"equal":true"#))
    }

    @Test("A replay stops at a position")
    func until() throws {
        let cli = try filled()
        #expect(try cli.succeed("replay", "--until", "1000", "--format", "json").output.contains(#""events":1000"#))
        try cli.succeed("replay", "--until", "1000", "--into", "past")
        #expect(try cli.succeed("stats", "--store", "past", "--format", "json").output.contains(#""events":1000,"#))
        let long = try cli.succeed("replay", "--until", "2000-01-01T00:00:00Z", "--format", "json")
        #expect(long.output.contains(#""events":0,"#))
        for more in [[], ["--verify"], ["--into", "beyond"]] {
            let refused = try cli.run(["replay", "--until", "999999"] + more)
            #expect(refused.status == 1, "\(more)")
            #expect(refused.errors.hasPrefix("Error: --until is beyond the log's last position, "), "\(refused.errors)")
            #expect(refused.errors.contains("Ask for an earlier one."))
        }
    }

    @Test("Ctrl-C stops an import at a chunk, and a rerun resumes")
    func interrupt() throws {
        let cli = try CLI()
        try cli.succeed("generate", "--events", "20000", "--users", "1000", "-o", "events.jsonl")
        let script = """
            "$0" import events.jsonl & until [ -s store/data.mdb ]; do sleep 0.02; done; sleep 0.2; kill -INT $!; \
            wait $!
            """
        let stopped = try cli.shell(script)
        #expect(stopped.status == 130, "\(stopped.output)")
        #expect(stopped.errors.contains("Stopped by Ctrl-C"))
        #expect(stopped.errors.contains("run the same command again"))
        let resumed = try cli.succeed("import", "events.jsonl", "--format", "json").output
        let counts = resumed.split { !$0.isNumber }.compactMap { Int($0) }
        #expect(counts[0] + counts[1] == 20_000)
        #expect(counts[1] > 0)
        #expect(counts[1] % 1_000 == 0)
    }
}
