import Foundation
import ProfileLog
import TestSupport
import Testing

@Suite("profilecli scenario")
struct ScenarioTests {
    private let cli: CLI

    init() throws { cli = try CLI() }

    private static let docs = Repository.file("docs")

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: docs.appending(path: path), encoding: .utf8)
    }

    /// The scenario files of docs/scenarios.
    private static let shipped: [String] = ["scenarios", "scenarios/faults"].flatMap { folder in
        let names = (try? FileManager.default.contentsOfDirectory(atPath: docs.appending(path: folder).path)) ?? []
        return names.filter { $0.hasSuffix(".yaml") }.sorted().map { docs.appending(path: "\(folder)/\($0)").path }
    }

    /// The objects that a run prints, without what differs from run to run.
    private static func report(_ outcome: CLI.Outcome) throws -> [AttributeValue] {
        try outcome.lines.map { line in
            guard case .object(let members) = try JSON.parse(Array(line.utf8)) else { return .null }
            return .object(members.filter { $0.key != "seconds" })
        }
    }

    /// Reads the fields of steps from the table, by the schema: each step with its description and its fields.
    private func steps() throws -> [(name: String, description: String, fields: [String])] {
        let schema = try JSON.parse(Array(cli.succeed("scenario", "schema").output.utf8))
        guard case .object(let definitions)? = schema["definitions"] else { return [] }
        return definitions.map { definition in
            var (description, fields) = ("", [String]())
            if case .string(let text)? = definition.value["description"] { description = text }
            if case .array(let forms)? = definition.value["anyOf"], case .object(let known)? = forms[0]["properties"] {
                fields = known.map(\.key.text)
            }
            return (definition.key.text, description, fields)
        }
    }

    // MARK: - What is shipped

    @Test("All shipped scenarios pass, with the same report in process, on a store and on a service")
    func allShipped() throws {
        #expect(Self.shipped.count >= 60)
        let run = ["scenario", "run", "--format", "json"] + Self.shipped
        let outcome = try cli.run(run)
        #expect(outcome.status == 0, "\(outcome.output) \(outcome.errors)")
        let report = try Self.report(outcome)
        #expect(report.count == Self.shipped.count)
        let workspace = Self.docs.appending(path: "scenarios/workspaces/course.yaml").path
        let service = try RemoteTests.Service(cli, "--ephemeral", "--workspace", workspace)
        #expect(try Self.report(try cli.run(run + ["--url", service.url])) == report)
        for (file, expected) in zip(Self.shipped, report).prefix(6) {
            let store = cli.folder.appending(path: UUID().uuidString).path
            let kept = try cli.run(["scenario", "run", "--format", "json", file, "--store", store])
            #expect(try Self.report(kept) == [expected])
            #expect(try cli.run("check", "--store", store).status == 0)
        }
    }

    @Test("Each fault that whatif can show has a scenario")
    func faults() {
        let numbers = Self.shipped.filter { $0.contains("/faults/") }.compactMap { path in
            Int(URL(filePath: path).lastPathComponent.prefix(2))
        }
        #expect(numbers == Fault.allCases.map(\.number))
    }

    @Test("Every scenario in docs/scenarios.md and docs/push.md passes")
    func examples() throws {
        let blocks = try (Self.text("scenarios.md") + Self.text("push.md")).components(separatedBy: "```yaml\n")
            .dropFirst()
            .map { $0.components(separatedBy: "\n```")[0] }.filter { $0.hasPrefix("name: ") }
        #expect(blocks.count >= 10)
        _ = try cli.write(try Self.text("scenarios/containers/songs.yaml"), as: "songs.yaml")
        let files = try blocks.enumerated().map { try cli.write($1, as: "example-\($0).yaml") }
        let outcome = try cli.run(["scenario", "run"] + files)
        #expect(outcome.status == 0, "\(outcome.output) \(outcome.errors)")
    }

    @Test("docs/scenarios.md has every step's example and every field")
    func documented() throws {
        let (docs, steps) = (try Self.text("scenarios.md"), try steps())
        #expect(steps.count >= 24)
        for step in steps {
            let example = step.description.components(separatedBy: "\n\n").last ?? ""
            #expect(docs.contains("  \(example)\n"), "\(example)")
            for name in [step.name] + step.fields { #expect(docs.contains("`\(name)`"), "\(step.name): \(name)") }
        }
    }

    @Test("docs/scenario.schema.json is what the table of steps gives")
    func schema() throws {
        #expect(try cli.succeed("scenario", "schema").output == Self.text("scenario.schema.json"))
    }

    @Test("The new example passes, and a file that is there stays as it is")
    func new() throws {
        try cli.succeed("scenario", "new")
        #expect(try cli.succeed("scenario", "run", "scenario.yaml").output.hasPrefix("✓ A match game in a push ("))
        let before = try Data(contentsOf: cli.folder.appending(path: "scenario.yaml"))
        #expect(try cli.run("scenario", "new").status == 1)
        #expect(try cli.shell("umask 022; \"$0\" scenario new b.yaml; stat -c %a b.yaml").output == "644\n")
        #expect(try Data(contentsOf: cli.folder.appending(path: "scenario.yaml")) == before)
    }

    @Test("The real-time path and the deferred one are compared by the time that each took")
    func realTime() throws {
        let file = Self.docs.appending(path: "scenarios/push-real-time.yaml").path
        try cli.succeed("scenario", "run", file, "--store", cli.store)
        let compare = ["push", "compare", "jane", "Viewed Session Progress", "--store", cli.store]
        let rows = try cli.run(compare).output.split(separator: "\n").dropFirst()
            .map { $0.split(separator: " ", omittingEmptySubsequences: true) }
        #expect(rows.map(\.first) == ["deferred", "real-time"])
        let json = try cli.run(compare + ["--format", "json"]).lines.map { try JSON.parse(Array($0.utf8)) }
        #expect(json.map { $0["took_s"] } == [.double(172_801), .double(1)])
    }

    @Test("A wrong workspace is an error of the scenario's line, and a service's own one counts")
    func workspace() throws {
        _ = try cli.write("campaigns:\n  - {id: a, nme: A}\n", as: "bad.yaml")
        _ = try cli.write("name: x\nworkspace: bad.yaml\nsteps: [launch]\n", as: "file.yaml")
        let file = try cli.run("scenario", "check", "file.yaml")
        #expect(file.status == 64)
        #expect(file.errors.contains("file.yaml:2:") && file.errors.contains("bad.yaml:2:"), "\(file.errors)")
        _ = try cli.write("workspace:\n  campagns: []\nsteps: [launch]\n", as: "inline.yaml")
        let inline = try cli.run("scenario", "check", "inline.yaml")
        #expect(inline.status == 64 && inline.errors.contains("campaigns"), "\(inline.errors)")
        _ = try cli.write("workspace: {segments: []}\nsteps: [launch]\n", as: "good.yaml")
        let service = try RemoteTests.Service(cli, "--ephemeral")
        let played = try cli.run("scenario", "run", "good.yaml", "--url", service.url)
        #expect(played.status == 0)
        #expect(played.errors.contains("the workspace of the service"), "\(played.errors)")
    }

    // MARK: - Failures

    private static let failing = """
        name: Jane & <Bob>
        steps:
          - log-event: {user: jane, name: played song}
          - log-attributes: {user: jane, attributes: {level: 7, tags: [a, b]}}
          - expect-profile:
              user: jane
              custom_attributes:
                level: 7.0
                tags: [a]
                plan: free
              custom_events: {$contains: [{name: paused song}]}
          - log-event: {user: jane, name: never}

        """

    @Test("A failed expectation shows what differs, with the lines of the file, and the run goes on")
    func failedExpectation() throws {
        let file = try cli.write(Self.failing, as: "failing.yaml")
        _ = try cli.write("steps: [launch]", as: "other.yaml")
        let outcome = try cli.run(["scenario", "run", "failing.yaml", "other.yaml", "--report", "junit.xml"])
        #expect(outcome.status == 1)
        let lines = outcome.output.split(separator: "\n").map { $0.replacing(/\([0-9]+ m?s\)/, with: "(…)") }
        #expect(
            lines == [
                "✗ Jane & <Bob> (…)", "  failing.yaml:5: `expect-profile` differs in 4 places.",
                "  LINE  WHERE                      EXPECTED                ACTUAL",
                "     8  custom_attributes.level    7.0                     7",
                "     9  custom_attributes.tags[1]  (none)                  b",
                "    10  custom_attributes.plan     free                    (none)",
                "    11  custom_events              {\"name\":\"paused song\"}  none of 1 element",
                "✓ other (…)", "2 scenarios: 1 passed, 1 failed (…).",
            ], "\(outcome.output)")
        let report = try String(contentsOf: cli.folder.appending(path: "junit.xml"), encoding: .utf8)
        #expect(report.contains("tests=\"2\" failures=\"1\"") && report.contains("name=\"Jane &amp; &lt;Bob&gt;\""))
        #expect(report.contains("line 8, custom_attributes.level: expected 7.0, actual 7"))
        let json = try Self.report(try cli.run("scenario", "run", file, "--format", "json"))
        #expect(json.count == 1 && json[0]["passed"] == .bool(false) && json[0]["line"] == .int(5))
    }

    @Test("A send to a user who is not there is done, and the report says so at its line")
    func unknownRecipient() throws {
        let yaml = """
            workspace:
              campaigns: [{id: news, name: News, messages: [{webhook: {url: "https://example.test/"}}]}]
            steps:
              - log-event: {user: jane, name: signed up}
              - request:
                  path: /campaigns/trigger/send
                  body:
                    campaign_id: news
                    recipients:
                      - {external_user_id: jane}
                      - {external_user_id: "ja<ne"}
                      - {external_user_id: odd, send_to_existing_only: false, attributes: {email: "no"}}
                  status: 201
              - request:
                  path: /campaigns/trigger/send
                  body: {campaign_id: news, recipients: [{external_user_id: joe}]}
                  answer: {dropped: [{reason: unknown user}]}
            """
        _ = try cli.write(yaml, as: "a.yaml")
        let outcome = try cli.run("scenario", "run", "a.yaml", "--report", "junit.xml")
        #expect(outcome.status == 0 && outcome.lines.count == 3, "\(outcome.output)")
        let lines = ["a.yaml:5: no such user: ja<ne", "a.yaml:5: no such user: odd"]
        #expect(outcome.lines.suffix(2) == lines.map { "  " + $0 }, "\(outcome.output)")
        let report = try String(contentsOf: cli.folder.appending(path: "junit.xml"), encoding: .utf8)
        let escaped = lines.joined(separator: "&#10;").replacing("<", with: "&lt;")
        #expect(report.contains("<system-out>\(escaped)</system-out>\n    </testcase>"), "\(report)")
        let json = try Self.report(try cli.run("scenario", "run", "a.yaml", "--format", "json"))
        #expect(
            json.map { $0["warnings"]?.json } == [
                #"[{"line":5,"message":"no such user: ja<ne"},{"line":5,"message":"no such user: odd"}]"#
            ])
    }

    @Test(
        "A step that is refused, or is not, fails its scenario",
        arguments: [
            ("leave", "`leave` was refused: "),
            ("expect-profile: {user: nobody}", "`expect-profile` was refused: "),
            ("launch: {refused: invalid}", "`launch` expects the refusal invalid, and it was done (status 200)"),
            ("request: {path: /nowhere, status: 200}", "`request` expects status 200, and it was refused: "),
            ("wait: 3000000d", "`wait` failed: "),
        ])
    func refusal(step: String, message: String) throws {
        let file = try cli.write("steps:\n  - \(step)\n", as: "a.yaml")
        let outcome = try cli.run("scenario", "run", file)
        #expect(outcome.status == 1 && outcome.output.contains("a.yaml:2: \(message)"), "\(outcome.output)")
    }

    /// Wrong files: the place of the error, and its sentence.
    static let wrong: [(yaml: String, spot: String, words: String)] = [
        ("", "1:1", "the file is empty"), ("- a", "1:1", "must be a mapping"), ("steps: []", "1:8", "has no step"),
        ("name: x", "1:1", "has no `steps`"), ("setps: []", "1:1", "Did you mean `steps`?"),
        ("steps:\n  - lanch\n", "2:5", "Did you mean `launch`?"),
        ("steps:\n  - change_user: jane", "2:5", "Did you mean `change-user`?"),
        ("steps:\n  - save-event:\n      nmae: x", "3:7", "Did you mean `name`?"),
        ("steps:\n  - save-event:\n    name: x", "2:5", "has the keys save-event, name"),
        ("steps:\n  - save-event: {properties: {}}", "2:17", "has no `name`"),
        ("steps:\n  - save-event", "2:5", "has no `name`"),
        ("steps:\n  - launch: cld", "2:13", "Did you mean `cold`?"),
        ("steps:\n  - wait: 2 weeks", "2:11", "must be a span of time"),
        ("steps:\n  - settings: {session_timeout: 0}", "2:33", "1 s or more"),
        ("steps:\n  - settings: {online: maybe}", "2:24", "must be true or false"),
        ("steps:\n  - settings: phone", "2:15", "must be a mapping"),
        ("steps:\n  - settings: {messages: 5}", "2:26", "must be a mapping"),
        ("steps:\n  - settings: {messages: {minimum_intervl: 5}}", "2:27", "Did you mean `minimum_interval`?"),
        ("steps:\n  - settings:\n      messages:\n        minimum_interval: 2 weeks", "4:9", "must be a span of time"),
        (
            "steps:\n  - settings: {messages: {display_choices: {a.b: shwo}}}", "2:45", "Did you mean `show`?"
        ),
        (
            "workspace:\n  messages:\n    - id: a\n      trigger_conditions: [{type: opne}]\nsteps: [launch]",
            "4:29", "Did you mean `open`?"
        ),
        ("steps:\n  - log-purchase: {product: a, currency: EUR, price: x}", "2:54", "must be a number"),
        ("steps:\n  - tag: {event: a, container: none.yaml}", "2:32", "names a wrong file: The file "),
        ("steps:\n  - tag: {event: a, container: 7.5}", "2:32", "names a wrong file: "),
        ("steps:\n  - tag: {event: a}", "2:10", "has no `container`"),
        ("steps:\n  - tag:\n      event: a\n      container: {tgas: []}", "4:19", "Did you mean `tags`?"),
        ("start: soon\nsteps: [launch]", "1:8", "must be a time"),
        ("steps: [launch, launch", "2:1", "is no YAML"), ("steps: [launch]\nsteps: []", "1:1", "is given twice"),
        ("steps: !include a.yaml", "1:8", "has a tag"),
        ("steps: &a [launch, *a]", "1:8", "has an anchor"),
        ("steps:\n  - save-event: {name: x, properties: {a: &a [1], b: [*a, *a]}}", "2:43", "has an anchor"),
        ("steps:\n  - request: {path: users/track}", "2:21", "must be a path as in a URL"),
        ("steps:\n  - request: {path: /v1/jane doe}", "2:21", "a space is %20"),
        ("steps:\n  - request: {path: /v1/100%}", "2:21", "must be a path as in a URL"),
        ("steps:\n  - request: {path: '/v1/a#b'}", "2:21", "must be a path as in a URL"),
        ("steps:\n  - request: {path: '/v1/a?b=%FF'}", "2:21", "must be a path as in a URL"),
        ("steps: [launch]\n---\nsteps: [launch]", "2:1", "another document"),
    ]

    @Test("A wrong file is an error with its place and the nearest word, and nothing is played", arguments: wrong)
    func wrongFile(yaml: String, spot: String, words: String) throws {
        let file = try cli.write(yaml, as: "wrong.yaml")
        let right = try cli.write("steps: [launch]", as: "right.yaml")
        let outcome = try cli.run("scenario", "run", right, file)
        #expect(outcome.status == 64 && outcome.output.isEmpty)
        #expect(outcome.errors.contains("wrong.yaml:\(spot): "), "\(outcome.errors)")
        #expect(outcome.errors.contains(words), "\(outcome.errors)")
        #expect(try cli.run("scenario", "check", file).errors == outcome.errors)
    }

    @Test("Folders, missing files, large ones and deep ones are refused")
    func files() throws {
        _ = try cli.write(String(repeating: "#", count: 1 << 20 + 1), as: "large.yaml")
        _ = try cli.write("steps:\n" + String(repeating: "  - launch\n", count: 10_001), as: "long.yaml")
        _ = try cli.write("steps: " + String(repeating: "[", count: 100_000), as: "deep.yaml")
        for (file, words) in [
            (".", "is a folder"), ("none.yaml", "cannot be read"), ("large.yaml", "is larger than"),
            ("long.yaml", "long.yaml:10002:5: `steps[10000]` is one step too many"), ("deep.yaml", "is no YAML"),
        ] {
            let outcome = try cli.run("scenario", "run", file)
            #expect(outcome.status == 64 && outcome.errors.contains(words), "\(outcome.errors)")
        }
    }

    @Test("A scenario that cannot begin is a failure of its own in the report")
    func withoutWorld() throws {
        _ = try cli.write("no store", as: "file")
        for name in ["a.yaml", "b.yaml"] { _ = try cli.write("steps: [launch]", as: name) }
        let outcome = try cli.shell(
            "umask 022; \"$0\" scenario run a.yaml b.yaml --store file --report junit.xml; code=$?; "
                + "stat -c %a junit.xml; exit $code")
        #expect(outcome.status == 1 && outcome.lines.last == "644", "\(outcome)")
        #expect(outcome.output.contains("2 scenarios: 0 passed, 2 failed"), "\(outcome)")
        let report = try String(contentsOf: cli.folder.appending(path: "junit.xml"), encoding: .utf8)
        #expect(report.contains("tests=\"2\" failures=\"2\"") && report.contains("b.yaml:1: "), "\(report)")
    }

    @Test("A report that cannot be written is refused before anything is played")
    func wrongReport() throws {
        let file = try cli.write("steps: [launch]", as: "a.yaml")
        let outcome = try cli.run("scenario", "run", file, "--store", "kept", "--report", "missing/junit.xml")
        #expect(outcome.status == 1 && outcome.output.isEmpty && outcome.errors.contains("cannot be written"))
        #expect(!FileManager.default.fileExists(atPath: cli.folder.appending(path: "kept").path))
    }

    // MARK: - Places

    @Test("The environment names no service: what it has stays")
    func environment() throws {
        let service = try RemoteTests.Service(cli, "--ephemeral")
        try cli.succeed("log", "event", "bob", "a", "--url", service.url)
        let file = try cli.write("steps: [{log-event: {user: jane, name: a}}]", as: "a.yaml")
        #expect(try cli.run("scenario", "run", file, environment: ["PROFILELOG_URL": service.url]).status == 0)
        try cli.succeed("profile", "bob", "--url", service.url)
        #expect(try cli.run("profile", "jane", "--url", service.url).status == 1)
    }

    @Test("A service with fixtures is played without them: they are later than the scenario's clock")
    func fixtures() throws {
        try cli.succeed("generate", "--events", "5", "-o", "facts.jsonl")
        let facts = cli.folder.appending(path: "facts.jsonl").path
        let service = try RemoteTests.Service(cli, "--ephemeral", "--fixtures", facts)
        let file = try cli.write(
            "steps:\n  - log-event: {user: jane, name: a}\n  - request: {path: /v1/stats, answer: {events: 2}}",
            as: "a.yaml")
        let outcome = try cli.run("scenario", "run", file, "--url", service.url)
        #expect(outcome.status == 0, "\(outcome.output)")
    }

    @Test("A path may have a query, which a store and a service read alike")
    func query() throws {
        let service = try RemoteTests.Service(cli, "--ephemeral")
        let file = try cli.write(
            """
            steps:
              - log-event: {user: jane doe & co, name: a}
              - request: {path: '/v1/profile?user=jane%20doe+%26%20co', answer: {version: 2}}
              - request: {path: '/v1/history?user=jane%20doe+%26%20co', query: {limit: 1}, answer: {version: 2}}
              - request: {path: /v1/devices/a%2Fb, status: 404}
            """, as: "a.yaml")
        for place in [[], ["--url", service.url]] {
            let outcome = try cli.run(["scenario", "run", file] + place)
            #expect(outcome.status == 0, "\(outcome.output)")
        }
    }

    @Test("A service that keeps its store plays a scenario without a clock, and refuses one that needs it")
    func keptService() throws {
        let service = try RemoteTests.Service(cli)
        let free = try cli.write("steps: [{log-event: {user: jane, name: a}}]", as: "free.yaml")
        let bound = try cli.write("steps:\n  - log-event: {user: bob, name: a}\n  - wait: 1h\n", as: "bound.yaml")
        try cli.succeed("scenario", "run", free, "--url", service.url)
        let outcome = try cli.run("scenario", "run", free, bound, "--url", service.url)
        #expect(outcome.status == 64 && outcome.errors.contains("bound.yaml:3: `wait` needs a clock"))
        #expect(try cli.run("profile", "bob", "--url", service.url).status == 1)
        #expect(try cli.succeed("profile", "jane", "--url", service.url).output.contains("a"))
    }

    @Test("On one store scenarios play after each other, and its clock goes on")
    func store() throws {
        let file = try cli.write(
            "steps:\n  - log-event: {user: jane, name: a}\n  - wait: 1h\n  - launch\n", as: "a.yaml")
        for count in 1...2 {
            try cli.succeed("scenario", "run", file, "--store", "kept")
            let profile = try cli.succeed("profile", "jane", "--store", "kept", "--format", "json").output
            #expect(profile.contains("\"count\":\(count)"))
            #expect(profile.contains(count == 1 ? "2026-01-05T09:00:00" : "2026-01-05T10:00:00"))
        }
    }

    @Test("Watching plays again after a change; Ctrl-C ends it and leaves nothing")
    func watch() throws {
        _ = try cli.write("name: first\nsteps: [launch]\n", as: "a.yaml")
        let script = """
            seen() { for turn in {1..600}; do grep -q "$1" seen && return; sleep 0.05; done; }
            mkdir tmp; TMPDIR="$PWD/tmp" "$0" scenario run a.yaml --watch > seen 2>&1 & program=$!
            seen first; printf 'steps: [lunch]' > a.yaml; seen 'Did you mean'
            printf 'name: third\\nsteps: [launch]\\n' > a.yaml; seen third
            kill -INT $program; wait $program; status=$?; cat seen; ls tmp; exit $status
            """
        let outcome = try cli.run(["-c", script, CLI.program.path], command: URL(filePath: "/bin/bash"))
        #expect(outcome.status == 130, "\(outcome.output)")
        let lines = outcome.lines.map { $0.replacing(/\ \([0-9]+ m?s\)/, with: "") }
        #expect(
            lines == [
                "✓ first", "Waiting for a change; Ctrl-C ends it.", "Error: a.yaml:1:9: `steps[0]` is no step.",
                "Did you mean `launch`?", "Waiting for a change; Ctrl-C ends it.", "✓ third",
                "Waiting for a change; Ctrl-C ends it.",
            ], "\(outcome.output)")
    }
}
