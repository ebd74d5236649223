import Foundation
import Testing

@Suite("On a terminal")
struct TerminalTests {
    private let cli: CLI

    init() throws { cli = try CLI(after: [["log", "event", "jane", "a"]]) }

    private func shown(_ command: String, _ environment: [String: String] = [:]) throws -> String {
        try PseudoTerminal.output(of: command, cli, environment)
    }

    @Test("Headings and errors have colours, unless NO_COLOR or the terminal says no")
    func colours() throws {
        let bold = "\u{1B}[1m", red = "\u{1B}[31m"
        #expect(try shown("history jane").contains("\(bold)VER"))
        #expect(try shown("profile nobody").contains("\(red)Error: "))
        for plain in [["NO_COLOR": "1"], ["TERM": "dumb"]] {
            for command in ["history jane", "profile nobody"] {
                let output = try shown(command, plain)
                #expect(!output.isEmpty && !output.contains("\u{1B}"), "\(output)")
            }
        }
        #expect(try shown("history jane", ["NO_COLOR": ""]).contains(bold), "an empty NO_COLOR says nothing")
        #expect(try shown("history jane | cat").contains("VER") && !shown("history jane | cat").contains(bold))
    }

    @Test("Help that is longer than the terminal goes through $PAGER, unless it is not wanted or not there")
    func pager() throws {
        let capitals = ["PAGER": "tr a-z A-Z"]
        let beginning = "OVERVIEW: Save, launch, look up and replay"
        for command in ["--help", "help", "--store s help"] {
            #expect(try shown(command, capitals).contains(beginning.uppercased()), "\(command)")
        }
        for command in ["--no-pager --help", "--help | cat", "--help > file; cat file"] {
            #expect(try shown(command, capitals).contains(beginning), "\(command)")
        }
        for none in [["PAGER": ""], ["PAGER": "cat"], ["PAGER": "no-such-pager"], ["PAGER": "more", "TERM": "dumb"]] {
            #expect(try shown("--help", none).contains(beginning), "\(none)")
        }
        // A short text needs none.
        #expect(try shown("help exit-codes", capitals).contains("wrong usage"))
    }

    @Test("Long work has a bar with a share, a rate and what is left, and takes it away at the end")
    func bar() throws {
        try cli.succeed("generate", "--events", "6000", "--users", "100", "-o", "events.jsonl")
        let output = try shown("import events.jsonl")
        let bar = #/\rimport  \[█*·*\]  [0-9]+ %  [0-9,]+ events  [0-9,]+/s  [0-9a-z ]+ left/#
        #expect(output.contains(bar), "\(output)")
        let end = try #require(output.components(separatedBy: "\r\u{1B}[K").last)
        #expect(end.hasPrefix("Imported 6,000 events"), "\(end)")
        for frame in output.split(separator: "\r") where frame.hasPrefix("import  ") {
            #expect(frame.replacing("\u{1B}[K", with: "").count < 80, "\(frame)")
        }
        #expect(try !shown("export > /dev/null 2> errors").contains("export  "))
        #expect(try shown("export > /dev/null").contains("\rexport  "))
    }
}
