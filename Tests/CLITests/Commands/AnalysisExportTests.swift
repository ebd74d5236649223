import Foundation
import ProfileLog
import TestSupport
import Testing

/// `export --events` and `--profiles`.
@Suite("Export for analysis")
struct AnalysisExportTests {
    private static let sqlite = URL(filePath: "/usr/bin/sqlite3")
    private static let hasSQLite = FileManager.default.fileExists(atPath: sqlite.path)

    /// A store with 3,718 events, which take two pages.
    private static let large = Result {
        let cli = try CLI()
        let lines = try cli.succeed("generate", "--events", "3000", "--users", "1500", "--seed", "7").output
        #expect(try cli.run("import", "-", input: lines).status == 0)
        return try Data(contentsOf: cli.file)
    }

    private func content(_ cli: CLI, _ name: String) throws -> Data {
        try Data(contentsOf: cli.folder.appending(path: name))
    }

    /// The records of a text in CSV as in RFC 4180; nil for a field that is empty and not in quotes.
    private func records(_ text: String) -> [[String?]] {
        var (records, record): ([[String?]], [String?]) = ([], [])
        var (field, isQuoted, wasQuoted) = ("", false, false)
        var characters = Array(text.unicodeScalars)[...]
        func end(_ field: inout String) {
            record.append(field.isEmpty && !wasQuoted ? nil : field)
            (field, wasQuoted) = ("", false)
        }
        while let character = characters.popFirst() {
            if isQuoted {
                if character != "\"" {
                    field.unicodeScalars.append(character)
                } else if characters.first == "\"" {
                    field += "\""
                    characters.removeFirst()
                } else {
                    isQuoted = false
                }
            } else if character == "\"" {
                (isQuoted, wasQuoted) = (true, true)
            } else if character == "," {
                end(&field)
            } else if character == "\r", characters.first == "\n" {
                characters.removeFirst()
                end(&field)
                records.append(record)
                record = []
            } else {
                field.unicodeScalars.append(character)
            }
        }
        return records
    }

    @Test("Every value comes back from CSV and SQLite as it is in JSON Lines", arguments: ["--events", "--profiles"])
    func roundTrip(what: String) throws {
        let cli = try CLI()
        let log = try EventLog(path: cli.store, create: true)
        let texts = ["a,b", "say \"hi\"", "line\r\nend", "", "=1+1", "Köln \u{1F600}", "'", " x ", "null", "0\u{1}1"]
        for (index, text) in texts.enumerated() {
            _ = try log.append(
                [
                    .customAttributesChanged([AttributeChange("note", .set(.string(text)))]),
                    .userAttributesChanged([UserAttributeChange(.homeCity, .string(text.isEmpty ? "x" : text))]),
                    .customEventLogged(CustomEvent(name: Name("e\(text)"), properties: [.init("p", .double(0.1))])),
                    .purchaseLogged(Purchase(product: "p", currency: "EUR", price: 1e-7, quantity: 3)),
                ], to: .externalID("u\(index)"), context: EventContext(source: .rest))
        }
        let rows = try cli.succeed("export", what).lines.map { try JSON.parse($0) }
        #expect(rows.count == (what == "--events" ? 50 : 10))
        let csv = records(try cli.succeed("export", what, "--format", "csv").output)
        let columns = try #require(csv.first).compactMap(\.self)
        #expect(csv.count == rows.count + 1 && csv.allSatisfy { $0.count == columns.count })
        for (row, record) in zip(rows, csv.dropFirst()) {
            for (column, cell) in zip(columns, record) {
                guard let value = Self.value(column, row) else { continue }
                switch value {
                case .null: #expect(cell == nil, "\(column)")
                case .string(let text): #expect(cell == text, "\(column)")
                case .array(let elements) where elements.isEmpty: #expect(cell == nil)
                case .object(let members) where members.isEmpty: #expect(cell == nil)
                default: #expect(try JSON.parse(try #require(cell, "\(column)")) == value, "\(column)")
                }
            }
        }
        guard Self.hasSQLite else { return }
        try cli.succeed("export", what, "--format", "sqlite", "--into", "x.sqlite")
        let table = what.dropFirst(2)
        let tables = "SELECT name FROM sqlite_master WHERE type = 'table'"
        #expect(try cli.run(["x.sqlite", tables], command: Self.sqlite).lines == [String(table)])
        let quoted = columns.map { "quote(\"\($0)\")" }.joined(separator: "||char(31)||")
        let select = "SELECT \(quoted) FROM \(table) ORDER BY 1"
        let cells = try cli.run(["x.sqlite", select], command: Self.sqlite).output
        for text in texts where !text.isEmpty && !text.contains("\n") && !text.contains("\u{1}") {
            #expect(cells.contains(text.replacing("'", with: "''")), "\(text)")
        }
        let count = "SELECT count(*), count(DISTINCT \(columns[0])) FROM \(table)"
        #expect(try cli.run(["x.sqlite", count], command: Self.sqlite).lines == ["\(rows.count)|\(rows.count)"])
    }

