import Foundation
import Testing

@Suite("Commands that are suggested work on the same store")
struct SuggestionTests {
    private let cli: CLI

    init() throws { cli = try CLI() }

    /// The commands that `text` suggests, from `profilecli` to the end of the line or the closing quotation mark.
    private func suggested(_ text: String) -> [Substring] {
        text.matches(of: /(?:Next: |`)(profilecli [^`\n]+)/).map(\.output.1)
    }

    /// They run in order, so that each finds its data.
    private static let commands = [
        ["stats"], ["save", "event", "ana", "a", "--device", "d"], ["save", "event", "bob", "b", "--device", "d"],
        ["save", "event", "ana", "p", "--private", "--process", "Push", "--device", "d"], ["pending"],
        ["pending", "--device", "nowhere"], ["launch", "d"], ["launch", "other"],
        ["launch", "d", "--die-after", "handed"], ["pending"], ["log", "event", "ana", "a"], ["profile", "nobody"],
        ["history", "nobody"], ["rejected"], ["device"], ["device", "show", "d"],
        ["device", "settings", "d", "--offline"], ["log", "event", "ana", "b", "--device", "d"],
        ["device", "settings", "d", "--online"], ["device", "leave", "d"], ["device", "send", "d"],
        ["device", "show", "nowhere"], ["change-user", "kim", "--device", "d"], ["device", "log-out", "d"],
        ["device", "wipe", "d"], ["pending", "discard", "--device", "d", "--reason", "test"],
        ["pending", "retry", "1"], ["erase", "bob", "--reason", "test", "--yes"], ["import", "events.jsonl"],
        ["import", "--user-defaults", "group.app.plist", "--device", "d"], ["whatif"],
        ["whatif", "--device", "nowhere"], ["simulate"], ["replay"], ["check"], ["users", "--after", "99"],
    ]

    @Test("The suggestion after every command has --store as it was typed")
    func store() throws {
        _ = try cli.write(#"{"kind":"custom_event","user":"u","name":"a"}"#, as: "events.jsonl")
        var count = 0
        for command in Self.commands {
            let outcome = try cli.run(command + ["--store", "my store"], environment: ["PROFILELOG_STORE": ""])
            for line in suggested(outcome.output + outcome.errors) {
                count += 1
                #expect(line.contains(" --store 'my store'"), "\(command): \(line)")
            }
        }
        #expect(count >= 25)
    }

    @Test("Names that begin as options do are suggested so that they can be typed")
    func dashes() throws {
        let place = ["--store=-x"]
        let commands = [
            ["log", "event", "id:-bob", "a"], ["save", "event", "id:-bob", "a", "--device=-d"],
            ["save", "event", "kim", "b", "--device=-d"], ["save", "event", "kim", "c", "--private", "--device=-d"],
            ["pending"], ["launch", "--device=-d"], ["device", "settings", "--device=-d", "--offline"],
            ["device", "show", "--device=-d"], ["change-user", "kim", "--device=-d"], ["rejected"], ["check"],
        ]
        var count = 0
        for command in commands {
            let outcome = try cli.run(command + place, environment: ["PROFILELOG_STORE": ""])
            #expect(outcome.status == 0, "\(command): \(outcome.errors)")
            for line in suggested(outcome.output + outcome.errors) where !line.contains("TEXT") {
                count += 1
                let words = line.split(separator: " ").dropFirst().map(String.init)
                let next = try cli.run(words, environment: ["PROFILELOG_STORE": ""])
                #expect(next.status == 0, "\(line): \(next.errors)")
            }
        }
        #expect(count >= 8)
    }

    @Test("A history that was made up is looked at where it is")
    func simulate() throws {
        let outcome = try cli.run("simulate", "--store", "academy", "--devices", "2", "--days", "2")
        #expect(outcome.output.contains("Next: profilecli whatif --store academy"))
        let next = try #require(suggested(outcome.output).first).split(separator: " ").dropFirst().map(String.init)
        #expect(try cli.run(next, environment: ["PROFILELOG_STORE": ""]).status == 0)
        let none = try cli.run("whatif", "--until", "0", "--store", "academy")
        #expect(none.output.hasSuffix("opened --store academy\n"), "\(none)")
    }

    @Test("What the environment says is not repeated")
    func environment() throws {
        #expect(try cli.succeed("log", "event", "ana", "a").output.hasSuffix("Next: profilecli profile ana\n"))
        #expect(try cli.run("profile", "nobody").errors.contains("`profilecli users`"))
    }

    @Test("The suggestion has --url too, except for what works on a store's files")
    func url() throws {
        let service = try RemoteTests.Service(cli)
        let url = ["--url", service.url]
        let commands = [
            ["log", "event", "ana", "a"], ["save", "event", "ana", "a"], ["launch"], ["profile", "nobody"],
        ]
        for command in commands {
            let outcome = try cli.run(command + url, environment: ["PROFILELOG_STORE": ""])
            let lines = suggested(outcome.output + outcome.errors)
            #expect(!lines.isEmpty && lines.allSatisfy { $0.contains(" --url \(service.url)") }, "\(command): \(lines)")
        }
        let erased = try cli.run(["erase", "ana", "--reason", "test", "--yes"] + url)
        #expect(erased.output.hasSuffix("Next: profilecli compact --store FOLDER\n"), "\(erased.output)")
        #expect(service.end() == 0)
    }
}
