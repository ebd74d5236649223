import Foundation
import TestSupport
import Testing

/// A list that is empty says why: on standard error in both formats, and in the JSON of a whole answer as `note`.
@Suite("Sentences of empty lists")
struct EmptyListTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let command: [String]
        let sentence: String
        /// Tells whether `--format json` prints the answer as one object.
        var isObject = false
        /// Tells whether the command has a form for people only, or for programs only.
        var hasFormats = true

        init(_ command: [String], _ sentence: String, isObject: Bool = false, hasFormats: Bool = true) {
            (self.command, self.sentence, self.isObject, self.hasFormats) = (command, sentence, isObject, hasFormats)
        }

        var testDescription: String { command.joined(separator: " ") }
    }

    /// Ana has an event, and a device with her on it; all of it happened today.
    private static let story: [[String]] = [
        ["log", "event", "ana", "hello"], ["change-user", "ana"], ["launch"], ["change-user", "bo", "--device", "d2"],
    ]

    private static let early = ["--as-of", "2020-01-01"]
    private static let wasEmpty = "`order=occurred` (--occurred) asks by when things happened."
    private static let unseen = "The store has never seen the name helo. Did you mean hello?"

    static let cases: [Case] = [
        Case(["users", "--after", "99"], "There are no users after 99."),
        Case(["users", "--where", "events.hello.count > 5"], "No users match `where`."),
        Case(["users", "--where", "events.hello.count > 5", "--after", "1"], "no users after 1 that match `where`."),
        Case(["users", "--where", "events.hello.count > 5", "--count"], "No users match `where`.", isObject: true),
        Case(["users", "--prefix", "zz"], "No users match `prefix`."),
        Case(["names", "zz"], "No names match `prefix`."),
        Case(["names", "z", "--kind", "event"], "No names match `kind` and `prefix`."),
        Case(["users"] + early, wasEmpty),
        Case(["users", "--where", "events.hello.count > 0"] + early, wasEmpty),
        Case(["users", "--count"] + early, wasEmpty, isObject: true),
        Case(["users", "--occurred"] + early, "There were no users then."),
        Case(
            ["users", "--occurred", "--where", "events.hello.count > 0"] + early, "No users matched `where` then."),
        Case(["history", "ana", "--name", "helo"], unseen),
        Case(["history", "ana", "--merged", "--name", "helo"], unseen),
        Case(["history", "ana", "--graph", "--name", "helo"], unseen, hasFormats: false),
        Case(["history", "ana", "--device", "phon"], "never seen the device phon. Did you mean phone?"),
        Case(["history", "ana", "--before", "2020-01-01"], "No events of the user match `before`."),
        Case(["history", "ana", "--from", "99"], "No events of the user match `from`."),
        Case(
            ["history", "ana", "--kind", "purchaseLogged", "--since", "-1d"],
            "No events of the user match `kind` and `since`."),
        Case(["history", "ana", "--occurred", "--before", "2020-01-01"], "No events of the user match `before`."),
        Case(["tail", "--no-follow", "--name", "helo"], unseen),
        Case(["tail", "--no-follow", "--after", "LAST"], "There are no events after LAST."),
        Case(["tail", "--no-follow", "--kind", "purchaseLogged"], "No events match `kind`"),
        Case(["export", "--name", "helo"], unseen, hasFormats: false),
        Case(["export", "--after", "LAST"], "There are no events after LAST.", hasFormats: false),
        Case(["export", "--events", "--name", "helo"], unseen, hasFormats: false),
        Case(["export", "--events"] + early, wasEmpty, hasFormats: false),
        Case(["export", "--events", "--occurred"] + early, "There were no events then.", hasFormats: false),
        Case(["export", "--profiles"] + early, wasEmpty, hasFormats: false),
        Case(["export", "--profiles", "--format", "csv"] + early, wasEmpty, hasFormats: false),
        Case(["export", "--profiles", "--where", "pending > 0"], "No profiles match `where`.", hasFormats: false),
        Case(
            ["export", "--profiles", "--where", "pending > 0", "--into", "f"], "No profiles match", hasFormats: false),
        Case(["pending"], "Nothing waits."),
        Case(["pending", "--user", "ana"], "There are no waiting items of the user."),
        Case(["pending", "--storage", "x", "--device", "phone"], "No waiting items match `device` and `storage`."),
        Case(["pending"] + early, wasEmpty),
        Case(["pending", "--occurred"] + early, "There were no waiting items then."),
        Case(["rejected"], "Nothing is rejected."),
        Case(["rejected", "--user", "ana"], "There are no rejected items of the user."),
        Case(["sends"], "No message was sent."), Case(["sends", "--after", "3"], "There are no sends after 3."),
        Case(["sends", "ana", "--message", "spring"], "never seen the campaign, canvas or message spring."),
        Case(["traits"], "No computed traits are declared", isObject: true),
        Case(["traits", "ana"], "No computed traits are declared", isObject: true),
        Case(["rules", "show"], "No attribute has a policy: the last arrival wins.", isObject: true),
        Case(["rules", "show"] + early, wasEmpty, isObject: true),
        Case(["diff", "ana", "now"], "Nothing differs.", isObject: true),
        Case(["diff", "--all", "now"], "No user changed between the two moments."),
        Case(["diff", "--all", "2020-01-01", "2020-01-02"], wasEmpty),
        Case(["diff", "--all", "2020-01-01", "2020-01-02", "--occurred"], "No user changed"),
        Case(["blame", "bo"], "There are no attributes, events or products of the user.", isObject: true),
        Case(["stats", "--plot", "purchases"], "Nothing was counted in this time.", isObject: true),
        Case(["stats", "--plot", "purchases", "--where", "pending > 0"], "match `where`.", isObject: true),
        Case(["messages", "list"], "There are no declared in-app messages.", isObject: true),
        Case(["messages", "show"], "There are no in-app messages on the device.", isObject: true),
        Case(["push"], "There are no pushes on the device.", isObject: true),
    ]

    /// The last position of the story.
    private static let last = Result {
        let json = try CLI(after: story).succeed("stats", "--format", "json").output
        return String(try #require(json.firstMatch(of: /"last_position":([0-9]+)/)).1)
    }

    @Test("Each list says in both formats why it is empty", arguments: cases)
    func sentences(_ each: Case) throws {
        try check(each, CLI(after: Self.story), ["table", "json"], [])
    }

    private func check(_ each: Case, _ cli: CLI, _ formats: [String], _ place: [String]) throws {
        let last = try Self.last.get()
        let command = each.command.map { $0.replacing("LAST", with: last) } + place
        let sentence = each.sentence.replacing("LAST", with: last)
        for format in each.hasFormats ? formats.map(Optional.some) : [nil] {
            let outcome = try cli.run(command + (format.map { ["--format", $0] } ?? []))
            #expect(outcome.status == 0, "\(command): \(outcome)")
            let lines = outcome.errors.split(separator: "\n")
            #expect(lines.count { $0.contains(sentence) } == 1, "\(command) \(format ?? ""): \(outcome)")
            let hasNote = outcome.output.contains(#""note":""#)
            #expect(hasNote == (each.isObject && format == "json"), "\(command): \(outcome)")
            if format == "table" { #expect(!outcome.output.contains(sentence), "\(command): \(outcome)") }
        }
    }

    @Test("A service says the same")
    func service() throws {
        let cli = try CLI(after: Self.story)
        let service = try RemoteTests.Service(cli)
        for (index, each) in Self.cases.enumerated() where !each.command.contains("--into") {
            // The program makes the forms as it does for a store: the short form takes one of them in turn.
            let formats = ["table", "json"]
            let some = Thoroughness.isFull ? formats : [formats[index % 2]]
            try check(each, cli, some, ["--url", service.url])
        }
        #expect(service.end() == 0)
    }

    @Test("A store without an event, and one without a device, say so")
    func emptyStore() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "ana", "hello")
        for format in ["table", "json"] {
            let errors = try cli.succeed("device", "--format", format).errors
            #expect(errors.split(separator: "There are no devices.", omittingEmptySubsequences: false).count == 2)
        }
        let service = try RemoteTests.Service(cli, "--ephemeral")
        for command in [["users"], ["device"], ["tail", "--no-follow"], ["export", "--profiles"]] {
            let errors = try cli.run(command + ["--url", service.url]).errors
            #expect(errors.contains(/^(There are no .*|The store has no event yet)\.\n/), "\(command): \(errors)")
        }
        #expect(service.end() == 0)
    }

    @Test("What has rows, or goes on after them, says nothing")
    func silent() throws {
        let cli = try CLI(after: Self.story)
        for command in [
            ["users"], ["history", "ana"], ["tail", "--no-follow"], ["export"], ["export", "--profiles"],
            ["export", "--name", "hello"], ["tail", "--no-follow", "--name", "hello"], ["diff", "ana", "1", "now"],
        ] {
            #expect(try cli.run(command).errors.isEmpty, "\(command)")
        }
    }
}
