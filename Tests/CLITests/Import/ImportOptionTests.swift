import Foundation
import Testing

@Suite("Import: packed files, IDs, skipped lines, times of recording, services")
struct ImportOptionTests {
    private let cli: CLI

    init() throws { cli = try CLI() }

    private func line(_ number: Int, id: String? = nil, _ more: String = "") -> String {
        let id = id.map { #","eid":"\#($0)""# } ?? ""
        return
            #"{"kind":"custom_event","user":"u\#(number % 7)","name":"e\#(number % 5)","properties":{"n":\#(number)}"#
            + id + more + "}"
    }

    private func file(_ lines: [String], as name: String) throws -> String {
        try cli.write(lines.joined(separator: "\n") + "\n", as: name)
    }

    @Test("A gzip file is unpacked, also one of several parts; it counts as the file in it; a cut one is refused")
    func gzip() throws {
        let plain = try file((0..<2_500).map { line($0) }, as: "a.jsonl")
        try cli.shell("head -n 1200 \(plain) | gzip > \(plain).gz; tail -n +1201 \(plain) | gzip >> \(plain).gz")
        let packed = try cli.run("import", plain + ".gz", "--format", "json")
        #expect(packed.output.contains(#""imported":2500,"skipped":0"#), "\(packed.errors)")
        let again = try cli.run("import", plain, "--format", "json")
        #expect(again.output.contains(#""imported":0,"skipped":2500"#), "\(again.errors)")
        try cli.shell("head -c 3000 \(plain).gz > cut.gz")
        let cut = try cli.run("import", "cut.gz")
        #expect(cut.status == 1 && cut.errors.contains("is cut short"), "\(cut.errors)")
    }

    @Test("A line with an ID is stored once, in any file; another content under the ID is counted")
    func ids() throws {
        let first = try file((0..<1_500).map { line($0, id: "i\($0)") } + [line(3, id: "i3")], as: "a.jsonl")
        let one = try cli.run("import", first, "--id", "eid", "--format", "json")
        #expect(one.output.contains(#""imported":1500,"skipped":1"#), "\(one)")
        let second = try file((1_400..<1_600).map { line($0, id: "i\($0)") } + [line(9, id: "i8")], as: "b.jsonl")
        let two = try cli.run("import", second, "--id", "eid", "--format", "json")
        #expect(two.output.contains(#""imported":100,"skipped":101"#), "\(two)")
        #expect(two.output.contains(#""different":1"#), "\(two)")
        let none = try cli.run("import", try file([line(1)], as: "c.jsonl"), "--id", "eid")
        #expect(none.status == 1 && none.errors.contains(#"it has no "eid""#), "\(none.errors)")
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
        #expect(try cli.succeed("replay", "--verify").output.contains("Equal"))
    }

    @Test("--skip-invalid goes on, and its file names each line that was skipped, with the reason")
    func skipped() throws {
        var lines = (0..<1_500).map { line($0) }
        lines[700] = #"{"kind":"custom_event","user":"u""#
        lines[1_200] = #"{"kind":"custom_event","user":"u"}"#
        let input = try file(lines, as: "a.jsonl")
        let stopped = try cli.run("import", input)
        #expect(stopped.status == 1 && stopped.errors.contains("--skip-invalid FILE"), "\(stopped.errors)")
        let outcome = try cli.run("import", input, "--skip-invalid", "skipped.jsonl", "--format", "json")
        #expect(outcome.status == 1)
        #expect(outcome.output.contains(#""imported":1498"#) && outcome.output.contains(#""invalid":2"#), "\(outcome)")
        let told = try cli.shell("cat skipped.jsonl; stat -c %a skipped.jsonl").lines
        #expect(told.count == 3 && told.last == "600")
        #expect(told[0].hasPrefix(#"{"line":701,"reason":"it is no valid JSON at byte"#), "\(told)")
        #expect(told[1].hasPrefix(#"{"line":1201,"reason":"it has no \"name\"""#), "\(told)")
        let same = try cli.run("import", input, "--skip-invalid", input)
        #expect(same.status == 64 && same.errors.contains("the file that is imported"), "\(same.errors)")
        #expect(try cli.shell("wc -l < \(input)").output == "1500\n")
    }

    @Test("--skip-invalid takes what the store refuses too, by a service as well", arguments: [false, true])
    func skippedByStore(isService: Bool) throws {
        let unknown = #"{"kind":"custom_event","user":"braze:0123456789abcdef01234567","name":"a"}"#
        var lines = (0..<1_200).map { line($0) }
        for place in [0, 1, 6, 1_100] { lines[place] = unknown }
        let taken = lines[900].replacing("}}", with: #"},"key":"k"}"#)
        lines[900] = taken
        lines[905] = taken.replacing(#""n":900"#, with: #""n":1"#)
        let input = try file(lines, as: "a.jsonl")
        let service = isService ? try RemoteTests.Service(cli) : nil
        func run(_ arguments: [String]) throws -> CLI.Outcome {
            try cli.run(["import", input] + arguments, environment: service?.environment ?? [:])
        }
        let stopped = try run([])
        #expect(stopped.errors.contains("To go on without such lines: --skip-invalid FILE."), "\(stopped.errors)")
        for imported in [1_195, 0] {
            let outcome = try run(["--skip-invalid", "skipped.jsonl", "--format", "json"])
            #expect(outcome.status == 1)
            #expect(outcome.output.contains(#""imported":\#(imported),"#), "\(outcome)")
            #expect(outcome.output.contains(#""invalid":5"#), "\(outcome)")
            let told = try cli.shell("cat skipped.jsonl").lines
            let numbers = told.map { $0.split(separator: ",")[0] }
            #expect(numbers == [1, 2, 7, 906, 1_101].map { #"{"line":\#($0)"# }, "\(told)")
            #expect(told[0].contains(#""reason":"no user has this ID","text":"{\"kind\""#), "\(told)")
            #expect(told[3].contains(#""reason":"the idempotency key was used before"#), "\(told)")
        }
        if let service { #expect(service.end() == 0) }
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
    }

    @Test(
        "A file of another kind is named, with what to do",
        arguments: [
            (#"printf 'PK\003\004'"#, "is a zip file", "Unpack it with unzip"),
            (#"printf '\050\265\057\375'"#, "is packed by zstd", "zstd -dc FILE"),
            ("printf BZh9", "is packed by bzip2", "bzip2 -dc"),
            (#"printf '\3757zXZ'"#, "is packed by xz", "xz -dc"), ("printf PAR1x", "is a Parquet file", "map"),
            ("echo '{}' | iconv -t UTF-16", "is text in UTF-16", "iconv -f utf-16"),
        ])
    func otherFiles(writer: String, sentence: String, remedy: String) throws {
        try cli.shell("\(writer) > a.jsonl")
        for more in [[], ["--suggest"]] {
            let outcome = try cli.run(["import", "a.jsonl"] + more)
            #expect(outcome.status == 64 && outcome.errors.contains("a.jsonl \(sentence)"), "\(outcome.errors)")
            #expect(outcome.errors.contains(remedy), "\(outcome.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: cli.store))
    }

    @Test("An empty file, a line of another program and an object of several lines are told")
    func unfit() throws {
        let empty = try cli.succeed("import", cli.write("\n\n", as: "a.jsonl")).output
        #expect(empty.hasPrefix("Imported nothing: "), "\(empty)")
        let other = try cli.run("import", "-", input: #"{"event":"x","distinct_id":"a"}"#)
        #expect(other.errors.contains(#"it has no "kind": lines of other programs are read by a map"#), "\(other)")
        let pretty = try cli.run("import", "-", input: "{\n\"kind\":\"custom_event\"}\n")
        #expect(pretty.errors.contains("one object a line, as with `jq -c .`"), "\(pretty)")
    }

    @Test("A file whose lines end as on old Macs is read")
    func carriageReturns() throws {
        let lines = (0..<40).map { line($0) }
        let input = try cli.write(lines.joined(separator: "\r") + "\r", as: "a.jsonl")
        #expect(try cli.succeed("import", input, "--format", "json").output.contains(#""imported":40"#))
        let table = try cli.write("user,event\ra,x\rb,\"y\rz\"\r", as: "t.csv")
        let map = try cli.write("user: user\nevent: event\n", as: "map.yaml")
        let outcome = try cli.run("import", table, "--map", map, "--format", "json")
        #expect(outcome.output.contains(#""imported":2"#), "\(outcome)")
        #expect(try cli.succeed("import", "--suggest", table).output.contains("event: event"))
    }

    @Test("--recorded gives events the times of their lines, in an empty store only, and resumes")
    func recorded() throws {
        func recorded(_ number: Int, _ time: String) -> String { line(number, #","recorded_at":"\#(time)""#) }
        let lines = (0..<1_200).map { number in
            recorded(number, "2024-06-\(number / 60 + 10)T12:\(number % 60 < 10 ? "0" : "")\(number % 60):00Z")
        }
        let input = try file(Array(lines.prefix(1_100)), as: "a.jsonl")
        let first = try cli.run("import", input, "--recorded", "--format", "json")
        #expect(first.output.contains(#""imported":1100"#), "\(first.errors)")
        _ = try file(lines, as: "a.jsonl")
        let grown = try cli.run("import", input, "--recorded", "--format", "json")
        #expect(grown.output.contains(#""imported":100,"skipped":1100"#), "\(grown.errors)")
        #expect(try cli.succeed("export").lines.first?.contains(#""recorded_at":"2024-06-10T12:00:00"#) == true)
        let then = try cli.succeed("profile", "u1", "--as-of", "2024-06-12T00:00:00Z", "--format", "json").output
        #expect(then.contains(#""name":"e"#), "\(then)")
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
        #expect(try cli.succeed("replay", "--verify").output.contains("Equal"))
        let other = try cli.run(
            "import", try file([recorded(1, "2025-01-01T00:00:00Z")], as: "b.jsonl"), "--recorded")
        #expect(other.status != 0 && other.errors.contains("the store has other events already"), "\(other.errors)")
        try cli.succeed("import", try file([line(1)], as: "c.jsonl"))
    }

    @Test(
        "--recorded refuses a line without a time, one that is later than now, and one that goes back",
        arguments: [
            ("", #"it has no "recorded_at""#), (#","recorded_at":"2999-01-01T00:00:00Z""#, "later than now"),
            (#","recorded_at":"2024-01-01T00:00:00Z""#, "earlier than that of a line before it"),
        ])
    func recordedRefused(member: String, reason: String) throws {
        let lines = [line(1, #","recorded_at":"2024-06-01T00:00:00Z""#), line(2, member)]
        let outcome = try cli.run("import", try file(lines, as: "a.jsonl"), "--recorded")
        #expect(outcome.status == 1 && outcome.errors.contains("Line 2 of") && outcome.errors.contains(reason))
        #expect(!FileManager.default.fileExists(atPath: cli.store))
    }

    @Test("Each spelling of an e-mail address is the same user")
    func addresses() throws {
        let lines = ["email:A@Example.com", "email:a@example.com"].map {
            #"{"kind":"custom_event","user":"\#($0)","name":"a"}"#
        }
        try cli.succeed("import", try file(lines, as: "a.jsonl"))
        let profile = try cli.succeed("profile", "email:a@EXAMPLE.com", "--format", "json").output
        #expect(profile.contains(#""count":2"#) && profile.contains(#""id":"email:a@example.com""#), "\(profile)")
        #expect(try cli.succeed("users").lines.count == 2)
    }

    @Test("Into a service as into a store: resumed, skipped by ID, refused with the line", .timeLimit(.minutes(3)))
    func service() throws {
        let service = try RemoteTests.Service(cli)
        func run(_ arguments: String...) throws -> CLI.Outcome {
            try cli.run(["import"] + arguments + ["--format", "json"], environment: service.environment)
        }
        var lines = (0..<2_500).map { line($0) }
        lines[2_200] = #"{"kind":"custom_event","user":"u""#
        let input = try file(lines, as: "a.jsonl")
        let stopped = try run(input)
        #expect(stopped.status == 1 && stopped.errors.contains("Line 2201 of"), "\(stopped.errors)")
        #expect(stopped.errors.contains("2,000 events before its chunk are stored"), "\(stopped.errors)")
        lines[2_200] = line(2_200)
        _ = try file(lines, as: "a.jsonl")
        #expect(try run(input).output.contains(#""imported":500,"skipped":2000"#))
        _ = try file(lines + [line(1)], as: "a.jsonl")
        #expect(try run(input).output.contains(#""imported":1,"skipped":2500"#))
        // What the service alone knows.
        let unknown = #"{"kind":"custom_event","user":"braze:0123456789abcdef01234567","name":"a"}"#
        let refused = try run(try file([line(1), unknown], as: "b.jsonl"))
        #expect(refused.status != 0 && refused.errors.contains("b.jsonl"), "\(refused.errors)")
        let identified = try file((0..<300).map { line($0, id: "i\($0)") }, as: "c.jsonl")
        #expect(try run(identified, "--id", "eid").output.contains(#""imported":300,"skipped":0"#))
        let more = try file((200..<400).map { line($0, id: "i\($0)") }, as: "d.jsonl")
        #expect(try run(more, "--id", "eid").output.contains(#""imported":100,"skipped":100"#))
        let shop = try cli.write("user_id,event\nu,a\nu,b\n", as: "t.csv")
        let map = try cli.write("user: user_id\nevent: event\n", as: "map.yaml")
        #expect(try run(shop, "--map", map).output.contains(#""imported":2"#))
        let recorded = try run(input, "--recorded")
        #expect(recorded.status == 64, "\(recorded.errors)")
        #expect(service.end() == 0)
        // The store itself says the same.
        #expect(try cli.run("import", input, "--format", "json").output.contains(#""imported":0,"skipped":2501"#))
        let stored = try cli.run("import", more, "--id", "eid", "--format", "json").output
        #expect(stored.contains(#""imported":0,"skipped":200"#))
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
    }

    @Test("An address as the user of a line is resolved at the commit; in an export it is an ID")
    func holders() throws {
        let cli = try CLI()
        try cli.succeed("log", "user-attribute", "jane", "email", "jane@x.example")
        try cli.succeed("log", "event", "email:old@x.example", "made")
        let event = #"{"kind":"custom_event","user":"email:\#("%")@x.example","name":"e"}"#
        func line(_ name: String) -> String { event.replacing("%", with: name) }
        let gives = #"{"kind":"user_attribute","user":"bo","attribute":"email","value":"Bo@x.example"}"#
        let keyed = line("jane").replacing(#""name""#, with: #""key":"k","name""#)
        let lines = [line("JANE"), line("old"), line("bo"), gives, line("bo"), line("new"), line("new"), keyed]
        for round in ["first", "second"] {
            let answer = try cli.run(
                "import", "-", "--name", "n", "--format", "json", input: lines.joined(separator: "\n"))
            #expect(answer.output.contains(#""imported":\#(round == "first" ? 8 : 0),"#), "\(answer)")
        }
        func events(_ user: String, _ store: String? = nil) throws -> Int {
            let answer = try cli.succeed(
                ["history", user, "--format", "json"] + (store.map { ["--store", $0] } ?? []))
            return answer.lines.count { $0.contains(#""name":"e""#) }
        }
        #expect(try events("jane") == 2)
        #expect(try events("bo") == 1)
        #expect(try events("email:new@x.example") == 2)
        #expect(try cli.succeed("users", "--format", "json").lines.count == 5)
        let copy = cli.folder.appending(path: "copy").path
        let exported = try cli.succeed("export").output
        let answer = try cli.run("import", "-", "--store", copy, input: exported)
        #expect(answer.status == 0, "\(answer.errors)")
        #expect(try cli.succeed("users", "--format", "json", "--store", copy).lines.count == 5)
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
    }
}
