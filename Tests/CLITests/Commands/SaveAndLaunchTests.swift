import Foundation
import Testing

@Suite("Saving, launching and looking")
struct SaveAndLaunchTests {
    @Test("The next step finds the user, also one whose address has changed")
    func nextAfterAddress() throws {
        let cli = try CLI()
        func follow(_ output: String) throws -> CLI.Outcome {
            let next = try #require(output.firstMatch(of: #/Next: profilecli (.+)/#))
            return try cli.run(next.1.split(separator: " ").map(String.init))
        }
        let first = try cli.succeed("log", "event", "email:old@x.example", "hello").output
        #expect(try follow(first).status == 0)
        let moved = try cli.succeed("log", "user-attribute", "email:old@x.example", "email", "new@x.example").output
        let profile = try follow(moved)
        #expect(profile.status == 0 && profile.output.contains("new@x.example"), "\(profile)")
        try cli.succeed("log", "event", "email:back@x.example", "hello", "--device", "d")
        try cli.succeed("save", "user-attribute", "email:back@x.example", "email", "gone@x.example", "--device", "d")
        let launched = try cli.succeed("launch", "d").output
        #expect(try follow(launched).output.contains("gone@x.example"), "\(launched)")
    }

    @Test("What is saved waits, and a launch makes it effective")
    func saveLaunchProfile() throws {
        let cli = try CLI()
        let saved = try cli.succeed("save", "event", "jane", "Match Game", "-p", "Score=10", "-p", "name=Jane")
        #expect(saved.lines.count == 1)
        #expect(saved.output.contains("position 3 (jane, version 3, a new user); 1 item waits on phone"))
        #expect(saved.output.contains("Next: profilecli launch"))
        try cli.succeed("save", "attribute", "jane", "level=7", "--string", "code=0042")
        try cli.succeed("save", "user-attribute", "jane", "phone", "5551234")

        let pending = try cli.succeed("pending", "--format", "json")
        #expect(pending.lines.count == 3)
        #expect(pending.lines[0].contains(#""properties":{"Score":10,"name":"Jane"}"#))
        #expect(pending.lines[1].contains(#""attributes":{"code":"0042","level":7}"#))
        #expect(pending.lines[2].contains(#""value":"5551234""#))

        #expect(try !cli.succeed("profile", "jane").output.contains("0042"))
        #expect(try cli.succeed("profile", "jane", "--include-pending").output.contains("0042"))
        #expect(try cli.succeed("launch").output.contains("3 flushed, 0 rejected, 0 left"))
        let profile = try cli.succeed("profile", "jane", "--format", "json")
        #expect(profile.output.contains(#""custom_attributes":{"code":"0042","level":7}"#))
        let past = try cli.succeed("profile", "jane", "--as-of", "5", "--format", "json")
        #expect(past.output.contains(#""custom_attributes":{}"#))
        #expect(try cli.succeed("pending", "--format", "json").output.isEmpty)
        #expect(try cli.succeed("check").output.hasPrefix("Sound"))
    }

    @Test("A launch leaves what an extension keeps for itself, and a discard takes it away")
    func privateAndDiscard() throws {
        let cli = try CLI()
        let saved = try cli.succeed("save", "event", "bob", "opened", "--private", "--process", "PushContent")
        #expect(saved.output.contains("Next: profilecli pending"))
        #expect(try cli.succeed("launch").output.contains("0 flushed, 0 rejected, 1 left"))
        #expect(try cli.succeed("pending").output.contains("private:PushContent (hidden from the app)"))
        let discarded = try cli.succeed("pending", "discard", "--reason", "test data", "--by", "me")
        #expect(discarded.output.contains("Discarded 1 item"))
        #expect(try cli.succeed("pending", "--format", "json").output.isEmpty)
        #expect(try cli.succeed("history", "bob").output.contains("by me: test data"))
        #expect(try cli.run("pending", "discard", "--reason", "x", "--device", "nowhere").status == 1)
    }

