import Foundation
import Testing

@Suite("An answer that cannot be written")
struct UnwritableOutputTests {
    private let cli: CLI

    init() throws { cli = try CLI(after: [["save", "event", "jane", "first"]]) }

    /// Runs `profilecli` with `arguments` and the standard output that `redirection` makes of it.
    private func run(_ redirection: String, _ arguments: [String]) throws -> CLI.Outcome {
        try cli.shell("program=$0; \"$program\" \"$@\" \(redirection)", arguments)
    }

    private func events() throws -> Int { try cli.succeed("export").lines.count }

    @Test(
        "A write says that it was done, and advises nothing that would do it twice",
        arguments: [
            ["log", "event", "jane", "a"], ["save", "event", "jane", "a"], ["launch"], ["change-user", "bob"],
            ["device", "settings", "phone", "--offline"], ["pending", "discard", "--reason", "test"],
            ["log", "event", "jane", "a", "--format", "json"], ["erase", "jane", "--reason", "test", "--yes"],
        ])
    func write(arguments: [String]) throws {
        let before = try events()
        let outcome = try run(arguments.count % 2 == 0 ? ">/dev/full" : ">&-", arguments)
        #expect(outcome.status == 74, "\(outcome.errors)")
        #expect(outcome.errors.contains("Stored at position "), "\(outcome.errors)")
        #expect(outcome.errors.contains("only the answer could not be written ("), "\(outcome.errors)")
        #expect(outcome.errors.contains("Do not run it again"), "\(outcome.errors)")
        for word in ["same command", "Free some space", "Invalid argument"] { #expect(!outcome.errors.contains(word)) }
        #expect(try events() > before)
    }

    @Test("What was stored before, under the same key, is not said to be stored now")
    func repeated() throws {
        try cli.succeed("log", "event", "jane", "a", "--key", "k")
        let outcome = try run(">/dev/full", ["log", "event", "jane", "a", "--key", "k"])
        #expect(outcome.status == 74)
        #expect(!outcome.errors.contains("Stored at"), "\(outcome.errors)")
    }

    @Test("An import and a compaction say so too")
    func whole() throws {
        let line = #"{"kind":"custom_event","user":"u","name":"a"}"#
        let file = try cli.write(line + "\n", as: "events.jsonl")
        let imported = try run(">/dev/full", ["import", file])
        #expect(imported.status == 74)
        #expect(imported.errors.contains("1 event is stored; only the answer could not"), "\(imported.errors)")
        let compacted = try run(">/dev/full", ["compact"])
        #expect(compacted.status == 74)
        #expect(compacted.errors.contains("The store is compacted; only the answer"), "\(compacted.errors)")
    }

    @Test("A question may be asked again")
    func read() throws {
        let full = try run(">/dev/full", ["history", "jane"])
        #expect(full.status == 74)
        #expect(full.errors.contains("Free some space or write elsewhere, and run the same command again."))
        let closed = try run(">&-", ["history", "jane"])
        #expect(closed.status == 74)
        #expect(closed.errors.contains("The output cannot be written: it is closed."), "\(closed.errors)")
        #expect(!closed.errors.contains("Free some space"))
    }

    @Test(
        "Help and version are an output too",
        arguments: [["--help"], ["help", "log"], ["log", "event", "--help"], ["--version"], []])
    func help(arguments: [String]) throws {
        let full = try run(">/dev/full", arguments)
        #expect(full.status == 74, "\(full.errors)")
        #expect(full.errors.contains("Error: The output cannot be written: No space left on device."), "\(full.errors)")
    }

    @Test("No file of the store takes the place of a descriptor that was closed")
    func closed() throws {
        let outcome = try run("<&- >&- 2>&-", ["log", "event", "jane", "a"])
        #expect(outcome.status == 74)
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
        #expect(try run("<&-", ["import", "-"]).status == 1)
    }
}
