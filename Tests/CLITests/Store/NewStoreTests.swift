import Foundation
import Testing

@Suite("What makes a store, and what does not")
struct NewStoreTests {
    private let cli: CLI

    init() throws { cli = try CLI() }

    private func exists() -> Bool { FileManager.default.fileExists(atPath: cli.store) }

    @Test(
        "A mistyped folder gets no store, and the error names the next step",
        arguments: [
            ["launch"], ["change-user", "ana"], ["device", "settings", "--offline"], ["device", "leave"],
            ["device", "send"], ["device", "log-out"], ["pending", "discard", "--reason", "x"], ["pending"], ["stats"],
            ["erase", "ana", "--reason", "x", "--yes"], ["compact"], ["replay"], ["check"], ["tail"],
        ])
    func refused(arguments: [String]) throws {
        let outcome = try cli.run(arguments)
        #expect(outcome.status == 1 && outcome.output.isEmpty)
        #expect(outcome.errors.contains("There is no ProfileLog store in"), "\(outcome.errors)")
        #expect(outcome.errors.contains("the first `save`, `log`, `import` or `simulate` makes a store"))
        #expect(!exists())
    }

    @Test(
        "The first save, log, import or simulation makes one and says so",
        arguments: [
            ["save", "event", "ana", "a"], ["log", "event", "ana", "a"], ["import", "events.jsonl"],
            ["simulate", "--devices", "1", "--days", "1"],
        ])
    func made(arguments: [String]) throws {
        _ = try cli.write(#"{"kind":"custom_event","user":"u","name":"a"}"#, as: "events.jsonl")
        let outcome = try cli.run(arguments)
        #expect(outcome.status == 0 && outcome.errors.hasPrefix("New store at "), "\(outcome.errors)")
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
    }

    @Test(
        "A refused first write makes no store",
        arguments: [
            (["save", "user-attribute", "ana", "emial", "x"], 64),
            (["log", "user-attribute", "ana", "dob", "soon"], 64),
            (["log", "event", "ana", ""], 64), (["save", "event", "ana", "a", "--device", ""], 64),
            (["log", "event", "ana", "a", "--expect", "3"], 75), (["log", "event", "braze:1", "a"], 1),
        ] as [([String], Int32)])
    func refusedFirst(arguments: [String], status: Int32) throws {
        let outcome = try cli.run(arguments)
        #expect(outcome.status == status && outcome.output.isEmpty, "\(outcome)")
        #expect(!outcome.errors.contains("New store"), "\(outcome.errors)")
        #expect(!exists())
        let next = try cli.succeed("log", "event", "ana", "a")
        #expect(next.output.hasPrefix("Logged at position 2") && next.errors.hasPrefix("New store at "), "\(next)")
    }

    @Test(
        "An import that is refused at once makes no store",
        arguments: [(".", 64), ("bad.jsonl", 1), ("-", 1)] as [(String, Int32)])
    func refusedImport(file: String, status: Int32) throws {
        _ = try cli.write("{\n", as: "bad.jsonl")
        let outcome = try cli.run(["import", file], input: "{\n")
        #expect(outcome.status == status)
        #expect(!exists())
    }

    @Test("An import whose first lines are in order makes one, whatever comes later")
    func laterLine() throws {
        let line = #"{"kind":"custom_event","user":"u","name":"a","properties":{"x":1}}"# + "\n"
        let file = try cli.write(String(repeating: line, count: 1_500) + "{\n", as: "events.jsonl")
        #expect(try cli.run("import", file).errors.contains("1,000 events before its chunk are stored"))
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
        #expect(try cli.succeed("history", "u", "--format", "json").lines.count == 1_001)
    }

    @Test("A line that only the log can make is no line to correct")
    func madeByLog() throws {
        try cli.succeed("save", "event", "ana", "a")
        try cli.succeed("launch")
        let file = try cli.write(cli.succeed("export").output, as: "log.jsonl")
        let outcome = try cli.run("import", file, "--store", "copy")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("Line 2 of"))
        #expect(outcome.errors.contains("events of the kind userChanged are made by the log alone"))
        #expect(!outcome.errors.contains("Correct line"))
        #expect(outcome.errors.contains("replay --into FOLDER"))
        // What the remedy names works.
        let kinds = outcome.errors.matches(of: /--kind [A-Za-z]+/).flatMap { $0.output.split(separator: " ") }
        let exported = try cli.run(["export"] + kinds.map(String.init)).output
        #expect(!exported.isEmpty)
        #expect(try cli.run("import", "-", "--store", "copy", input: exported).status == 0)
    }
}
