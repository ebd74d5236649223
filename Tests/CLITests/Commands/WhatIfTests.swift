import Foundation
import Testing

@Suite("profilecli whatif")
struct WhatIfTests {
    /// Jane plays and gets a level, hands the phone to Bob who launches the app; what Bob saves waits.
    private func history() throws -> CLI {
        let push = ["--process", "PushContent", "--device", "phone-1"]
        return try CLI(after: [
            ["save", "event", "jane", "Completed Match Game", "-p", "Score=4711"] + push,
            ["save", "attribute", "jane", "level=4712"] + push,
            ["save", "user-attribute", "jane", "first_name", "J47"] + push,
            ["change-user", "bob", "--device", "phone-1"], ["launch", "phone-1"],
            ["save", "event", "bob", "Viewed Session Progress"] + push,
        ])
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
        #expect(lines[2].contains("Completed Match Game"), "items come by position")
        #expect(lines[2].contains(#""delivered_at":"2"#) && lines[2].contains(#""saved_at":"2"#))
        #expect(lines[3].contains(#""affected":3,"affected_users":1,"delivered_right":0,"devices":1"#))
        #expect(lines[3].contains(#""switched_on":[7,12]"#))
    }

    @Test("The quirks of the tag manager that would have changed something, with the verdict on each")
    func quirks() throws {
        let cli = try history()
        try cli.succeed("log", "attribute", "jane", "level=7", "--device", "phone-1")
        let output = try cli.succeed("whatif").output
        #expect(output.contains("\nboxed-numbers (swift) changes 1: A number object casts to Double first"))
        #expect(!output.contains("objects-dropped"))
        #expect(try !cli.succeed("whatif", "--fault", "7").output.contains("boxed-numbers"))
        let swift = try cli.succeed("whatif", "--policy", "standard", "--quirk", "swift").output
        #expect(swift.contains("objects-dropped (swift, objective-c) changes 0: ") && !swift.contains("text-logged"))
        let json = try cli.succeed("whatif", "--quirk", "boxed-numbers", "--format", "json").lines.last ?? ""
        let object = #""tag_manager":{"calls":1,"quirks":[{"changed":1,"languages":["swift"],"quirk":"boxed-numbers","#
        #expect(json.contains(object), "\(json)")
        let wrong = try cli.run("whatif", "--quirk", "boxed-number")
        #expect(wrong.status == 64 && wrong.errors.contains("Did you mean `boxed-numbers`?"), "\(wrong.errors)")
    }

