import Foundation
import Testing

@Suite("profilecli whatif")
struct WhatIfTests {
    /// Jane plays and gets a level, hands the phone to Bob who launches the app; what Bob saves waits.
    private func history() throws -> CLI {
        let cli = try CLI()
        let push = ["--process", "PushContent", "--device", "phone-1"]
        let steps = [
            ["save", "event", "jane", "Completed Match Game", "-p", "Score=4711"] + push,
            ["save", "attribute", "jane", "level=4712"] + push,
            ["save", "user-attribute", "jane", "first_name", "J47"] + push,
            ["change-user", "bob", "--device", "phone-1"], ["launch", "phone-1"],
            ["save", "event", "bob", "Viewed Session Progress"] + push,
        ]
        for step in steps {
            let outcome = try cli.run(step)
            #expect(outcome.status == 0, "\(step): \(outcome.errors)")
        }
        return cli
    }

    @Test("A table of faults, of items and of totals, without a value")
    func table() throws {
        let cli = try history()
        let output = try cli.succeed("whatif").output
        for text in [
            "no user is stored", "wrong user 2", "mistyped 1", "bob", "1 item waits", "3 not as saved (of 1 user)",
        ] {
            #expect(output.contains(text), "\(text)")
        }
        #expect(!output.contains("471") && !output.contains("J47"))
        #expect(try cli.succeed("whatif", "--user", "bob").output.contains("Nothing differs"))
        #expect(try cli.succeed("whatif", "--until", "2020-01-01T00:00:00Z").output.hasPrefix("Nothing was saved."))
    }

    @Test("JSON: a line for each fault and item, the totals last")
    func json() throws {
        let cli = try history()
        let lines = try cli.succeed("whatif", "--fault", "7,12", "--items", "1", "--format", "json").lines
        #expect(lines.count == 4)
        #expect(lines[0].contains(#""effects":{"wrong_user":2},"fault":7,"items":2"#))
        #expect(lines[1].contains(#""fault":12"#))
        #expect(lines[2].contains(#""names":["first_name"]"#) || lines[2].contains("Completed Match Game"))
        #expect(lines[3].contains(#""affected":3,"affected_users":1,"delivered_right":0,"devices":1"#))
        #expect(lines[3].contains(#""switched_on":[7,12]"#))
    }

    @Test("For CI a difference is exit status 1")
    func exitStatus() throws {
        let cli = try history()
        #expect(try cli.run("whatif", "--fail-on-difference").status == 1)
        #expect(try cli.run("whatif", "--fail-on-difference", "--fault", "24", "--user", "bob").status == 0)
        #expect(try cli.run("whatif", "--fail-on-difference", "--policy", "standard").status == 0)
    }

    @Test(
        "What cannot be asked is refused with the reason",
        arguments: [
            (["--fault", "17"], "--fault cannot be 17: the placeholder does not compile"),
            (["--fault", "48"], "1 to 47"),
            (["--policy", "best"], "--policy must be"), (["--language", "app=java"], "--language must be"),
            (["--sdk", "new"], "--sdk must be"), (["--crash-every", "0"], "--crash-every must be"),
            (["--since", "soon"], "--since must be"), (["--device", "nowhere"], "Nothing is known of this device"),
            (["--policy", "standard", "--fault", "7"], "--fault needs"),
        ] as [([String], String)])
    func refused(arguments: [String], message: String) throws {
        let outcome = try history().run(["whatif"] + arguments)
        #expect(outcome.status == 1 && outcome.output.isEmpty)
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
    }

    @Test("The service answers as the store does")
    func remote() throws {
        let cli = try history()
        let service = try RemoteTests.Service(cli)
        let questions = [
            [], ["--fault", "all", "--language", "PushContent=objc", "--language", "app=swift"], ["--user", "jane"],
            ["--fault", "17"], ["--since", "5", "--until", "7"],
            ["--blocklist", "level", "--stray", "a b", "--fault", "27,36"],
        ]
        for question in questions {
            for format in ["table", "json"] {
                let arguments = ["whatif", "--fail-on-difference", "--format", format] + question
                let remote = try cli.run(
                    arguments, environment: ["PROFILELOG_URL": service.url, "PROFILELOG_STORE": ""])
                let local = try cli.run(arguments)
                #expect(remote.output == local.output && remote.errors == local.errors, "\(question)")
                #expect(remote.status == local.status, "\(question)")
            }
        }
        #expect(service.end() == 0)
    }
}
