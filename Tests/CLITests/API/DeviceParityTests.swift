import Foundation
import TestSupport
import Testing

@Suite("What happens to devices is answered alike with --store and with --url")
struct DeviceParityTests {
    /// Commands in their order, as one plays them on a store and on a service.
    static let story: [[String]] = [
        ["launch", "電話"], ["save", "event", "device:電話", "お茶", "-p", "種類=煎茶"], ["device", "show", "電話"],
        ["change-user", "花子", "--device", "電話"], ["device", "settings", "電話", "--offline"],
        ["log", "event", "花子", "played", "--device", "電話"], ["launch", "電話"], ["pending"], ["device"], ["stats"],
        ["device", "send", "電話"], ["device", "settings", "電話", "--online"], ["history", "花子"],
        ["device", "settings", "a/b..", "--without-app-group", "Push:group.app", "--request-policy", "manual"],
        ["save", "attribute", "ana", "n=1", "--device", "a/b..", "--process", "Push"],
        ["save", "attribute", "ana", "m=1", "--device", "a/b.."], ["device", "leave", "a/b.."],
        ["launch", "a/b..", "--die-after", "launched"],
        ["launch", "a/b..", "--die-after", "handed", "--only", "events"],
        ["launch", "a/b..", "--kind", "return"], ["pending", "--device", "a/b.."],
        ["device", "send", "a/b..", "--if-due"],
        ["device", "settings", "a/b.."], ["device", "leave", "a/b.."], ["device", "leave", "a/b.."],
        ["device", "log-out", "a/b.."], ["device", "wipe", "a/b.."], ["change-user", "ben", "--device", "a/b.."],
        ["launch", "d"], ["rejected"], ["rejected", "--user", "zoe"], ["pending", "retry", "4", "email", "nothing"],
        ["pending", "retry", "4", "email", "zoe@example.org"], ["pending", "retry", "4", "email", "zoe@example.org"],
        ["pending", "retry", "4", "email", "other@example.org"], ["pending", "retry", "1"],
        ["pending", "retry", "999"],
        ["pending", "retry", "0"], ["launch", "d"], ["rejected", "--repaired"], ["profile", "zoe"], ["users"],
        ["device", "leave", "nowhere"], ["device", "send", "nowhere"], ["device", "show", "nowhere"],
        ["device", "log-out", "nowhere"], ["device", "wipe", "nowhere"], ["device", "settings", "nowhere"],
        ["device", "settings", "d", "--without-app-group", "Push:shared"],
        ["device", "settings", "d", "--online", "--at", "1969-12-31"],
        ["launch", "d", "--at", "2199-01-01"], ["change-user", "zoe", "--device", "d", "--at", "2199-01-01"],
        ["save", "event", "zoe", "a", "--app-group", "shared"], ["save", "event", "zoe", "a", "--time", "1969-01-01"],
        ["save", "event", "zoe", "a", "--time", "2199-01-01"], ["save", "event", "zoe", "$a"],
        ["save", "user-attribute", "zoe", "phone", "none"], ["rejected", "--user", "nobody"], ["device"], ["pending"],
        ["stats"], ["tail", "--no-follow", "--after", "0"],
    ]

    /// The formats of a run, in turn: of one command after the other. The short form plays the story once.
    private static let formats = Thoroughness.isFull ? [["table"], ["json"]] : [["table", "json"]]

    @Test("A story of devices has the same answers with --store and with --url", arguments: formats)
    func story(formats: [String]) throws {
        let (local, remote) = (try CLI(), try CLI())
        for cli in [local, remote] {
            try cli.succeed("log", "event", "zoe", "hello")
            let item = #"{"kind":"userAttributeSaved","user":"zoe","device":"d","storage":"group.app","#
            let file = try cli.write(item + #""attribute":"email","value":"none"}"#, as: "item.jsonl")
            try cli.succeed("import", file)
        }
        let service = try RemoteTests.Service(remote)
        for (number, command) in Self.story.enumerated() {
            let format = ["--format", formats[number % formats.count]]
            let here = try local.run(command + format)
            let there = try remote.run(command + format, environment: service.environment)
            #expect(plain(there.output) == plain(here.output), "\(command)")
            #expect(plain(there.errors) == plain(here.errors), "\(command)")
            #expect(there.status == here.status, "\(command)")
            if here.status != 0 {
                #expect(here.output.isEmpty, "\(command)")
                #expect(here.errors.split(separator: "\n").count == 2, "\(command): \(here.errors)")
            }
        }
        #expect(service.end() == 0)
        for cli in [local, remote] {
            #expect(try cli.succeed("check").output.hasPrefix("Sound"))
            #expect(try cli.succeed("replay", "--verify").output.contains("Equal"))
        }
    }

    /// `text` without what depends on the clock and the store.
    private func plain(_ text: String) -> String {
        let patterns = [
            (#"2\d{3}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z"#, "TIME"), (#"-?\d+ (ms|s|min)\b"#, "SPAN"),
            (#""(age_s|waited_s|shortest|median|p90|longest)":-?[0-9.e-]+"#, "\"$1\":N"), (#"[0-9a-f]{24,32}"#, "ID"),
            (#""cursor":"(\d+)-[0-9a-f]{8}""#, "\"cursor\":\"$1\""),
            (" +", " "), ("[0-9.]+ kB|\"file_bytes\":[0-9]+", "SIZE"),
        ]
        return patterns.reduce(text) { text, pattern in
            text.replacingOccurrences(of: pattern.0, with: pattern.1, options: .regularExpression)
        }
    }
}