    @Test("Logging is effective at once")
    func log() throws {
        let cli = try CLI()
        let logged = try cli.succeed("log", "event", "jane", "played song", "-p", "minutes=3")
        #expect(logged.output.contains("effective at once. Next: profilecli profile jane"))
        try cli.succeed("log", "attribute", "jane", "level=7", "tags=[\"a\"]")
        try cli.succeed("log", "attribute", "jane", #"tags={"add":["b"]}"#, "level=null")
        try cli.succeed("log", "user-attribute", "jane", "email", "jane@example.org")
        try cli.succeed("log", "purchase", "jane", "sku-1", "--price", "-9.5", "--currency", "EUR", "--quantity", "2")
        let profile = try cli.succeed("profile", "jane", "--format", "json").output
        #expect(profile.contains(#""custom_attributes":{"tags":["a","b"]}"#))
        #expect(profile.contains(#""attributes":{"email":"jane@example.org"}"#))
        #expect(profile.contains(#""revenue":{"EUR":-19.0}"#))
        #expect(try cli.succeed("history", "jane", "--kind", "purchaseLogged", "--format", "json").lines.count == 1)
    }

    @Test("The same key changes nothing, another content under it is a conflict")
    func idempotency() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "jane", "a", "--key", "k")
        #expect(try cli.succeed("log", "event", "jane", "a", "--key", "k").output.hasPrefix("Already logged"))
        let other = try cli.run("log", "event", "jane", "b", "--key", "k")
        #expect(other.status == 75)
        #expect(other.output.isEmpty)
        #expect(other.errors.contains("Use a new --key"))
        #expect(try cli.run("log", "event", "jane", "b", "--expect", "9").status == 75)
        #expect(try cli.run("log", "event", "jane", "b", "--expect", "none").status == 75)
        try cli.succeed("log", "event", "jane", "b", "--expect", "2")
        #expect(try cli.succeed("history", "jane", "--format", "json").lines.count == 3)
    }

    @Test("A device changes hands, and USER may be any identifier")
    func users() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "alias:crm:7", "a")
        try cli.succeed("log", "event", "email:x@example.org", "a")
        #expect(try cli.succeed("change-user", "ana", "--device", "d1").output.contains("(ana, version 2, a new user)"))
        #expect(try cli.succeed("change-user", "ana", "--device", "d1").output.contains("already"))
        try cli.succeed("save", "event", "device:d1", "opened")
        #expect(try cli.succeed("profile", "device:d1", "--format", "json").output.contains(#""id":"ana""#))
        let users = try cli.succeed("users", "--format", "json")
        #expect(users.lines.count == 3)
        #expect(users.lines[0].contains(#""id":"alias:crm:7""#))
        #expect(try cli.succeed("users", "--limit", "2", "--format", "json").lines.count == 2)
    }

    @Test("The log is read from its end, from a position, and by kind")
    func tail() throws {
        let cli = try CLI()
        for name in ["a", "b", "c"] { try cli.succeed("log", "event", "jane", name) }
        #expect(try cli.succeed("tail", "--no-follow", "--format", "json").lines.count == 4)
        #expect(try cli.succeed("tail", "--no-follow", "-n", "2", "--format", "json").lines.count == 2)
        #expect(try cli.succeed("tail", "--no-follow", "--after", "3", "--format", "json").lines.count == 1)
        let last = try cli.succeed("history", "jane", "--reverse", "--limit", "1", "--format", "json")
        #expect(last.output.contains(#""name":"c""#))
        #expect(try cli.succeed("history", "jane", "--from", "2", "--to", "3", "--format", "json").lines.count == 2)
        let stats = try cli.succeed("stats", "--format", "json").output
        #expect(stats.contains(#""events":4"#))
        #expect(stats.contains(#""users":1"#))
    }

    @Test("A save names the user that it puts on a device, or the one who is there")
    func whoIsThere() throws {
        let cli = try CLI()
        let first = try cli.succeed("save", "event", "ana", "a", "--device", "p2")
        #expect(first.output.contains("ana is on it now. Next:") && !first.errors.contains("ana is"))
        let again = try cli.succeed("save", "event", "ana", "a", "--device", "p2")
        #expect(!again.output.contains("is on it now") && again.errors.isEmpty)
        let other = try cli.succeed("save", "event", "kim", "a", "--device", "p2")
        #expect(
            other.errors
                == "kim is not on p2 (ana is): log in with `profilecli change-user kim --device p2`\n")
        let json = try cli.succeed("save", "event", "kim", "a", "--device", "p2", "--format", "json")
        #expect(json.output.contains(#""arrived":false"#) && json.output.contains(#""on_device":{"braze_id""#))
        #expect(json.errors.isEmpty)
    }

    @Test("With a disabled SDK, no launch is the next step")
    func disabled() throws {
        let cli = try CLI()
        try cli.succeed("save", "event", "ana", "a", "--device", "d")
        try cli.succeed("device", "settings", "d", "--disable-sdk")
        for command in [["pending"], ["device", "show", "d"]] {
            let output = try cli.run(command).output
            #expect(output.contains("Next: profilecli device settings d --enable-sdk"), "\(output)")
        }
    }

    @Test("What was handed to the SDK before the app died is sent by the next launch, and the list says so")
    func handed() throws {
        let cli = try CLI()
        try cli.succeed("save", "event", "ana", "a", "--device", "d")
        try cli.succeed("launch", "d", "--die-after", "handed")
        for command in [["pending"], ["device", "show", "d"]] {
            let output = try cli.run(command).output
            #expect(output.contains("(handed, not sent yet: the next launch sends it)"), "\(output)")
            #expect(output.contains("Next: profilecli launch d"))
        }
    }

    @Test("--at and --time are the same for saves, logs and launches")
    func clocks() throws {
        let cli = try CLI()
        for name in ["--at", "--time"] {
            try cli.succeed("save", "event", "ana", "a", name, "2026-01-31T12:00:00Z")
            try cli.succeed("log", "event", "ana", "a", name, "2026-01-31T12:00:00Z")
            try cli.succeed("launch", name, "2026-01-31T12:00:00Z")
        }
        let times = try cli.succeed(
            "history", "ana", "--kind", "customEventSaved", "--kind", "appLaunched", "--format", "json"
        )
        .lines
        #expect(times.count == 4 && times.allSatisfy { $0.contains("2026-01-31T12:00:00") })
    }

    @Test("A file that is not written to its end is none")
    func unfinishedFile() throws {
        let cli = try CLI()
        let script = """
            "$0" generate --events 100000000 -o sample.jsonl & child=$!
            while [ -z "$(ls | grep unfinished)" ]; do sleep 0.05; done
            kill -INT $child; wait $child
            """
        let outcome = try cli.shell(script)
        #expect(outcome.status == 130 && outcome.errors.contains("Stopped by Ctrl-C; no file was written."))
        let names = try FileManager.default.contentsOfDirectory(atPath: cli.folder.path)
        #expect(!names.contains { $0.hasPrefix("sample") })
        let path = try cli.write("before", as: "before.jsonl")
        try cli.succeed("generate", "--events", "2", "-o", path)
        #expect(try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").count == 2)
    }
}
