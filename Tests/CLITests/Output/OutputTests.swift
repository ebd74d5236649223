import Foundation
import Testing

@Suite("What is printed")
struct OutputTests {
    /// Columns that text takes, counted in a simple way that knows the characters of these tests.
    private func width(_ text: Substring) -> Int {
        text.unicodeScalars.reduce(0) { $0 + ($1.value >= 0x2E80 ? 2 : 1) }
    }

    @Test("Columns align by display width, with Japanese names too")
    func japanese() throws {
        let cli = try CLI()
        try cli.succeed("save", "event", "花子", "お茶を飲んだ", "-p", "種類=煎茶", "--device", "電話")
        try cli.succeed("save", "event", "bob", "opened", "--device", "d1")
        let lines = try cli.succeed("pending").lines
        let heading = try #require(lines.first)
        let titles = ["STORAGE", "LIST", "USER", "WHAT", "AGE"]
        for line in lines[1...2] {
            for title in titles {
                let column = try #require(heading.range(of: "  " + title))
                let wanted = width(heading[..<column.upperBound]) - title.count
                // A cell begins where its title does: two spaces before it, and something at it.
                var before = ""[...]
                for end in line.indices where width(line[..<end]) == wanted { before = line[..<end] }
                #expect(width(before) == wanted, "\(title) in \(line)")
                #expect(before.hasSuffix(" ") && !line[before.endIndex...].hasPrefix(" "), "\(title) in \(line)")
            }
        }
    }

