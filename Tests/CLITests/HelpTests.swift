import Foundation
import TestSupport
import Testing

@Suite("Help")
struct HelpTests {
    /// The help of one command, on 80 columns and on 500. A line that is too long for 80 is broken there.
    private struct Page {
        let command: [String]
        let help: String
        let wide: String
    }

    /// Every command of `profilecli` that has no subcommands.
    static func commands() throws -> [[String]] {
        try profilecli.get().filter { !$0.help.contains("SUBCOMMANDS:") }.map(\.command)
    }

    /// The commands with an option whose help begins with `words`, each as its words.
    static func commands(withOption words: String) throws -> [String] {
        try profilecli.get().filter { !$0.help.contains("SUBCOMMANDS:") && $0.wide.contains(words) }
            .map { $0.command.joined(separator: " ") }
    }

    private static let profilecli = Result { try pages(of: "profilecli") }

    /// The help of `program` and of all its commands, as the program itself lists them.
    private static func pages(of program: String) throws -> [Page] {
        let (cli, program) = (try CLI(), ChildProcess.built(program))
        func pages(_ path: [String]) throws -> [Page] {
            let help = try cli.run(path + ["--help"], command: program).output
            let wide = try cli.run(path + ["--help"], environment: ["COLUMNS": "500"], command: program).output
            // One list, or one for each task.
            let list = help.components(separatedBy: "SUBCOMMANDS:\n").dropFirst().joined(separator: "\n")
            let names = list.split(separator: "\n").filter { $0.contains(/^  [a-z]/) }
                .compactMap { $0.split(separator: " ").first.map(String.init) }
            return try [Page(command: path, help: help, wide: wide)] + names.flatMap { try pages(path + [$0]) }
        }
        return try pages([])
    }