    @Test("For CI a difference is exit status 2")
    func exitStatus() throws {
        let cli = try history()
        #expect(try cli.run("whatif", "--fail-on-difference").status == 2)
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
            (["--since", "soon"], "--since must be"),
            (["--since", "9", "--until", "3"], "--since must not be after the end"),
            (["--since", "2026-02-01", "--until", "2026-01-01"], "--since must not be after the end"),
            (["--policy", "standard", "--fault", "7"], "--fault needs"),
        ] as [([String], String)])
    func refused(arguments: [String], message: String) throws {
        let outcome = try history().run(["whatif"] + arguments)
        #expect(outcome.status == 64 && outcome.output.isEmpty)
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
    }

    @Test("Unknown users and devices exit with 1")
    func unknown() throws {
        let cli = try history()
        for question in [["--device", "nowhere"], ["--user", "nobody"]] {
            #expect(try cli.run(["whatif"] + question).status == 1)
        }
    }

    @Test(
        "What changes nothing is said, and is no failure",
        arguments: [
            (
                ["--stray", "PushContnt", "--fault", "36"],
                "--stray names PushContnt, which saved nothing; these did: PushContent."
            ),
            (["--language", "Widget=objc"], "--language names Widget"),
            (["--blocklist", "nothing"], "--blocklist names nothing, which no saved event or attribute has."),
            (["--flush-ms", "5"], "--flush-ms changes nothing: no fault that reads it (22, 23) is switched on."),
            (["--policy", "standard", "--sdk", "17.0.0"], "--sdk changes nothing"),
            (
                ["--fault", "all"],
                "--fault 1 cannot show: no process that saved is in Objective-C; not all can show together: ask for it "
                    + "apart."
            ),
            (
                ["--fault", "all", "--language", "swift"],
                "--fault 1 cannot show: no process that saved is in Objective-C; name another language."
            ),
            (
                ["--fault", "1,13"],
                "--fault 1 cannot show: no process that saved is in Objective-C; name another language."
            ),
            (["--fault", "newest", "--fault", "20"], "--fault 20 cannot show: the app is in Swift"),
            (["--fault", "15", "--language", "swift"], "--fault 15 cannot show: all are in Swift"),
            (["--fault", "18,19", "--language", "objc"], "--fault 19 cannot show: the app is in Objective-C"),
            (
                ["--fault", "13", "--language", "PushContent=objc"],
                "--fault 13 cannot show: no process that saved is in Swift"
            ),
        ] as [([String], String)])
    func warned(arguments: [String], message: String) throws {
        let outcome = try history().run(["whatif"] + arguments)
        #expect(
            outcome.status == 0 && outcome.errors.hasPrefix("Warning: ") && outcome.errors.contains(message),
            "\(outcome.errors)")
    }

    @Test(
        "What changes something is not said",
        arguments: [
            ["--fault", "22", "--flush-ms", "5", "--blocklist", "level", "--fault", "27"], ["--fault", "1,16"],
            ["--fault", "15"], ["--fault", "20"], ["--language", "objc"],
        ])
    func changing(arguments: [String]) throws {
        #expect(try history().run(["whatif"] + arguments).errors.isEmpty)
    }

    @Test("What a user saved before a merging log-in is counted and shown as theirs")
    func merged() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "jane", "hello")
        try cli.succeed("save", "attribute", "device:phone", "level=7", "--process", "Push")
        try cli.succeed("change-user", "jane")
        try cli.succeed("launch")
        let output = try cli.succeed("whatif", "--user", "jane").output
        #expect(output.contains("1 item of 1 user") && output.contains("misdated 1"), "\(output)")
        #expect(!output.contains("WENT TO") && !output.contains("device:phone"), "\(output)")
        #expect(try cli.run("whatif", "--user", "jane", "--fail-on-difference").status == 2)
    }

    @Test("An erasure changes no verdict about others, and what it hides is said")
    func erased() throws {
        let cli = try CLI()
        try cli.succeed("save", "event", "bob", "a", "--device", "tab", "--process", "Push")
        try cli.succeed("log", "event", "ana", "x")
        try cli.succeed("change-user", "ana", "--device", "tab")
        try cli.succeed("launch", "tab")
        #expect(try cli.run("whatif", "--fault", "7", "--fail-on-difference").status == 2)
        try cli.succeed("erase", "ana", "--reason", "asked", "--yes")
        let outcome = try cli.run("whatif", "--fault", "7", "--fail-on-difference")
        #expect(outcome.status == 2 && outcome.output.contains("wrong user 1"), "\(outcome.output)")
        let guessed = "launches of erased persons (1): each is played as a cold one of all lists"
        #expect(outcome.errors == "Warning: The history lacks the kind and the lists of \(guessed).\n")
        // The device of a launch that flushed nothing of other users is not known.
        try cli.succeed("log", "event", "cy", "x")
        try cli.succeed("change-user", "cy", "--device", "tab")
        try cli.succeed("launch", "tab")
        try cli.succeed("erase", "cy", "--reason", "asked", "--yes")
        let errors = try cli.succeed("whatif").errors
        #expect(
            errors.contains("Warning: The history lacks launches, settings or discards of erased persons (1)"),
            "\(errors)")
    }

    @Test("What the log's launch flushed, the newest SDK of a what-if accepts")
    func nestedText() throws {
        let cli = try CLI()
        let long = String(repeating: "x", count: 300)
        let refused = try cli.run("save", "event", "jane", "e", "-p", #"o={"k":"\#(long)"}"#)
        #expect(refused.status != 0 && refused.errors.contains("must not hold text of more than 255 characters"))
        try cli.succeed("save", "event", "jane", "e", "-p", #"o={"k":"short"}"#)
        try cli.succeed("launch")
        #expect(try cli.succeed("whatif", "--fault", "27").output.contains("Nothing differs"))
    }

    @Test(
        "What the log's launch rejected is lost with fault 27 and no difference without it; its repair is the same item"
    )
    func rejected() throws {
        let cli = try CLI()
        let place = #""device":"d","storage":"group.app","process":"Push""#
        let file = try cli.write(
            """
            {"kind":"userAttributeSaved","user":"ana",\(place),"attribute":"email","value":"no address"}
            {"kind":"customEventSaved","user":"ana",\(place),"name":"$bad"}
            {"kind":"customAttributesSaved","user":"ana",\(place),"attributes":{"$x":1,"y":"z"}}
            """, as: "items.jsonl")
        try cli.succeed("import", file)
        try cli.succeed("launch", "d")
        let lost = try cli.succeed("whatif", "--fault", "27", "--format", "json").output
        #expect(lost.contains(#""effects":{"lost":2,"partly_lost":1},"fault":27,"items":3"#), "\(lost)")
        let email = try #require(
            try cli.succeed("rejected", "--format", "json").lines.first { $0.contains("email") }?
                .firstMatch(of: /"position":([0-9]+)/)?.1)
        try cli.succeed("pending", "retry", String(email), "email", "ana@example.org")
        try cli.succeed("launch", "d")
        #expect(try cli.succeed("whatif", "--fault", "27", "--format", "json").output.contains(#""items":3,"#))
        let equal = try cli.succeed("whatif", "--policy", "standard").output
        #expect(
            equal.hasPrefix(
                "Nothing differs: 3 items of 1 user on 1 device: 0 delivered right, 0 items wait, 3 rejected"),
            "\(equal)")
    }

    @Test("What is where the app never looks is stranded, and a check in CI says so")
    func stranded() throws {
        let cli = try CLI()
        try cli.succeed("log", "event", "ana", "a")
        try cli.succeed("device", "settings", "d", "--without-app-group", "Push:group.app")
        try cli.succeed("save", "event", "ana", "a", "--device", "d", "--process", "Push")
        try cli.succeed("launch", "d")
        let outcome = try cli.run("whatif", "--fail-on-difference")
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("0 items wait, 1 stranded"), "\(outcome.output)")
        #expect(outcome.errors.contains("Warning: 1 item is where the app never looks"), "\(outcome.errors)")
        #expect(try cli.succeed("whatif", "--format", "json").output.contains(#""stranded":1"#))
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
                    arguments, environment: service.environment)
                let local = try cli.run(arguments)
                #expect(remote.output == local.output && remote.errors == local.errors, "\(question)")
                #expect(remote.status == local.status, "\(question)")
            }
        }
        #expect(service.end() == 0)
    }
}
