import Foundation
import Testing

@Suite("Generate, import and export")
struct ImportTests {
    /// `count` generated lines.
    private func lines(_ count: Int, _ cli: CLI) throws -> [String] {
        try cli.succeed("generate", "--events", "\(count)", "--users", "50", "--seed", "3").lines
    }

    @Test("An import stores each event once, however often it runs")
    func rerun() throws {
        let cli = try CLI()
        let file = try cli.write(lines(2_500, cli).joined(separator: "\n") + "\n", as: "events.jsonl")
        let first = try cli.succeed("import", file, "--format", "json")
        #expect(first.output.contains(#""imported":2500,"skipped":0"#))
        let again = try cli.succeed("import", file, "--format", "json")
        #expect(again.output.contains(#""imported":0,"skipped":2500"#))
        let told = try cli.succeed("import", file).output
        #expect(told == "Imported nothing: all 2,500 events were there already. Next: profilecli stats\n")
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
        #expect(try cli.succeed("replay", "--verify").output.contains("Equal"))
    }

    @Test("A malformed line is named, its chunk is not stored, and the corrected file resumes")
    func malformedLine() throws {
        let cli = try CLI()
        var lines = try lines(2_500, cli)
        let good = lines[1_233]
        lines[1_233] = String(good.dropLast(2))
        let file = try cli.write(lines.joined(separator: "\n"), as: "events.jsonl")
        let refused = try cli.run("import", file)
        #expect(refused.status == 1)
        #expect(refused.output.isEmpty)
        #expect(refused.errors.contains("Line 1234 of"))
        #expect(refused.errors.contains("1,000 events before its chunk are stored"))
        #expect(refused.errors.contains("Correct line 1234 and run the same command again"))
        lines[1_233] = good
        _ = try cli.write(lines.joined(separator: "\n"), as: "events.jsonl")
        #expect(try cli.succeed("import", file, "--format", "json").output.contains(#""imported":1500,"skipped":1000"#))
    }

    @Test("A pipe is opened once, however soon its writer is done")
    func pipe() throws {
        let cli = try CLI()
        let pipe = try cli.write("", as: "pipe")
        try FileManager.default.removeItem(atPath: pipe)
        try #require(mkfifo(pipe, 0o600) == 0)
        let lines = Data(try lines(2_500, cli).joined(separator: "\n").utf8)
        let writer = Thread {
            let handle = FileHandle(forWritingAtPath: pipe)
            try? handle?.write(contentsOf: lines)
            try? handle?.close()
        }
        writer.start()
        let imported = try cli.run("import", pipe, "--name", "n", "--format", "json")
        #expect(imported.output.contains(#""imported":2500"#), "\(imported.errors)")
    }