    @Test("Tables fit the terminal")
    func fit() throws {
        let cli = try CLI()
        try cli.succeed("save", "event", "花子", String(repeating: "とても長い名前", count: 10), "--device", "電話")
        for columns in [70, 80, 100] {
            let outcome = try cli.run("history", "花子", environment: ["COLUMNS": "\(columns)"])
            #expect(outcome.lines.count == 4)
            for line in outcome.lines { #expect(width(line[...]) <= columns, "\(line)") }
            #expect(outcome.output.contains("…"))
        }
        #expect(try !cli.succeed("history", "花子").output.contains("…"))
    }

    @Test("In a terminal too narrow for columns each row is a block that can be read", arguments: [30, 40])
    func blocks(columns: Int) throws {
        let cli = try CLI()
        for name in ["a", "b", "c"] {
            try cli.succeed("save", "event", "花子", "お茶 \(name)", "--device", "a-long-device")
        }
        let outcome = try cli.run("history", "花子", environment: ["COLUMNS": "\(columns)"])
        let blocks = outcome.output.components(separatedBy: "\n\n").map { $0.split(separator: "\n") }
        #expect(blocks.count == 5)
        for line in outcome.lines { #expect(width(line[...]) <= columns, "\(line)") }
        // Titles and cells are one below the other; numbers, times and kinds are whole.
        for (number, block) in blocks.enumerated() {
            #expect(block.first == "VER       \(number + 1)")
            #expect(block.contains { $0.wholeMatch(of: /HAPPENED  [-0-9]{5,10} [:0-9]{5,8}.*/) != nil }, "\(block)")
        }
        #expect(outcome.output.contains("KIND      event saved\n"), "\(outcome.output)")
        #expect(outcome.output.contains("WHAT      お茶 c"), "\(outcome.output)")
        let pending = try cli.run("pending", environment: ["COLUMNS": "\(columns)"])
        #expect(pending.output.components(separatedBy: "DEVICE   a-long-device\n").count == 4, "\(pending.output)")
        // Two columns are a table for ever.
        #expect(try cli.run("stats", environment: ["COLUMNS": "\(columns)"]).output.hasPrefix("WHAT "))
    }

    @Test("The pages of a long list are one table, or one list of blocks")
    func pages() throws {
        let cli = try CLI()
        let lines = (1_000..<2_200).map { #"{"kind":"custom_event","user":"u\#($0 % 7)","name":"n\#($0)"}"# }
        let file = try cli.write(lines.joined(separator: "\n"), as: "facts.jsonl")
        try cli.succeed("import", file)
        let tail = ["tail", "--no-follow", "--after", "0"]
        let table = try cli.run(tail, environment: ["COLUMNS": "100"])
        #expect(table.status == 0 && table.lines.count == 1_208, "\(table.errors)")
        #expect(table.lines.count { $0.contains("HAPPENED") } == 1)
        let blocks = try cli.run(tail, environment: ["COLUMNS": "40"]).output
        #expect(blocks.components(separatedBy: "\n\n").count == 1_207)
    }

    @Test(
        "A column that appears on a later page, or needs more room there, has a heading above it",
        arguments: [90, 0])
    func laterColumns(columns: Int) throws {
        let cli = try CLI()
        let lines = (1..<1_200).map {
            #"{"kind":"custom_event","user":"\#($0 < 1_100 ? "u" : "user ")\#($0)","name":"a"}"#
        }
        try cli.succeed("import", cli.write(lines.joined(separator: "\n"), as: "facts.jsonl"))
        try cli.succeed("erase", "u1050", "--reason", "asked to", "--yes")
        let environment = columns > 0 ? ["COLUMNS": "\(columns)"] : [:]
        let shown = try cli.run(["users"], environment: environment).lines
        let headings = shown.indices.filter { shown[$0].contains("BRAZE_ID") }
        #expect(headings.count == 2 && headings.first == 0 && headings.last == 1_001, "\(headings)")
        #expect(!shown[0].contains("ALSO") && shown[headings[1]].contains("ALSO"))
        var heading = ""
        for line in shown {
            if line.contains("BRAZE_ID") {
                heading = line
                continue
            }
            for (title, cell) in [("BRAZE_ID", #/[0-9a-f]{24}/#), ("ALSO", #/erased/#)] {
                guard !line.contains("braze:") || title == "ALSO", let found = line.firstMatch(of: cell) else {
                    continue
                }
                let begin = try #require(heading.range(of: title)?.lowerBound)
                #expect(
                    line.distance(from: line.startIndex, to: found.range.lowerBound)
                        == heading.distance(from: heading.startIndex, to: begin), "\(line)")
            }
        }
    }

    @Test("At 80 columns each waiting item shows its list, even if the storage has a long name", arguments: [80, 100])
    func lists(columns: Int) throws {
        let cli = try CLI()
        let group = ["--app-group", "group.com.example.a-long-name.academy", "--device", "phone-1"]
        for save in [
            ["event", "jane", "Completed Match Game", "-p", "Score=10"], ["attribute", "jane", "level=7"],
            ["user-attribute", "jane", "email", "jane@example.com"],
        ] { #expect(try cli.run(["save"] + save + group).status == 0) }
        let shown = try cli.run(["pending"], environment: ["COLUMNS": "\(columns)"])
        for (line, list) in zip(shown.lines.dropFirst(), ["events", "attributes", "user-attributes"]) {
            #expect(line.contains("  \(list)  "), "\(shown.output)")
            #expect(line.contains("group.com"), "\(shown.output)")
        }
    }

    @Test("No user after a number is not an empty store")
    func nobodyBehind() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "jane", "a")
        #expect(try cli.succeed("users", "--after", "99").errors.hasPrefix("There are no users after 99."))
    }

    @Test("No line of a table is wider than the terminal, however narrow it is")
    func narrow() throws {
        let cli = try CLI()
        let text = String(repeating: "長い", count: 2_500)
        try cli.succeed("save", "attribute", "花子", "text=\(text)", "--device", "電話")
        try cli.succeed("save", "event", "花子", "お茶を飲んだ", "--process", "通知", "--private", "--device", "電話")
        let devices = [["device"], ["device", "show", "電話"], ["device", "settings", "電話"]]
        for (index, command) in (devices + [["pending"], ["history", "花子"], ["users"], ["tail", "--no-follow"]])
            .enumerated()
        {
            for columns in index % 2 == 0 ? [1, 20] : [10, 300] {
                let outcome = try cli.run(command, environment: ["COLUMNS": "\(columns)"])
                #expect(outcome.status == 0)
                // A sentence is not a line of a table: it holds a command to be copied, and the terminal wraps it.
                for line in outcome.lines where !line.contains("Next: ") {
                    #expect(width(line[...]) <= columns && !line.contains("……"), "\(command): \(line)")
                }
            }
        }
    }

    @Test("Without a terminal a cell is cut at 200 columns, and JSON has everything")
    func longCell() throws {
        let cli = try CLI()
        let text = String(repeating: "x", count: 5_000)
        try cli.succeed("log", "attribute", "jane", "text=\(text)")
        for command in [["profile", "jane"], ["history", "jane"]] {
            let cells = try cli.run(command).output.components(separatedBy: "  ")
            #expect(cells.contains { $0.hasSuffix("xxx…") && $0.count == 200 })
            #expect(cells.allSatisfy { $0.count <= 200 })
            #expect(try cli.run(command + ["--format", "json"]).output.contains(text))
        }
    }

    @Test("JSON ends with its line")
    func lastLine() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "ana", "opened")
        for command in [["check"], ["stats"], ["users"], ["replay", "--verify"]] {
            let output = try cli.run(command + ["--format", "json"]).output
            #expect(output.hasSuffix("}\n") && !output.contains("\n\n"), "\(output)")
        }
    }

