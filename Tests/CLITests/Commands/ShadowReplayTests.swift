import Foundation
import ProfileLog
import Testing

@Suite("replay --shadow")
struct ShadowReplayTests {
    private func filled() throws -> CLI {
        let cli = try CLI()
        let events = try cli.succeed("generate", "--events", "2000", "--users", "30").output
        #expect(try cli.run("import", "-", input: events).status == 0)
        try cli.succeed("log", "event", "ana", "seen")
        return cli
    }

    @Test("States are folded next to those that are read, compared, and swapped")
    func story() throws {
        let cli = try filled()
        let digest = try cli.succeed("replay").output.suffix(65)
        let folded = try cli.succeed("replay", "--shadow", "--threads", "2", "--verify").output
        #expect(folded.contains("The shadow is complete:") && folded.contains("of 31 users"), "\(folded)")
        #expect(folded.contains("Next: profilecli replay --swap"))
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
        #expect(try cli.succeed("replay", "--swap").output.hasPrefix("Swapped: "))
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
        #expect(try cli.succeed("replay", "--verify").output.suffix(65) == digest)
        let json = try cli.succeed("replay", "--shadow", "--user", "ana", "--swap", "--format", "json").output
        #expect(json.contains(#""states":2,"users":1,"users_done":1},"swapped":true"#), "\(json)")
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
        let passing = try cli.succeed("replay", "--shadow", "--where", "events.seen.count >= 1", "--swap").output
        #expect(passing == "Swapped: 2 states of 1 user are live.\n", "\(passing)")
    }

    @Test("Of short histories no state is stored, which is said")
    func short() throws {
        let cli = try CLI(after: [["log", "event", "ana", "a"], ["log", "event", "bo", "a"]])
        let folded = try cli.succeed("replay", "--shadow", "--verify").output
        #expect(
            folded.hasPrefix(
                "The shadow is complete: 2 users, all with histories so short that no state is stored, and none to "
                    + "compare.\n"), "\(folded)")
    }

    @Test("A stopped replay --shadow says from where it goes on")
    func goesOn() throws {
        let cli = try filled()
        var options = LogOptions()
        options.usersPerIndexSlice = 10
        let log = try EventLog(
            path: cli.store, options: options,
            projections: [ProfileProjection.self, UsageProjection.self, CatalogueProjection.self])
        #expect(try !log.replayIntoShadow { _ in false }.isComplete)
        let outcome = try cli.succeed("replay", "--shadow")
        #expect(outcome.errors == "Going on after 10 of 31 users.\n" && outcome.output.contains("of 31 users"))
        #expect(try cli.succeed("replay", "--shadow").errors.isEmpty)
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
    }

    @Test("replay --shadow with --url is folded by the service")
    func remote() throws {
        let cli = try filled()
        let service = try RemoteTests.Service(cli)
        let outcome = try cli.run(["replay", "--shadow", "--swap"], environment: service.environment)
        #expect(outcome.status == 0 && outcome.output.hasPrefix("Swapped: "), "\(outcome.errors)")
        let refused = try cli.run(["replay"], environment: service.environment)
        #expect(refused.status == 64 && refused.errors.contains("works on a store's own files"))
        _ = service.end()
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
    }

    @Test("Wrong usage, and a shadow of other work, is one sentence and a next step")
    func usage() throws {
        let cli = try filled()
        let rows: [([String], Int32, String)] = [
            (["--swap"], 1, "There is no shadow to swap."),
            (["--swap"], 1, "Make one with `profilecli replay --shadow`."),
            (["--shadow", "--into", "x"], 64, "Omit one."),
            (["--where", "version > 1"], 64, "Add --shadow."),
            (["--shadow", "--user", "ana", "--where", "version > 1"], 64, "Omit one."),
            (["--shadow", "--where", "events.sean.count > 1"], 1, "Did you mean"),
            (["--discard", "--swap"], 64, "Omit one of them."),
            (["--swap", "--verify"], 64, "Add --shadow."), (["--user", "ana"], 64, "Add --shadow."),
            (["--shadow", "--until", "2026-01-01T00:00:00Z"], 64, "--until must be a position."),
            (["--shadow", "--until", "9999999"], 1, "--until is beyond the log's last position, "),
            (["--shadow", "--threads", "17"], 64, "from 1 to 16"),
            (["--shadow", "--user", "nobody"], 1, "No user has this ID."),
        ]
        for (arguments, status, sentence) in rows {
            let outcome = try cli.run(["replay"] + arguments)
            #expect(outcome.status == status && outcome.errors.contains(sentence), "\(arguments): \(outcome.errors)")
        }
        try cli.succeed("replay", "--shadow", "--until", "100")
        let other = try cli.run("replay", "--shadow")
        #expect(other.status == 1 && other.errors.contains("up to position 100"), "\(other.errors)")
        #expect(other.errors.contains("`profilecli replay --discard`"))
        #expect(try cli.succeed("replay", "--discard").output == "The shadow is discarded.\n")
        #expect(try cli.succeed("replay", "--discard").output == "There is no shadow.\n")
    }
}
