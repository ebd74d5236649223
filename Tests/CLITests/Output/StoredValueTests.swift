import Foundation
import Testing

@Suite("What was stored is not always what was meant")
struct StoredValueTests {
    private let cli: CLI

    init() throws { cli = try CLI() }

    @Test(
        "Text that looks like JSON and is none is stored as text, with a note",
        arguments: ["NaN", "-Infinity", "[NaN]", "{bad", "[1,2", " {\"a\":}"])
    func note(value: String) throws {
        let commands = [
            ["log", "attribute", "ana", "x=\(value)"], ["save", "event", "ana", "a", "-p", "x=\(value)"],
            ["log", "purchase", "ana", "p", "--price", "1", "--currency", "EUR", "-p", "x=\(value)"],
        ]
        for command in commands {
            let outcome = try cli.run(command)
            #expect(outcome.status == 0)
            #expect(outcome.errors.contains("x is stored as text, since its value is not valid JSON ("))
            // A remark shows no value.
            #expect(!outcome.errors.contains(value))
        }
    }

    @Test("Plain text, valid JSON and what is said to be text get none")
    func noNote() throws {
        try cli.succeed("log", "event", "ana", "a")
        for values in [["x=nancy"], ["x=a{b}"], ["x=[1,2]"], ["x={\"$set\":{\"a\":1}}"], ["--string", "x=[1,2"]] {
            let outcome = try cli.run(["log", "attribute", "ana"] + values)
            #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        }
    }

    @Test("An operation that changes nothing is not said to be effective")
    func withoutEffect() throws {
        try cli.succeed("log", "attribute", "ana", "w=text", "n=9223372036854775807", "ok=1")
        let rows: [(change: [String], reason: String)] = [
            ([#"w={"inc":1}"#], "without effect: w is no integer"),
            ([#"n={"inc":1}"#], "without effect: n would become more than 64 bits can hold"),
            ([#"w={"add":["a"]}"#], "without effect: w is no array"),
            ([#"none={"remove":["a"]}"#], "without effect: none has no value"),
            ([#"ok={"inc":1}"#, #"w={"inc":1}"#], "effective at once, but for this: w is no integer"),
            ([#"ok={"inc":1}"#], "effective at once. Next"), ([#"list={"add":["a"]}"#], "effective at once. Next"),
            ([#"list={"add":["b"],"remove":["a"]}"#], "effective at once. Next"),
        ]
        for row in rows {
            let output = try cli.run(["log", "attribute", "ana"] + row.change).output
            #expect(output.contains(row.reason), "\(output)")
        }
        let json = try cli.succeed("log", "attribute", "ana", #"w={"inc":1}"#, "--format", "json").output
        #expect(json.contains(#""no_effect":[{"attribute":"w","reason":"is no integer"#), "\(json)")
        let profile = try cli.succeed("profile", "ana", "--format", "json").output
        #expect(profile.contains(#""list":["b"],"n":9223372036854775807,"ok":3,"w":"text""#), "\(profile)")
    }

    @Test("No clock is more than a year ahead, for what is saved and for what is logged", arguments: ["save", "log"])
    func future(verb: String) throws {
        try cli.succeed("log", "event", "ana", "a")
        for (time, reason) in [
            ("9999-12-31T23:59:59Z", "is more than a year ahead"), ("1969-12-31T23:59:59Z", "must not be before 1970"),
        ] {
            let outcome = try cli.run(verb, "event", "ana", "b", "--at", time)
            #expect(outcome.status == 64 && outcome.errors.contains(reason), "\(outcome.errors)")
        }
        #expect(try cli.succeed("history", "ana", "--format", "json").lines.count == 2)
        let soon = Date(timeIntervalSinceNow: 86_400 * 30).ISO8601Format()
        try cli.succeed(verb, "event", "ana", "b", "--at", soon)
    }

    @Test("What is saved with a later clock has waited for no time, and not for less")
    func age() throws {
        try cli.succeed("save", "event", "ana", "b", "--at", Date(timeIntervalSinceNow: 86_400 * 30).ISO8601Format())
        try cli.succeed("save", "event", "ana", "c", "--at", Date(timeIntervalSinceNow: 86_400 * 30).ISO8601Format())
        for command in [["pending"], ["stats"], ["launch"]] {
            let output = try cli.run(command).output
            #expect(!output.contains(#/ -[0-9]+ ?(ms|s|min|h|d)/#), "\(output)")
        }
    }

    @Test(
        "A blank name is refused",
        arguments: [
            (["log", "event", " ", "a"], "USER is blank."), (["log", "event", "ana", "\u{3000}"], "NAME is blank."),
            (["save", "attribute", "\t", "x=1"], "USER is blank."), (["change-user", " "], "USER is blank."),
            (["log", "purchase", "ana", " ", "--price", "1", "--currency", "EUR"], "PRODUCT is blank."),
            (["save", "user-attribute", " ", "email", "null"], "USER is blank."),
            (["launch", " "], "DEVICE is blank."),
            (["save", "event", "ana", "a", "--device", " "], "--device is blank."),
        ])
    func blank(arguments: [String], message: String) throws {
        let outcome = try cli.run(arguments)
        #expect(outcome.status == 64 && outcome.errors.contains(message), "\(outcome.errors)")
    }

    @Test("Errors blame what was typed")
    func blame() throws {
        try cli.succeed("log", "event", "ana", "a")
        let long = String(repeating: "x", count: 201)
        let rows: [(arguments: [String], message: String)] = [
            (["launch", long], "DEVICE must have 1 to 200 bytes"), (["device", "show", long], "DEVICE must have"),
            (["log", "event", "device:", "a"], "USER must have 1 to 200 bytes"),
            (["save", "event", "device:\(long)", "a"], "USER must have 1 to 200 bytes"),
            (["log", "event", "ana", "a", "--device", long], "--device must have"),
            (["stats", "--store", ""], "--store must not be empty"),
            (["profile", "nobody"], "No user is known as nobody."),
            (["history", "alias:crm:1"], "No user is known as alias:crm:1."),
            (["replay", "--into", "."], "with --into; nothing was changed"),
        ]
        _ = try cli.write("mine", as: "notes.txt")
        for row in rows {
            let outcome = try cli.run(row.arguments)
            #expect([1, 64].contains(outcome.status))
            #expect(outcome.errors.contains(row.message), "\(row.arguments): \(outcome.errors)")
        }
    }
}