    @Test("Every subcommand has examples, each on one line of 80 columns", arguments: ["profilecli", "profiled"])
    func examples(name: String) throws {
        let pages = name == "profilecli" ? try Self.profilecli.get() : try Self.pages(of: name)
        let commands = pages.map(\.command)
        #expect(commands.count >= (name == "profilecli" ? 36 : 5), "\(commands)")
        if name == "profilecli" {
            for command in ["erase", "compact", "whatif", "simulate"] { #expect(commands.contains([command])) }
        }
        for page in pages {
            let parts = page.wide.components(separatedBy: "EXAMPLES\n")
            #expect(parts.count == 2 || name == "profiled", "\(page.command)")
            guard parts.count == 2 else { continue }
            let lines = parts[1].components(separatedBy: "\n\n")[0].split(separator: "\n")
            #expect(!lines.isEmpty)
            for line in lines {
                #expect(line.hasPrefix("  ") && line.count <= 80, "\(line)")
                #expect(page.help.contains("\n\(line)\n"), "\(line)")
            }
            for line in page.help.split(separator: "\n") where !line.hasPrefix("USAGE: ") {
                #expect(line.count <= 80, "\(line)")
            }
        }
    }

    @Test("No line of a list in the help is broken at 80 columns")
    func lists() throws {
        for page in try Self.profilecli.get() {
            let overview = page.wide.components(separatedBy: "USAGE: ")[0]
            for line in overview.split(separator: "\n") where line.hasPrefix("  ") {
                #expect(page.help.contains("\n\(line)\n"), "\(page.command): \(line)")
            }
        }
    }

    @Test("The help lists each command once, below the task that it is for")
    func groups() throws {
        let help = try CLI().succeed("--help").output
        let lists = help.components(separatedBy: " SUBCOMMANDS:\n").dropFirst()
        #expect(lists.count == 6, "\(help)")
        let names = lists.map { list in
            list.components(separatedBy: "\n\n")[0].split(separator: "\n").filter { $0.contains(/^  [a-z]/) }
                .compactMap { $0.split(separator: " ").first.map(String.init) }
        }
        #expect(names.flatMap(\.self).count == Set(names.flatMap(\.self)).count)
        for (list, name) in zip(names, ["save", "launch", "profile", "blame", "import", "check"]) {
            #expect(list.contains(name), "\(list)")
        }
    }

    @Test(
        "A topic of several commands is explained by help, in capitals or not",
        arguments: [
            ("user", "email:ADDRESS"), ("USER", "alias:LABEL:NAME"), ("when", "yesterday 14:00"),
            ("WHEN", "version:7"), ("conditions", "events.purchase.count >= 3 in 30d"),
            ("exit-codes", "75 conflict"), ("cluster", "profilecli cluster verify --url URL"),
        ])
    func topics(topic: String, part: String) throws {
        let text = try CLI().succeed("help", topic).output
        #expect(text.contains(part) && !text.contains("USAGE"), "\(text)")
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(text)")
        let help = try CLI().succeed("--help").output
        #expect(help.contains("`profilecli help TOPIC`") && help.contains(topic.lowercased()))
        // What the help has of it is the same text.
        if !["conditions", "cluster"].contains(topic) { #expect(help.contains(text.dropLast())) }
    }

    @Test("Each example of a condition in the help can be read")
    func conditions() throws {
        let cli = try CLI(after: [
            ["log", "event", "jane", "purchase"], ["log", "attribute", "jane", "level=3"],
            ["log", "attribute", "jane", "plan=free"],
            ["log", "attribute", "jane", #"cars=[{"brand":"Seat"}]"#],
        ])
        let text = try cli.succeed("help", "conditions").output
        let examples = text.components(separatedBy: "\n\n")[0].split(separator: "\n").dropFirst()
        #expect(examples.count == 5)
        for example in examples {
            try cli.succeed("users", "--where", example.trimmingCharacters(in: .whitespaces))
        }
    }

    @Test(
        "What is saved is on a device, and what is logged need not be: the help says which",
        arguments: [
            ("save", "The device (default: phone)."),
            ("log", "The device; without it the event has none, and no device's settings apply."),
        ])
    func device(group: String, words: String) throws {
        let cli = try CLI()
        for name in ["event", "attribute", "user-attribute"] + (group == "log" ? ["purchase"] : []) {
            let help = try cli.run([group, name, "--help"], environment: ["COLUMNS": "500"]).output
            #expect(help.contains("--device <id>") && help.contains(words), "\(help)")
        }
    }

    @Test("Completions know the subcommands", arguments: ["bash", "zsh", "fish"])
    func completions(shell: String) throws {
        let cli = try CLI()
        let script = try cli.succeed("--generate-completion-script", shell).output
        for command in ["save", "log", "erase", "compact", "whatif", "simulate", "user-attribute", "log-out", "retry"] {
            #expect(script.contains(command), "\(command)")
        }
    }

    @Test(
        "Both programs print their version and the commit that they were built from",
        arguments: ["profilecli", "profiled"])
    func version(name: String) throws {
        let program = ChildProcess.built(name)
        let outcome = try CLI().run(["--version"], command: program)
        #expect(
            outcome.status == 0
                && outcome.output.contains(/^[0-9]+\.[0-9]+\.[0-9]+ \(commit (unknown|[0-9a-f]{12}(-changed)?)\)\n$/),
            "\(outcome.output)")
    }

    @Test(
        "A command that does not exist is refused, with those that may be meant",
        arguments: [
            (["histroy", "jane"], "There is no command profilecli histroy.", "Did you mean history?"),
            (["save", "evnt", "jane", "a"], "There is no command profilecli save evnt.", "Did you mean event?"),
            (["device", "setings"], "There is no command profilecli device setings.", "Did you mean settings?"),
            (["help", "save", "evnt"], "There is no command profilecli save evnt.", "Did you mean event?"),
            (["frobnicate"], "There is no command profilecli frobnicate.", "See `profilecli --help` for all."),
        ])
    func unknown(arguments: [String], message: String, remedy: String) throws {
        let outcome = try CLI().run(arguments)
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains(message) && outcome.errors.contains(remedy), "\(outcome.errors)")
    }

    @Test("A mistyped option is named, with the one that may be meant")
    func options() throws {
        let slip = try CLI().run("stats", "--fromat", "json")
        #expect(slip.status == 64 && slip.errors.contains("Unknown option '--fromat'. Did you mean '--format'?"))
    }
}