    @Test("No colours, no progress and no terminal escapes where no terminal is")
    func plain() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "jane", "evil \u{1B}[31m\nname")
        let history = try cli.succeed("history", "jane")
        #expect(!history.output.contains("\u{1B}"))
        #expect(history.lines.count == 3)
        #expect(try cli.succeed("check").errors.isEmpty)
        #expect(try cli.succeed("replay", "--verify").errors.isEmpty)
    }

    @Test("What turns the direction of text is made visible; marks that words are written with stay")
    func direction() throws {
        let cli = try CLI()
        try cli.succeed(
            "log", "event", "jane", "a\u{202E}b\u{2066}c", "-p", "x=می\u{200C}خواهم\u{200F} 👩\u{200D}🔬\u{200E}")
        let history = try cli.succeed("history", "jane").output
        #expect(history.contains(#"a\u202eb\u2066c"#), "\(history)")
        #expect(history.contains("می\u{200C}خواهم\\u200f 👩\u{200D}🔬\\u200e"), "\(history)")
    }

    @Test("A number may follow its letter without a space")
    func joined() throws {
        let cli = try CLI()
        for user in ["jane", "bo"] { try cli.succeed("log", "event", user, "a") }
        for command in [["users"], ["history", "jane"], ["tail", "--no-follow"]] {
            let outcome = try cli.run(command + ["-n1", "--format", "json"])
            #expect(outcome.status == 0 && outcome.lines.count == 1, "\(outcome.errors)")
        }
    }

    @Test("The help has every form of a USER, and every kind of line that can be imported")
    func forms() throws {
        let cli = try CLI()
        for arguments in [["--help"], ["log", "event", "--help"], ["profile", "--help"], ["change-user", "--help"]] {
            let help = try cli.run(arguments).output
            for form in ["id:", "alias:", "braze:", "email:", "phone:", "device:"] {
                #expect(help.contains(form), "\(arguments) \(form)")
            }
        }
        let help = try cli.run("import", "--help").output
        for kind in ["custom_event", "custom_attribute", "user_attribute", "purchase"] {
            #expect(help.contains(#"{"kind":"\#(kind)","user":"jane","#))
        }
        for kind in [
            "customEventLogged", "customAttributesChanged", "userAttributesChanged", "purchaseLogged",
            "customEventSaved", "customAttributesSaved", "userAttributeSaved", "userCreated",
        ] {
            #expect(help.contains(kind))
        }
    }

    @Test("A group of commands, typed alone, shows its help and is wrong usage", arguments: ["save", "log"])
    func group(name: String) throws {
        let outcome = try CLI().run(name)
        #expect(outcome.status == 64)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains("SUBCOMMANDS:"))
        #expect(outcome.errors.contains("profilecli \(name) event jane"))
    }

    @Test("A reader that goes away ends the program quietly")
    func brokenPipe() throws {
        let cli = try CLI()
        let outcome = try cli.shell("\"$0\" generate --events 200000 | head -n 1 | wc -l; exit ${PIPESTATUS[0]}")
        #expect(outcome.status == 0)
        #expect(outcome.output == "1\n")
        #expect(outcome.errors.isEmpty)
    }

    @Test("The store is found by option, by environment, and in ./profilelog")
    func place() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "jane", "a")
        try cli.succeed("log", "event", "jane", "a", "--store", "other")
        #expect(try cli.run("log", "event", "jane", "a", environment: ["PROFILELOG_STORE": ""]).status == 0)
        for store in ["store", "other", "profilelog"] {
            #expect(FileManager.default.fileExists(atPath: cli.folder.appending(path: store).path))
        }
        #expect(try cli.run("check", environment: ["PROFILELOG_URL": "http://127.0.0.1:1"]).status == 64)
    }
}