    /// The member of `row` that the column is made of; nil for a column with another form.
    private static func value(_ column: String, _ row: AttributeValue) -> AttributeValue? {
        switch column {
        case "others", "launches", "last_launch", "pending", "traits": nil
        case "number": row["user"]?["number"]
        case "user": row["user"]?["id"] ?? row["user"] ?? .null
        default: row[Name(column)] ?? row["attributes"]?[Name(column)] ?? .null
        }
    }

    /// Each format and each content; the short form has not all of their pairs.
    private static let pairs = [
        ("jsonl", "--events"), ("csv", "--profiles"), ("sqlite", "--profiles"), ("jsonl", "--profiles"),
        ("csv", "--events"), ("sqlite", "--events"),
    ].prefix(Thoroughness.count(short: 3, full: 6)).map { $0 }

    @Test(
        "Killed after any page, the same command goes on, and the file is the one of a run that was not stopped",
        arguments: pairs)
    func resumed(format: String, what: String) throws {
        let cli = try CLI(Self.large.get())
        // Ends the program without warning at a sync.
        let shim = try Shim(
            """
            #include <stdlib.h>
            #include <unistd.h>
            static int calls;
            static int sync_or_end(void) { if (++calls == atoi(getenv("LAST_SYNC"))) _exit(9); return 0; }
            int fdatasync(int file) { return sync_or_end(); }
            int fsync(int file) { return sync_or_end(); }
            """)
        let arguments = ["export", what, "--format", format, "--into"]
        try cli.succeed("export", what, "--format", format, "--into", "whole", "--as-of", "3500")
        var kills = 0
        for call in Thoroughness.isFull ? [3, 4, 5, 6, 7, 9] : [3, 4, 6] {
            let environment = shim.environment(["LAST_SYNC": "\(call)"])
            let killed = try cli.run(arguments + ["parts", "--as-of", "3500"], environment: environment)
            if killed.status == 0 { break }
            kills += 1
            #expect(!FileManager.default.fileExists(atPath: cli.folder.appending(path: "parts").path))
            // Later events are not in it.
            if kills == 1 { try cli.succeed("log", "event", "later", "seen") }
        }
        #expect(kills > 1)
        if !FileManager.default.fileExists(atPath: cli.folder.appending(path: "parts").path) {
            let outcome = try cli.run(arguments + ["parts", "--as-of", "3500"])
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.errors.contains(/Going on after [0-9,]+ rows/), "\(outcome.errors)")
        }
        if format != "sqlite" {
            #expect(try content(cli, "parts") == content(cli, "whole"))
        } else if Self.hasSQLite {
            let select = ["SELECT * FROM \(what.dropFirst(2)) ORDER BY 1"]
            let whole = try cli.run(["whole"] + select, command: Self.sqlite).output
            #expect(try cli.run(["parts"] + select, command: Self.sqlite).output == whole && !whole.isEmpty)
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: cli.folder.path)
        #expect(!left.contains { $0.hasPrefix("parts.") }, "\(left)")
    }

    @Test(
        "Killed before the complete file has its name, the same command gives it its name",
        arguments: ["csv", "sqlite"])
    func unnamed(format: String) throws {
        let cli = try CLI()
        let shim = try Shim(
            """
            #include <fcntl.h>
            #include <stdio.h>
            #include <string.h>
            #include <unistd.h>
            int rename(const char *old, const char *new) {
                const char *end = strrchr(old, '.');
                if (end && !strcmp(end, ".partial")) _exit(9);
                return renameat(AT_FDCWD, old, AT_FDCWD, new);
            }
            """)
        try cli.succeed("log", "event", "ana", "seen")
        let arguments = ["export", "--events", "--format", format, "--into", "x"]
        #expect(try cli.run(arguments, environment: shim.environment([:])).status == 9)
        // Later events are not in it.
        try cli.succeed("log", "event", "bo", "seen")
        let other = try cli.run(arguments + ["--kind", "userCreated"])
        #expect(other.status == 64 && other.errors.contains("is of another export"), "\(other.errors)")
        for isKilled in [true, false] {
            let outcome = try cli.run(arguments, environment: isKilled ? shim.environment([:]) : [:])
            #expect(outcome.status == (isKilled ? 9 : 0) && outcome.errors.contains("Going on after 2 rows."))
            if !isKilled {
                #expect(outcome.errors.contains("Wrote 2 rows as of position 2 to x."), "\(outcome.errors)")
            }
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: cli.folder.path)
        #expect(left.contains("x") && !left.contains { $0.hasPrefix("x.") }, "\(left)")
        guard format == "sqlite", Self.hasSQLite else { return }
        let schema = "SELECT name FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name; SELECT count(*) FROM events"
        #expect(try cli.run(["x", schema], command: Self.sqlite).lines == ["events", "events_by_profile", "2"])
    }

    @Test("A person who was erased while an export was stopped is not in it")
    func erased() throws {
        let cli = try CLI()
        for user in ["ana", "bo"] { try cli.succeed("log", "attribute", user, "level=1") }
        // A file of an export that stopped after Ana.
        try cli.succeed("export", "--profiles", "--into", "all.jsonl")
        let lines = try String(decoding: content(cli, "all.jsonl"), as: UTF8.self).split(separator: "\n")
        _ = try cli.write(lines[0] + "\n", as: "p.jsonl.partial")
        let store = try cli.succeed("stats", "--format", "json").output.firstMatch(of: /"store":"([0-9a-f]+)"/)?.1
        let state =
            #"{"request":"format=jsonl&what=profiles","store":"\#(store ?? "")","as_of":4,"began":4,"next":1,"#
            + #""total":2,"#
            + #""time":"2026-01-01T00:00:00Z","rows":1,"at_end":false,"bytes":\#(lines[0].utf8.count + 1)}"#
        _ = try cli.write(state, as: "p.jsonl.partial.state")
        try cli.succeed("erase", "ana", "--reason", "asked", "--yes")
        let outcome = try cli.succeed("export", "--profiles", "--into", "p.jsonl")
        #expect(outcome.errors.contains("A person was erased since this export began: it begins again."))
        let text = try String(decoding: content(cli, "p.jsonl"), as: UTF8.self)
        #expect(!text.contains("ana") && text.contains(#""id":"bo""#), "\(text)")
    }

    @Test("A finished file stays without --force; the unfinished one of another export too")
    func force() throws {
        let cli = try CLI()
        try cli.succeed("log", "attribute", "ana", "level=1")
        _ = try cli.write("mine", as: "a.csv")
        let command = ["export", "--profiles", "--format", "csv", "--into", "a.csv"]
        let refused = try cli.run(command)
        #expect(refused.status == 64 && refused.errors.contains("a.csv exists."), "\(refused.errors)")
        #expect(try content(cli, "a.csv") == Data("mine".utf8))
        _ = try cli.write("", as: "a.csv.partial")
        _ = try cli.write(#"{"request":"format=jsonl&what=events","bytes":0}"#, as: "a.csv.partial.state")
        try FileManager.default.removeItem(at: cli.folder.appending(path: "a.csv"))
        let other = try cli.run(command)
        #expect(other.status == 64 && other.errors.contains("is of another export"), "\(other.errors)")
        #expect(try cli.run(command + ["--force"]).status == 0)
        #expect(try content(cli, "a.csv").starts(with: Data("number,user".utf8)))
    }

    @Test("An unfinished file of another form is refused as it is, and replaced with --force")
    func otherForm() throws {
        let cli = try CLI(Self.large.get())
        // Ends the program at the second page of lines, or of SQLite.
        let shim = try Shim(
            """
            #include <stdlib.h>
            #include <unistd.h>
            static int calls;
            static int sync_or_end(void) { if (++calls == 6) _exit(9); return 0; }
            int fdatasync(int file) { return sync_or_end(); }
            int fsync(int file) { return sync_or_end(); }
            """)
        let forms = ["csv", "jsonl", "sqlite"]
        func export(_ format: String) -> [String] { ["export", "--events", "--format", format, "--into", format] }
        for format in forms {
            #expect(try cli.run(export(format), environment: shim.environment([:])).status == 9)
        }
        _ = try cli.write("mine", as: "note.partial")
        let names = forms.map { "\($0).partial" } + ["note.partial"]
        for other in forms {
            for name in names where name != "\(other).partial" {
                let before = try content(cli, name)
                #expect(!before.isEmpty)
                let command = export(other).dropLast() + [String(name.dropLast(8))]
                let refused = try cli.run(Array(command))
                #expect(refused.status == 64, "\(command): \(refused.errors)")
                #expect(refused.errors.contains("\(name) is of another export."), "\(refused.errors)")
                #expect(refused.errors.contains("--force"), "\(refused.errors)")
                #expect(try content(cli, name) == before, "\(command)")
            }
        }
        for (format, other) in [("csv", "sqlite"), ("sqlite", "csv"), ("jsonl", "note")] {
            let command = export(format).dropLast() + [other, "--force"]
            let forced = try cli.run(Array(command))
            #expect(forced.status == 0, "\(command): \(forced.errors)")
        }
        let whole = try cli.succeed("export", "--events", "--format", "csv").output
        #expect(try content(cli, "sqlite") == Data(whole.utf8))
        #expect(try content(cli, "csv").starts(with: Data("SQLite format 3".utf8)))
        // Nothing of an unfinished file is left.
        let left = try FileManager.default.contentsOfDirectory(atPath: cli.folder.path)
        #expect(left.filter { $0.contains(".partial") && !$0.hasPrefix("jsonl") } == [], "\(left)")
    }

    @Test(
        "On a full disk the export stops with a sentence, and goes on when there is space",
        .enabled(if: SmallDisk.canMount, "no tmpfs can be mounted here: a full disk is not tried"),
        arguments: ["csv", "sqlite"])
    func diskFull(format: String) throws {
        let cli = try CLI(Self.large.get())
        try FileManager.default.createDirectory(
            at: cli.folder.appending(path: "small"), withIntermediateDirectories: true)
        let outcome = try cli.run(
            [
                "-m", "sh", "-c",
                """
                mount -t tmpfs -o size=500k none small
                "$0" export --events --as-of 3500 --format \(format) --into small/x
                echo $?; ls small
                mount -o remount,size=20m small
                "$0" export --events --as-of 3500 --format \(format) --into small/x
                echo $?; ls small; cp small/x x
                """, CLI.program.path,
            ], command: SmallDisk.unshare)
        let listed = format == "csv" ? ["x.partial", "x.partial.state"] : ["x.partial"]
        #expect(outcome.lines == ["74"] + listed + ["0", "x"], "\(outcome)")
        #expect(outcome.errors.contains("small/x cannot be written: No space left on device."), "\(outcome.errors)")
        #expect(outcome.errors.contains("it goes on where it stopped"), "\(outcome.errors)")
        if format == "csv" {
            let whole = try cli.succeed("export", "--events", "--as-of", "3500", "--format", "csv").output
            #expect(try content(cli, "x") == Data(whole.utf8))
        }
    }

    @Test("Wrong usage is one sentence and a next step")
    func usage() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "ana", "a")
        let rows: [([String], String)] = [
            (["--events", "--profiles"], "exclude each other"), (["--format", "csv"], "Add one of the two."),
            (["--into", "x"], "Add one of the two."), (["--events", "-o", "x"], "Use --into"),
            (["--profiles", "--kind", "userCreated"], "Use --where for profiles."),
            (["--events", "--where", "true"], "Use --profiles."), (["--events", "--format", "sqlite"], "--into FILE"),
            (["--events", "--as-of", "noon"], "--as-of is no moment of the past"),
            (["--profiles", "--where", "country"], "--where"), (["--events", "--format", "xml"], "--format"),
        ]
        for (arguments, message) in rows {
            let outcome = try cli.run(["export"] + arguments)
            #expect(outcome.status == 64 && outcome.errors.contains(message), "\(arguments): \(outcome.errors)")
        }
        let missing = try cli.run("export", "--events", "--into", "no/x")
        #expect(missing.status == 1 && missing.errors.contains("no/x.partial cannot be written"), "\(missing.errors)")
    }
}