    @Test("An import that ended inside a chunk goes on there after an erasure too")
    func grownAfterErasure() throws {
        let cli = try CLI()
        let lines = try lines(1_300, cli)
        func run(_ count: Int) throws -> CLI.Outcome {
            let input = lines.prefix(count).joined(separator: "\n") + "\n"
            return try cli.run("import", "-", "--name", "n", "--format", "json", input: input)
        }
        #expect(try run(1_200).output.contains(#""imported":1200,"skipped":0"#))
        let user = try #require(lines[1_100].firstMatch(of: /"user":"([^"]*)"/)).output.1
        try cli.succeed("erase", String(user), "--reason", "asked to", "--yes")
        #expect(try run(1_200).output.contains(#""imported":0,"skipped":1200"#))
        for imported in [100, 0] {
            let outcome = try run(1_300)
            #expect(
                outcome.output.contains("\"imported\":\(imported),\"skipped\":\(1_300 - imported)"), "\(outcome.errors)"
            )
        }
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
    }

    @Test("An import that ended inside a chunk goes on there when the file has grown")
    func grown() throws {
        let cli = try CLI()
        var lines = try lines(3_300, cli)
        // Lines without an event are counted too; and a device's first item makes an event next to its own.
        lines.insert("", at: 100)
        lines[3_050] = #"{"kind":"customEventSaved","user":"new","device":"d","storage":"group.app","name":"a"}"#
        func run(_ count: Int) throws -> CLI.Outcome {
            let input = lines.prefix(count).joined(separator: "\n") + "\n"
            return try cli.run("import", "-", "--name", "n", "--format", "json", input: input)
        }
        #expect(try run(3_200).output.contains(#""imported":3199,"skipped":0"#))
        #expect(try run(3_250).output.contains(#""imported":50,"skipped":3199"#))
        for imported in [51, 0] {
            let outcome = try run(3_301)
            #expect(
                outcome.output.contains("\"imported\":\(imported),\"skipped\":\(3_300 - imported)"), "\(outcome.errors)"
            )
        }
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
        // What was stored, changed: nothing is stored, and the advice does not store it twice.
        let events = try cli.succeed("export").output
        let good = lines[3_100]
        lines[3_100] = #"{"kind":"custom_event","user":"u","name":"other"}"#
        lines.append(#"{"kind":"custom_event","user":"u","name":"more"}"#)
        let changed = try run(3_302)
        #expect(changed.status == 75)
        #expect(changed.errors.contains("undo the change in the lines from 3001 on"), "\(changed.errors)")
        #expect(changed.errors.contains("a second time"))
        #expect(
            changed.errors.contains("If another version of profilecli stored it, import only the later lines"))
        #expect(changed.errors.contains(/for other content, at position [0-9]+\. 2,999 events before it are stored\./))
        #expect(try cli.succeed("export").output == events)
        // The lines before those that were changed need no undoing.
        lines[3_100] = good
        lines[3_220] = #"{"kind":"custom_event","user":"u","name":"other"}"#
        let later = try run(3_302)
        #expect(later.status == 75)
        #expect(later.errors.contains("undo the change in the lines from 3201 on"), "\(later.errors)")
        #expect(later.errors.contains("3,199 events before it are stored"))
        #expect(try cli.succeed("export").output == events)
    }

    @Test("A refused line after the end of the last import is named, with what is stored")
    func refusedRest() throws {
        let cli = try CLI()
        var lines = (1...30).map { #"{"kind":"custom_event","user":"u","name":"e\#($0)"}"# }
        func run(_ count: Int) throws -> CLI.Outcome {
            try cli.run("import", "-", "--name", "n", input: lines.prefix(count).joined(separator: "\n") + "\n")
        }
        try #require(try run(20).status == 0)
        let good = lines[24]
        lines[24] = #"{"kind":"custom_event","user":"u"}"#
        let malformed = try run(30).errors
        #expect(
            malformed.contains(
                "Nothing more of its chunk of up to 1,000 lines was stored; 0 events before its chunk are stored."),
            "\(malformed)")
        lines[24] = #"{"kind":"custom_event","user":"braze:nobody","name":"e"}"#
        let refused = try run(30).errors
        #expect(refused.contains("Line 25 of standard input: No user has this ID. Nothing more"), "\(refused)")
        #expect(refused.contains("20 events before it are stored"))
        lines[24] = good
        #expect(try run(30).status == 0)
    }

    @Test("The line that finds its device full is named, and is not the one to correct")
    func fullDevice() throws {
        let cli = try CLI()
        let lines = (1...10_003).map { line in
            #"{"kind":"customEventSaved","user":"u","device":"\#(line == 5 ? "e" : "d")","storage":"group.a","#
                + #""name":"a"}"#
        }
        let refused = try cli.run("import", "-", input: lines.joined(separator: "\n"))
        #expect(refused.status == 1)
        #expect(
            refused.errors.contains(
                "Line 10002 of standard input: 10000 items wait on this device already. Nothing more of its chunk"),
            "\(refused.errors)")
        #expect(refused.errors.contains("profilecli launch") && !refused.errors.contains("Correct"))
    }

    @Test(
        "A line of a kind that a newer program wrote sends to that program; what is gone from it, to the store",
        arguments: [
            ("danced", "Correct line 1, or export and import it with the newer profilecli that wrote it, and send"),
            ("unknown", "Export the store again with the newer profilecli, and import that with it and --name stdin:"),
        ])
    func newerKind(kind: String, remedy: String) throws {
        let cli = try CLI()
        let refused = try cli.run("import", "-", input: #"{"kind":"\#(kind)","user":"u"}"#)
        #expect(refused.errors.contains(remedy), "\(refused.errors)")
    }

    @Test(
        "What cannot be imported is refused with the line and the reason, and never a value",
        arguments: [
            (#"{"kind":"custom_event","user":"u","time":"yesterday","name":"secret"}"#, "\"time\" must be a time"),
            (#"{"kind":"custom_event","user":"u","name":""}"#, "the event's name must not be empty"),
            (#"{"kind":"custom_event","user":"","name":"secret"}"#, "the user's ID must not be empty"),
            (#"{"kind":"custom_event","name":"secret"}"#, "it has no \"user\""),
            (#"{"kind":"custom_event","user":"u","name":"secret","properties":{"a":1,"a":2}}"#, "twice"),
            (#"{"kind":"custom_event","user":"u","name":"secret","properties":{"a":NaN}}"#, "no valid JSON"),
            (#"{"kind":"custom_event","user":"u","name":"x","properties":{"a":9223372036854775808}}"#, "64 bits"),
            (#"{"kind":"user_attribute","user":"u","attribute":"shoe_size","value":"secret"}"#, "no standard"),
            (#"{"kind":"user_attribute","user":"u","attribute":"gender","value":"secret"}"#, "is none of M"),
            (#"{"kind":"purchase","user":"u","product_id":"p","currency":"EUR","price":1,"quantity":0}"#, "1 to 100"),
            (#"{"kind":"appLaunched","user":"u"}"#, "replay --into"),
            (#"{"kind":"dance","user":"u"}"#, "none that can be imported"),
            ("[1]", "no JSON object"),
            ("{\"kind\":\"custom_event\",\"user\":\"u\",\"name\":\"\u{1}\"}", "control character"),
        ])
    func refusals(line: String, reason: String) throws {
        let cli = try CLI()
        let refused = try cli.run("import", "-", input: "\n" + line + "\n")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("Line 2 of standard input cannot be imported"))
        #expect(refused.errors.contains(reason), "\(refused.errors)")
        #expect(!refused.errors.contains("secret"))
        #expect(refused.errors.contains("--name stdin"))
    }

    @Test("The advice for a line that the log alone makes has nothing stored a second time")
    func takeOut() throws {
        let cli = try CLI()
        var lines = (1...1_500).map { #"{"kind":"custom_event","user":"u","name":"e\#($0)"}"# }
        lines[1_200] = #"{"kind":"appLaunched","user":"u"}"#
        func run() throws -> CLI.Outcome {
            try cli.run("import", "-", "--format", "json", input: lines.joined(separator: "\n"))
        }
        let refused = try run().errors
        #expect(
            refused.contains("--kind userAttributeSaved, which has no such lines, and import that into an empty store.")
        )
        #expect(refused.contains("Or remove line 1201 and all later lines of such kinds, and send the same input"))
        lines.remove(at: 1_200)
        #expect(try run().output.contains(#""imported":499,"skipped":1000"#))
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
    }

    @Test("What follows the chunk in which the last import ended is stored after it")
    func order() throws {
        let cli = try CLI()
        let names = (1...4_500).map { "e\($0)" }
        for count in [1_500, names.count] {
            let lines = names.prefix(count).map { #"{"kind":"custom_event","user":"u","name":"\#($0)"}"# }
            let input = lines.joined(separator: "\n") + "\n"
            try #require(try cli.run("import", "-", "--name", "n", input: input).status == 0)
        }
        let stored = try cli.succeed("export").lines.compactMap { $0.firstMatch(of: /"name":"(e\d+)"/)?.output.1 }
        #expect(stored.map(String.init) == names)
    }

    @Test("Nothing after a refused line is stored, and without that line the import goes on in the same order")
    func refused() throws {
        let cli = try CLI()
        var lines = (1...4_500).map { #"{"kind":"custom_event","user":"u","name":"e\#($0)"}"# }
        lines[2_499] = #"{"kind":"custom_event","user":"braze:nobody","name":"e"}"#
        func run() throws -> CLI.Outcome {
            try cli.run("import", "-", "--name", "n", input: lines.joined(separator: "\n") + "\n")
        }
        let refused = try run()
        #expect(refused.status != 0)
        #expect(refused.errors.contains("2,000 events before it are stored"), "\(refused.errors)")
        #expect(refused.errors.contains("Line 2500 of standard input: No user has this ID."), "\(refused.errors)")
        #expect(refused.errors.contains("Correct or remove line 2500 and send the same input again"))
        func stored() throws -> [String] {
            let lines = try cli.succeed("export").lines
            return lines.compactMap { $0.firstMatch(of: /"name":"(e\d+)"/).map { String($0.output.1) } }
        }
        #expect(try stored() == (1...2_000).map { "e\($0)" })
        lines.remove(at: 2_499)
        #expect(try run().status == 0)
        #expect(try stored() == (1...4_500).filter { $0 != 2_500 }.map { "e\($0)" })
    }

    @Test("A byte order mark before the first line is no part of it")
    func byteOrderMark() throws {
        let cli = try CLI()
        let line = #"{"kind":"custom_event","user":"u","name":"a"}"#
        for (store, input) in [("one", "\u{FEFF}\(line)\n\(line)\n"), ("two", "\u{FEFF}\n\(line)")] {
            let outcome = try cli.run("import", "-", "--store", store, input: input)
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        // It is the file's, not a line's.
        let refused = try cli.run("import", "-", "--store", "three", input: "\(line)\n\u{FEFF}\(line)\n")
        #expect(refused.errors.contains("Line 2 of standard input cannot be imported"))
    }

    @Test("An export is an import again")
    func exportAndImport() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "jane", "a", "-p", "x=1.0", "--time", "2026-01-01T10:00:00+09:00")
        try cli.succeed("log", "attribute", "jane", "n=1", #"o={"$set":{"inc":2}}"#)
        try cli.succeed("log", "attribute", "jane", #"n={"inc":4}"#, #"d={"$time":"2026-01-01T00:00:00Z"}"#)
        try cli.succeed("log", "user-attribute", "jane", "first_name", "Jane")
        try cli.succeed("log", "purchase", "jane", "p", "--price", "2", "--currency", "JPY", "-p", "k=v")
        let exported = try cli.succeed("export").output
        let copy = cli.folder.appending(path: "copy").path
        let imported = try cli.run("import", "-", "--store", copy, input: exported)
        #expect(imported.status == 0, "\(imported.errors)")
        func attributes(_ store: String) throws -> [String] {
            let profile = try cli.succeed("profile", "jane", "--store", store, "--format", "json").output
            // Without the times of recording and the ID of the store, which differ.
            return [("attributes", "braze_id"), ("custom_attributes", "custom_events")].map { begin, end in
                let rest = profile.components(separatedBy: "\"\(begin)\":").dropFirst().first ?? ""
                return rest.components(separatedBy: ",\"\(end)\"")[0]
            }
        }
        #expect(try attributes(copy) == attributes(cli.store))
        #expect(try attributes(copy)[1].contains(#""n":5,"o":{"inc":2}"#))
        #expect(try cli.succeed("history", "jane", "--store", copy, "--format", "json").output.contains("+09:00"))
    }

    @Test("An export of a store with erased persons is an import: erased lines are skipped and counted")
    func exportWithErased() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "jane", "a")
        try cli.succeed("log", "event", "bo", "b")
        try cli.succeed("log", "event", "jane", "c")
        try cli.succeed("erase", "jane", "--reason", "asked to", "--yes")
        try cli.succeed("log", "event", "bo", "d")
        let exported = try cli.succeed("export").output
        #expect(exported.components(separatedBy: #""erased":true"#).count == 4)
        let copy = cli.folder.appending(path: "copy").path
        for imported in ["2", "0"] {
            let answer = try cli.run("import", "-", "--store", copy, "--format", "json", input: exported)
            #expect(answer.status == 0, "\(answer.errors)")
            let skipped = imported == "2" ? 0 : 2
            #expect(answer.output.contains(#""imported":\#(imported),"skipped":\#(skipped),"erased":4"#))
        }
        let told = try cli.run("import", "-", "--store", copy, input: exported)
        #expect(told.output.contains("skipped 4 lines of erased persons"), "\(told.output)")
        #expect(try cli.succeed("users", "--store", copy, "--format", "json").lines.count == 1)
        // An export of a user without others holds nothing to import.
        try cli.succeed("erase", "bo", "--reason", "asked to", "--yes")
        let nothing = try cli.run("import", "-", "--store", "none", input: cli.succeed("export").output)
        #expect(nothing.status == 0 && nothing.output.contains("Imported 0 events"), "\(nothing.errors)")
        #expect(nothing.output.contains("skipped 8 lines of erased persons"), "\(nothing.output)")
    }

    @Test("The same file under another content is a conflict; a missing file makes no store")
    func conflictAndMissing() throws {
        let cli = try CLI()
        let line = #"{"kind":"custom_event","user":"u","name":"a"}"#
        #expect(try cli.run("import", "-", input: line).status == 0)
        let other = try cli.run("import", "-", input: line.replacing("\"a\"", with: "\"b\""))
        #expect(other.status == 75)
        #expect(other.errors.contains("--name"))
        let missing = try cli.run("import", "nowhere.jsonl", "--store", "fresh")
        #expect(missing.status == 64)
        #expect(missing.errors.contains("cannot be read: No such file or directory."))
        #expect(try cli.run("stats", "--store", "fresh").status == 1)
        let unreachable = try cli.run(["import", "-", "--url", "http://127.0.0.1:1"], input: line)
        #expect(unreachable.status == 1 && unreachable.errors.contains("127.0.0.1:1"), "\(unreachable.errors)")
    }

    @Test("The same seed gives the same events")
    func generate() throws {
        let cli = try CLI()
        let first = try cli.succeed("generate", "--events", "100", "--users", "7", "--seed", "9")
        #expect(first.lines.count == 100)
        #expect(try cli.succeed("generate", "--events", "100", "--users", "7", "--seed", "9").output == first.output)
        try cli.succeed("generate", "--events", "10", "-o", "e.jsonl")
        #expect(try cli.run("generate", "--users", "0").status == 64)
    }

    @Test("What another store refused of requests is skipped")
    func leftOut() throws {
        let cli = try CLI()
        let line =
            #"{"position":1,"user":null,"user_number":0,"version":1,"kind":"objectsLeftOut","source":"rest","#
            + #""left_out":[{"input_array":"events","index":0,"reason":"r"}]}"#
        let good = #"{"kind":"custom_event","user":"u","name":"e"}"#
        let outcome = try cli.run("import", "-", input: "\(line)\n\(good)\n")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try cli.run("stats", "--format", "json").output.contains(#""events":2"#))
    }
}
