import Foundation
import TestSupport
import Testing

@Suite("An idempotency key travels with an export and its import")
struct ImportedKeyTests {
    private let cli: CLI
    private var copy: String { cli.folder.appending(path: "copy").path }

    init() throws { cli = try CLI() }

    /// Appends with keys, of one event and of several, and one without.
    private func fill() throws {
        try cli.succeed("log", "event", "jane", "a", "--key", "k-1")
        try cli.succeed("log", "attribute", "bo", #"t={"add":["x"],"remove":["y"]}"#, "n=1", "--key", "k-2")
        try cli.succeed("log", "event", "jane", "plain")
        try cli.succeed("save", "event", "jane", "saved", "--device", "d", "--key", "k-3")
        try cli.succeed("log", "purchase", "ana", "p", "--price", "2.5", "--currency", "EUR", "--key", "k-4")
    }

    /// The kinds of an export that an import takes.
    private static let kinds = [
        "customEventLogged", "customAttributesChanged", "purchaseLogged", "customEventSaved",
    ]

    private func exported(_ store: String, _ options: [String] = kinds.flatMap { ["--kind", $0] }) throws -> [String] {
        try cli.succeed(["export", "--store", store] + options).lines
    }

    private func keys(_ store: String) throws -> [String?] {
        try exported(store).map { line in
            line.firstMatch(of: /"key":"([^"]*)"/).map { String($0.output.1) }
        }
    }

    private func imported(_ lines: [String], _ store: String, _ options: String...) throws -> CLI.Outcome {
        try cli.run(
            ["import", "-", "--store", store, "--format", "json"] + options,
            input: lines.joined(separator: "\n"))
    }

    @Test("Each event of an append has its key, in the whole log and in a part of it")
    func export() throws {
        try fill()
        let all = ["k-1", "k-2", "k-2", nil, "k-3", "k-4"]
        #expect(try keys(cli.store) == all)
        let log = try exported(cli.store, []).filter { !$0.contains(#""kind":"user"#) }
        #expect(log == (try exported(cli.store)))
        let part = try exported(cli.store, ["--kind", "customEventLogged"])
        #expect(part.count == 2 && part[0].contains(#""key":"k-1""#) && !part[1].contains(#""key""#), "\(part)")
        let rest = try exported(cli.store, ["--after", "4"])
        #expect(rest[0].contains(#""key":"k-2""#), "\(rest)")
    }

    @Test("A store that has the events takes them under their keys a second time: nothing is stored")
    func again() throws {
        try fill()
        let lines = try exported(cli.store).filter { $0.contains(#""key""#) }
        let answer = try imported(lines, cli.store, "--name", "back")
        #expect(answer.output.contains(#""imported":0,"skipped":5"#), "\(answer)")
        for name in ["one", "two"] {
            let answer = try imported(exported(cli.store), copy, "--name", name)
            let isFirst = name == "one"
            #expect(
                answer.output.contains(#""imported":\#(isFirst ? 6 : 1),"skipped":\#(isFirst ? 0 : 5)"#), "\(answer)")
        }
        // A line without a key is stored under one of its import.
        let copied = try keys(copy)
        #expect(copied.prefix(3) == ["k-1", "k-2", "k-2"] && copied[4...5] == ["k-3", "k-4"], "\(copied)")
        #expect(copied[3]?.hasPrefix("import:one:") == true && copied.last??.hasPrefix("import:two:") == true)
        #expect(try cli.succeed("check", "--store", copy).output.hasPrefix("Sound"))
    }

    @Test("A client that sends its write again, to the copy, has it stored once")
    func retried() throws {
        try fill()
        #expect(try imported(exported(cli.store), copy).status == 0)
        let events = try exported(copy).count
        try cli.succeed("log", "event", "jane", "a", "--key", "k-1", "--store", copy)
        try cli.succeed(
            "log", "attribute", "bo", #"t={"add":["x"],"remove":["y"]}"#, "n=1", "--key", "k-2", "--store", copy)
        try cli.succeed("save", "event", "jane", "saved", "--device", "d", "--key", "k-3", "--store", copy)
        #expect(try exported(copy).count == events)
        let other = try cli.run("log", "event", "jane", "other", "--key", "k-1", "--store", copy)
        #expect(other.status == 75 && other.errors.contains("k"), "\(other)")
        #expect(try exported(copy).count == events)
    }

    @Test("A short line has a key too, and other content under it is refused by its line")
    func short() throws {
        let line = #"{"kind":"custom_event","user":"u","name":"a","key":"k"}"#
        try cli.succeed("log", "event", "u", "a", "--key", "k")
        #expect(try imported([line], cli.store).output.contains(#""imported":0,"skipped":1"#))
        let plain = #"{"kind":"custom_event","user":"u","name":"b"}"#
        let other = line.replacing(#""name":"a""#, with: #""name":"c""#)
        let refused = try imported([plain, other, plain], cli.store, "--name", "n")
        #expect(refused.status == 75 && refused.errors.contains("Line 2 of standard input"), "\(refused)")
        // The lines before it are stored, and skipped when the line is corrected.
        let answer = try imported([plain, line, plain], cli.store, "--name", "n")
        #expect(answer.output.contains(#""imported":1,"skipped":2"#), "\(answer)")
        for wrong in [#""""#, "7", "\"\(String(repeating: "k", count: 2_000))\""] {
            let refused = try imported([line.replacing(#""k""#, with: wrong)], cli.store, "--name", "w")
            #expect(refused.status == 1 && refused.errors.contains("\"key\" must"), "\(refused)")
        }
    }

    @Test(
        "Lines with keys and without keep their order, whatever a chunk holds",
        arguments: Thoroughness.seeds(short: 2, full: 4))
    func mixed(seed: UInt64) throws {
        var (lines, key) = ([String](), 0)
        for number in 0..<3_000 {
            let random = (UInt64(number) &+ seed &* 7_919) &* 0x9E37_79B9_7F4A_7C15
            if random >> 32 % 300 == 0 { key += 1 }
            let more = key % 2 == 0 ? "" : #","key":"k\#(key)""#
            lines.append(#"{"kind":"custom_event","user":"u\#(number % 7)","name":"e\#(number)"\#(more)}"#)
        }
        for round in ["first", "second"] {
            let answer = try imported(lines, cli.store, "--name", "n")
            let isFirst = round == "first"
            #expect(answer.output.contains(#""imported":\#(isFirst ? 3_000 : 0),"#), "\(answer)")
        }
        let names = try exported(cli.store).compactMap {
            $0.firstMatch(of: /"name":"(e\d+)"/).map { String($0.output.1) }
        }
        #expect(names == (0..<3_000).map { "e\($0)" })
        #expect(try imported(exported(cli.store), copy).output.contains(#""imported":3000,"#))
    }
}
